import { Link, useNavigate } from "@tanstack/react-router";
import { Activity, FlaskConical, SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { useAgents, useRuns } from "@/api/hooks";
import type { Origin, Run, RunStatus, Verdict } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ButtonLink, Checkbox, cx, EmptyState, Money, Page, PagedList, SearchInput, Select, StateBadge, stateOf, Table, Time, Tokens, VerdictBadge } from "@/ui";
import { useFilters, useTyped } from "./parts/filters";
import { OriginLabel } from "./parts/Labels";

const STATUS = ["running", "parked", "finished"] as const;
const OUTCOMES = ["completed", "failed", "stopped", "limited", "rejected"] as const;
const VERDICTS = ["verified", "unverified", "no-claims"] as const;
const ORIGINS = ["chat", "cli", "api", "schedule", "webhook", "delegation"] as const;
const NAMES = ["status", "outcome", "verdict", "origin", "agent_id", "q", "mine"] as const;

export function RunsPage() {
  const t = useT("runs");
  const navigate = useNavigate();
  const [filters, set] = useFilters(NAMES);
  const { status, outcome, verdict, origin, agent_id, q } = filters;
  const mine = filters.mine === "true";
  const list = useRuns({
    ...(status && { status: status as RunStatus }),
    ...(outcome && { outcome }),
    ...(verdict && { verdict: verdict as Verdict }),
    ...(origin && { origin: origin as Origin }),
    ...(agent_id && { agent_id }),
    ...(q && { q }),
    ...(mine && { mine }),
  });
  const filtered = NAMES.some((name) => filters[name] !== "");
  const open = (run: Run) => void navigate({ to: "/runs/$runId", params: { runId: run.id } });
  return (
    <Page title={t("title")} lead={t("subtitle")} actions={<ButtonLink to="/runs/$runId" params={{ runId: "kept" }} size="sm" icon={<FlaskConical aria-hidden className="size-3.5" />}>{t("kept_tests")}</ButtonLink>}>
      <Filters filters={filters} set={set} />
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <PagedList
          list={list}
          empty={
            filtered ? (
              <EmptyState icon={<SlidersHorizontal />} title={t("none_title")} action={<Button onClick={() => set(Object.fromEntries(NAMES.map((name) => [name, ""])))}>{t("clear_filters")}</Button>}>{t("none_text")}</EmptyState>
            ) : (
              <EmptyState icon={<Activity />} title={t("empty_title")} action={<ButtonLink to="/chat" variant="primary">{t("empty_action")}</ButtonLink>}>{t("empty_text")}</EmptyState>
            )
          }
        >
          <div className="max-md:hidden">
            <Table<Run>
              caption={t("title")}
              rows={list.items}
              rowKey={(run) => run.id}
              onRow={open}
              columns={[
                { key: "run", head: t("col_run"), className: "w-full max-w-0", cell: (run) => <RunName run={run} /> },
                { key: "state", head: t("col_state"), cell: (run) => <StateBadge state={stateOf(run)} /> },
                { key: "receipts", head: t("col_receipts"), className: "max-lg:hidden", cell: (run) => run.verdict && <VerdictBadge verdict={run.verdict} /> },
                { key: "origin", head: t("col_origin"), className: "max-lg:hidden", cell: (run) => <OriginLabel origin={run.origin} /> },
                { key: "tokens", head: t("col_tokens"), className: "text-right", cell: (run) => <Tokens count={run.tokens} /> },
                { key: "cost", head: t("col_cost"), className: "text-right max-xl:hidden", cell: (run) => (run.cost_micros > 0 ? <Money micros={run.cost_micros} /> : <span className="text-ink-3">–</span>) },
                { key: "when", head: t("col_when"), className: "text-right whitespace-nowrap", cell: (run) => <Time relative at={run.updated_at} className="text-sm text-ink-2" /> },
              ]}
            />
          </div>
          <ul className="divide-y divide-line md:hidden">
            {list.items.map((run) => (
              <li key={run.id}>
                <Link to="/runs/$runId" params={{ runId: run.id }} className="flex flex-col gap-1.5 px-4 py-3 active:bg-hover">
                  <span className="line-clamp-2 text-base font-medium wrap-anywhere">{run.title || t("untitled")}</span>
                  <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-3"><StateBadge state={stateOf(run)} />{run.verdict && run.verdict !== "no-claims" && <VerdictBadge verdict={run.verdict} />}<span className="min-w-0 truncate">{run.agent_name}</span><Time relative at={run.updated_at} className="ml-auto" /></span>
                </Link>
              </li>
            ))}
          </ul>
        </PagedList>
      </div>
    </Page>
  );
}

function RunName({ run }: { run: Run }) {
  const t = useT("runs");
  return (
    <div className="min-w-0">
      <Link to="/runs/$runId" params={{ runId: run.id }} onClick={(event) => event.stopPropagation()} className="block truncate font-medium hover:underline">{run.title || t("untitled")}</Link>
      <span className="block truncate text-sm text-ink-3">{[run.agent_name, run.model].filter(Boolean).join(" · ")}</span>
    </div>
  );
}

type FilterProps = { filters: Record<(typeof NAMES)[number], string>; set: (patch: Partial<Record<(typeof NAMES)[number], string>>) => void };

function Filters({ filters, set }: FilterProps) {
  const t = useT("runs");
  const agents = useAgents();
  const [q, setQ] = useTyped(filters.q, (value) => set({ q: value }));
  const [shown, setShown] = useState(false);
  const count = NAMES.filter((name) => name !== "q" && filters[name] !== "").length;
  const pick = (name: (typeof NAMES)[number], label: string, options: readonly (readonly [string, string])[]) => (
    <Select small aria-label={label} value={filters[name]} onChange={(event) => set({ [name]: event.target.value })} className={cx("max-md:w-full [&>select]:max-md:h-10", filters[name] !== "" && "[&>select]:border-accent [&>select]:text-accent-ink")}>
      <option value="">{label}: {t("any")}</option>
      {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
    </Select>
  );
  return (
    <div role="search" className="mb-4 flex flex-wrap items-center gap-2">
      <div className="flex w-full gap-2 md:w-44">
        <SearchInput className="min-w-0 flex-1" label={t("search")} value={q} onChange={setQ} />
        <Button className="md:hidden" aria-expanded={shown} icon={<SlidersHorizontal aria-hidden className="size-4" />} onClick={() => setShown(!shown)}>{count > 0 ? t("filters_count", { count }) : t("filters")}</Button>
      </div>
      <div className={cx("items-center gap-2 md:contents", shown ? "grid w-full grid-cols-2" : "hidden")}>
        {pick("status", t("filter_status"), STATUS.map((value) => [value, t(`status_${value}`)]))}
        {pick("outcome", t("filter_outcome"), OUTCOMES.map((value) => [value, t(`outcome_${value}`)]))}
        {pick("verdict", t("filter_verdict"), VERDICTS.map((value) => [value, t(`verdict_${value}`)]))}
        {pick("origin", t("filter_origin"), ORIGINS.map((value) => [value, t(`origin_${value}`)]))}
        {(agents.items.length > 1 || filters.agent_id !== "") && pick("agent_id", t("filter_agent"), agents.items.map((agent) => [agent.id, agent.name]))}
        <Checkbox className="px-1" checked={filters.mine === "true"} onChange={(mine) => set({ mine: mine ? "true" : "" })} label={t("mine")} />
        {count > 0 && <Button size="sm" variant="quiet" onClick={() => set({ status: "", outcome: "", verdict: "", origin: "", agent_id: "", mine: "" })}>{t("clear_filters")}</Button>}
      </div>
    </div>
  );
}
