import { Check as Tick, TriangleAlert, X } from "lucide-react";
import type { Connection, ExamReport } from "@/api/types";
import { useT } from "@/i18n";
import { Card, Facts, formatDuration, formatExact, formatNumber, formatTokens, GradeBadge } from "@/ui";
import { Checks } from "./Checks";
import { staleness, TASKS } from "./exam";

const ABILITIES = ["native_calls", "json_schema", "parallel_calls", "plans", "summarises", "system_role", "vision", "scoring", "reuses_cache"] as const;

/** What an exam found out about a model, for a person. */
export function ReportCard({ report, connection }: { report: ExamReport; connection: Connection }) {
  const t = useT("connections");
  const m = useT("models");
  const { capabilities } = report;
  const stale = staleness(report, connection);
  const can: Record<(typeof ABILITIES)[number], boolean> = {
    native_calls: capabilities.strategy === "native", json_schema: report.constrained.length > 0 || capabilities.json_schema, parallel_calls: capabilities.parallel_calls ?? false, plans: capabilities.plans,
    summarises: capabilities.summarises, system_role: capabilities.system_role ?? true, vision: capabilities.vision ?? false, scoring: capabilities.scoring, reuses_cache: report.reuses_cache,
  };
  const graded = TASKS.filter((task) => report.grades[task]);
  const speed = (rate: number) => t("per_second", { n: formatNumber(Math.round(rate * 10) / 10) });
  return (
    <div className="flex flex-col gap-5">
      {stale.length > 0 && (
        <div className="flex gap-2.5 rounded-lg border border-line bg-sunken px-4 py-2.5 text-base">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-2" />
          <ul>{stale.map((why) => <li key={why}>{t(`stale_${why}`)}</li>)}</ul>
        </div>
      )}
      <Card title={t("sec_grades")}>
        {graded.length === 0 ? <p className="text-base text-ink-3">{t("no_grades")}</p> : (
          <ul className="grid grid-cols-[repeat(auto-fill,minmax(13rem,1fr))] gap-x-5 gap-y-2.5">
            {graded.map((task) => {
              const grade = report.grades[task]!;
              return <li key={task} className="flex items-center gap-3"><GradeBadge large grade={grade} /><span className="min-w-0"><span className="block text-base font-medium">{m(`task_${task}`)}</span><span aria-hidden className="block text-xs text-ink-3">{m(`grade_${grade}`)}</span></span></li>;
            })}
          </ul>
        )}
      </Card>
      <div className="grid items-start gap-5 md:grid-cols-[5fr_6fr]">
        <Card title={t("sec_can")}>
          <ul className="flex flex-col gap-1.5 text-base">
            {ABILITIES.map((name) => (
              <li key={name} className="flex items-start gap-2">
                {can[name] ? <Tick aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" /> : <X aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />}
                <span className={can[name] ? "" : "text-ink-3"}><span className="sr-only">{can[name] ? t("can") : t("cannot")} </span>{t(`ability_${name}`)}</span>
              </li>
            ))}
          </ul>
        </Card>
        <Card title={t("sec_speed")}>
          <Facts
            items={[
              [t("fact_first"), formatDuration(report.first_token_ms)],
              [t("fact_writes"), speed(report.tokens_per_second)],
              ...(report.prompt_tokens_per_second > 0 ? [[t("fact_reads"), speed(report.prompt_tokens_per_second)] as [string, string]] : []),
              [t("cap_window"), t("window", { n: formatNumber(capabilities.window) })],
              ...(capabilities.num_ctx ? [[t("num_ctx"), formatNumber(capabilities.num_ctx)] as [string, string]] : []),
              ...(capabilities.prompt_tokens ? [[t("prompt_tokens"), formatNumber(capabilities.prompt_tokens)] as [string, string]] : []),
              [t("cap_strategy"), m(`strategy_${capabilities.strategy}`)],
              [t("cap_max_tools_label"), formatNumber(capabilities.max_tools)],
              ...(report.constrained.length > 0 ? [[t("fact_constrained"), report.constrained.map((way) => m(`constrained_${way}`)).join(", ")] as [string, string]] : []),
            ]}
          />
        </Card>
      </div>
      {report.notes.length > 0 && <Card title={t("sec_decided")}><ul className="flex list-disc flex-col gap-1.5 pl-5 text-base">{report.notes.map((note, index) => <li key={index} className="wrap-anywhere">{note}</li>)}</ul></Card>}
      <Card title={t("checks")}><Checks label={t("checks")} checks={report.checks} /></Card>
      <p className="text-sm text-ink-3 wrap-anywhere">{t("exam_footer", { when: formatExact(report.at), time: formatDuration(report.ms), tokens: formatTokens(report.tokens) })}{report.server && ` · ${report.server}`} · <span className="font-mono text-xs">{report.endpoint}</span></p>
    </div>
  );
}
