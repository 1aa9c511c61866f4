import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useStarter } from "@/api/hooks";
import type { RunDetail, StartedBy } from "@/api/types";
import { useT } from "@/i18n";
import { Card, CopyButton, Elapsed, Facts, formatDuration, formatExact, formatMoney, formatNumber } from "@/ui";
import { cachedShare, type Trace } from "../trace/nodes";
import { waitedMs } from "../trace/span";
import { Bar } from "./Fold";
import { OriginLabel, useWord } from "./Labels";

/** What a run is, and what it spent of what it may. */
export function Side({ run, trace }: { run: RunDetail; trace: Trace }) {
  const t = useT("runs");
  const word = useWord();
  const share = cachedShare(trace.usage);
  return (
    <aside className="flex min-w-0 flex-col gap-4 md:max-xl:grid md:max-xl:grid-cols-2">
      <Card title={t("budget")}><BudgetBars trace={trace} /></Card>
      <Card title={t("facts")}>
        <Facts
          className="text-sm"
          items={[
            [t("fact_agent"), run.agent_name ?? run.agent_id],
            [t("fact_model"), <code key="m" className="font-mono text-xs">{run.model}</code>],
            ...(trace.answered.size > 0 ? [[t("fact_answered"), <span key="a" className="wrap-anywhere">{[...trace.answered].map(([name, count]) => (trace.answered.size > 1 ? `${name} (${count})` : name)).join(", ")}</span>] as [string, ReactNode]] : []),
            [t("fact_origin"), <OriginLabel key="o" origin={run.origin} />],
            ...(trace.setup?.started_by ? [[t("fact_started_by"), <Starter key="s" by={trace.setup.started_by} />] as [string, ReactNode]] : []),
            [t("fact_mode"), word("mode_", run.mode)],
            [t("fact_asked"), run.asked_by],
            [t("fact_started"), formatExact(run.created_at)],
            [t("fact_worked"), formatDuration(trace.spent.wall_ms)],
            ...(trace.parked.length > 0 ? [[t("fact_waited"), <Waited key="w" trace={trace} />] as [string, ReactNode]] : []),
            ...(share === null ? [] : [[t("fact_cached"), `${Math.round(share * 100)} %`] as [string, string]]),
            [t("fact_events"), formatNumber(trace.lastSeq)],
            [t("fact_id"), <span key="i" className="flex items-center gap-1"><code className="min-w-0 truncate font-mono text-xs" title={run.id}>{run.id}</code><CopyButton text={run.id} /></span>],
          ]}
        />
      </Card>
    </aside>
  );
}

/** To what started it without a person; by its kind, until its name is known. */
function Starter({ by }: { by: StartedBy }) {
  const word = useWord();
  const { data } = useStarter(by);
  const name = data?.name ?? word("origin_", by.kind === "occurrence" ? "schedule" : "webhook");
  const look = "text-accent-ink underline underline-offset-2 wrap-anywhere";
  if (by.kind === "occurrence") return <Link to="/schedules/$scheduleId" params={{ scheduleId: by.schedule }} className={look}>{name}</Link>;
  return <Link to="/webhooks/$webhookId" params={{ webhookId: by.hook }} search={{ delivery: by.delivery }} className={look}>{name}</Link>;
}

/** Counts on while a person is waited for. */
function Waited({ trace }: { trace: Trace }) {
  const open = trace.parked.at(-1);
  if (!open || open.to !== null) return <>{formatDuration(waitedMs(trace, 0))}</>;
  return <Elapsed from={open.from - waitedMs({ ...trace, parked: trace.parked.slice(0, -1) }, 0)} />;
}

function BudgetBars({ trace }: { trace: Trace }) {
  const t = useT("runs");
  const { budget, spent } = trace;
  const rows = [
    { name: t("budget_model_calls"), used: spent.model_calls, of: budget?.model_calls, show: formatNumber },
    { name: t("budget_tool_calls"), used: spent.tool_calls, of: budget?.tool_calls, show: formatNumber },
    { name: t("budget_tokens"), used: spent.tokens, of: budget?.tokens, show: formatNumber },
    { name: t("budget_wall"), used: spent.wall_ms, of: budget?.wall_ms, show: formatDuration },
    { name: t("budget_cost"), used: spent.cost_micros, of: budget?.cost_micros, show: formatMoney },
  ];
  return (
    <ul className="flex flex-col gap-3">
      {rows.map((row) => {
        const share = row.of ? row.used / row.of : 0;
        return (
          <li key={row.name} className="flex flex-col gap-1">
            <p className="flex items-baseline justify-between gap-2 text-sm"><span>{row.name}</span><span className="text-xs text-ink-3 tabular">{row.of ? t("of", { used: row.show(row.used), allowed: row.show(row.of) }) : row.show(row.used)}</span></p>
            <Bar share={share} label={row.name} tone={share >= 1 ? "bad" : share > 0.8 ? "warn" : "accent"} />
          </li>
        );
      })}
      {trace.reserved > 0 && <li className="text-xs text-ink-3 tabular">{t("budget_reserved", { n: formatNumber(trace.reserved) })}</li>}
    </ul>
  );
}
