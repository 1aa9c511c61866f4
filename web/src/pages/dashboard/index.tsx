import { Link } from "@tanstack/react-router";
import { LayoutDashboard } from "lucide-react";
import { useDashboard } from "@/api/hooks";
import type { Dashboard, DashboardPeriod, ModelGlance } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, ButtonLink, Card, cx, EmptyState, ErrorState, formatDuration, formatMoney, formatNumber, formatTokens, Page, Skeleton, Table, Time } from "@/ui";
import { useFilters } from "../runs/parts/filters";
import { failedShare } from "./parts/bars";
import { RunsChart } from "./parts/RunsChart";

const PERIODS: readonly DashboardPeriod[] = ["day", "week", "month"];

/** What happened lately: runs, what they cost, what failed, what waits. */
export default function DashboardPage() {
  const t = useT("dashboard");
  const [filters, set] = useFilters(["period"] as const);
  const period = PERIODS.find((name) => name === filters.period) ?? "day";
  const dashboard = useDashboard(period);
  return (
    <Page
      title={t("title")}
      actions={
        <div role="group" aria-label={t("period")} className="inline-flex rounded-md border border-line-2 p-0.5">
          {PERIODS.map((name) => (
            <button key={name} type="button" aria-pressed={period === name} onClick={() => set({ period: name === "day" ? "" : name })} className={cx("h-7 rounded-sm px-3 text-sm max-md:h-10", period === name ? "bg-active font-medium text-ink" : "text-ink-3 hover:text-ink")}>{t(`period_${name}`)}</button>
          ))}
        </div>
      }
    >
      {dashboard.error && !dashboard.data ? <ErrorState error={dashboard.error} onRetry={() => void dashboard.refetch()} /> : !dashboard.data ? <Skeleton rows={10} /> : <Shown dashboard={dashboard.data} stale={dashboard.isPlaceholderData} />}
    </Page>
  );
}

function Shown({ dashboard, stale }: { dashboard: Dashboard; stale: boolean }) {
  const t = useT("dashboard");
  const { totals } = dashboard;
  return (
    <div className={cx("flex flex-col gap-5 transition-opacity", stale && "opacity-60")} aria-busy={stale}>
      {!dashboard.everybody && <p className="text-sm text-ink-3">{t("own_only")}</p>}
      <Totals dashboard={dashboard} />
      <Card title={t("runs")} actions={<ButtonLink size="sm" variant="quiet" to="/runs">{t("all_runs")}</ButtonLink>}>
        {totals.started === 0 ? <EmptyState icon={<LayoutDashboard />} title={t("empty_title")} action={<ButtonLink to="/chat">{t("go_chat")}</ButtonLink>}>{t("empty_text")}</EmptyState> : <RunsChart dashboard={dashboard} />}
      </Card>
      <div className="grid gap-5 lg:grid-cols-2">
        <Card pad={false} title={t("failures")}>
          {dashboard.failures.length === 0 ? <p className="px-4 py-3 text-base text-ink-3">{t("no_failures")}</p> : (
            <ul className="divide-y divide-line">
              {dashboard.failures.map((run) => (
                <li key={run.run_id} className="px-4 py-2.5">
                  <p className="flex items-baseline gap-3"><Link to="/runs/$runId" params={{ runId: run.run_id }} className="min-w-0 flex-1 truncate text-base font-medium hover:underline">{run.title}</Link><Time at={run.at} className="text-xs text-ink-3" /></p>
                  <p className="text-sm text-ink-3 wrap-anywhere">{run.message}</p>
                </li>
              ))}
            </ul>
          )}
        </Card>
        <Card pad={false} title={t("models")} actions={<ButtonLink size="sm" variant="quiet" to="/connections">{t("all_models")}</ButtonLink>}>
          {dashboard.models.length === 0 ? <p className="px-4 py-3 text-base text-ink-3">{t("no_models")}</p> : <Models models={dashboard.models} />}
        </Card>
      </div>
    </div>
  );
}

function Totals({ dashboard: { totals, usage, approvals_waiting: waiting } }: { dashboard: Dashboard }) {
  const t = useT("dashboard");
  const share = failedShare(totals.completed, totals.failed);
  const items: { name: string; value: string; more?: string | undefined; to?: "/approvals" | "/usage" | "/runs"; tone?: string }[] = [
    { name: t("runs"), value: formatNumber(totals.started), more: t("runs_more", { running: totals.running, waiting: totals.waiting }), to: "/runs" },
    { name: t("failed"), value: formatNumber(totals.failed), more: share === null ? undefined : t("failed_share", { share }), ...(totals.failed > 0 && { tone: "text-bad" }) },
    { name: t("approvals"), value: formatNumber(waiting), more: waiting > 0 ? t("approvals_more") : undefined, to: "/approvals", ...(waiting > 0 && { tone: "text-warn" }) },
    { name: t("cost"), value: formatMoney(usage.cost_micros), more: t("cost_more", { tokens: formatTokens(usage.prompt_tokens + usage.completion_tokens), calls: formatNumber(usage.calls) }), to: "/usage" },
  ];
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      {items.map(({ name, value, more, to, tone }) => (
        <div key={name} className="flex flex-col rounded-lg border border-line bg-surface px-4 py-3">
          <dt className="text-sm text-ink-3">{to ? <Link to={to} className="hover:underline">{name}</Link> : name}</dt>
          <dd className={cx("text-xl font-semibold tabular", tone)}>{value}</dd>
          {more && <dd className="text-xs text-ink-3 tabular">{more}</dd>}
        </div>
      ))}
    </dl>
  );
}

function Models({ models }: { models: ModelGlance[] }) {
  const t = useT("dashboard");
  return (
    <Table<ModelGlance>
      caption={t("models")}
      rows={models}
      rowKey={(model) => model.connection}
      columns={[
        { key: "name", head: t("model"), className: "w-full max-w-0", cell: (model) => <span className="flex flex-col"><span className="flex items-center gap-2 truncate"><Link to="/connections/$connectionId" params={{ connectionId: model.connection }} className="truncate font-medium hover:underline">{model.name}</Link>{model.default && <Badge>{t("default")}</Badge>}{model.resting && <Badge tone="bad">{t("resting")}</Badge>}</span><span className="truncate text-xs text-ink-3">{model.model}</span></span> },
        { key: "calls", head: t("calls"), className: "text-right", cell: (model) => <span className="flex flex-col">{formatNumber(model.calls)}{model.failed > 0 && <span className="text-xs text-bad">{t("calls_failed", { n: formatNumber(model.failed) })}</span>}</span> },
        { key: "first", head: t("first"), className: "text-right max-md:hidden", cell: (model) => (model.first_ms === null ? "–" : formatDuration(model.first_ms)) },
        { key: "cost", head: t("cost"), className: "text-right", cell: (model) => formatMoney(model.cost_micros) },
      ]}
    />
  );
}
