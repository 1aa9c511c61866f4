import { Link } from "@tanstack/react-router";
import { ChartColumn, Info } from "lucide-react";
import { useMemo, useState } from "react";
import { isOperator, useMe, useUsage } from "@/api/hooks";
import type { UsageBy, UsageSum } from "@/api/types";
import { useT } from "@/i18n";
import { Card, cx, EmptyState, ErrorState, Field, formatMoney, formatNumber, formatTokens, Input, Select, Skeleton } from "@/ui";
import { useFilters } from "../../runs/parts/filters";
import { DayChart, DayTable, MEASURES, type Measure } from "./Days";
import { Groups } from "./Groups";
import { dayName, everyDay, LENGTHS, type Range, rangeOf } from "./range";

const GROUPS = ["agent", "user", "connection", "model", "key"] as const;

export function Usage() {
  const t = useT("usage");
  const [filters, set] = useFilters(["days", "from", "to"] as const);
  // The same moment for as long as the page is open: a new one would ask for everything again.
  const [now] = useState(Date.now);
  const custom = filters.from !== "" || filters.to !== "";
  const range = useMemo(() => rangeOf(filters, now), [filters.days, filters.from, filters.to, now]);
  const all = isOperator(useMe().data);
  const chosen = custom ? "custom" : String(LENGTHS.find((one) => String(one) === filters.days) ?? 30);
  const choose = (value: string) => set(value === "custom" ? { days: "", from: dayName((range?.from ?? now)), to: dayName(now) } : { days: value === "30" ? "" : value, from: "", to: "" });
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <div role="group" aria-label={t("range")} className="inline-flex rounded-md border border-line-2 p-0.5">
          {[...LENGTHS.map(String), "custom"].map((value) => (
            <button key={value} type="button" aria-pressed={chosen === value} onClick={() => choose(value)} className={cx("h-7.5 rounded-sm px-3 text-sm max-md:h-10", chosen === value ? "bg-active font-medium text-ink" : "text-ink-3 hover:text-ink")}>
              {value === "custom" ? t("range_custom") : t("range_days", { days: value })}
            </button>
          ))}
        </div>
        {custom && (
          <div className="flex flex-wrap gap-2">
            <Field label={t("from")}>{(p) => <Input {...p} type="date" max={dayName(now)} value={filters.from} onChange={(event) => set({ from: event.target.value })} />}</Field>
            <Field label={t("to")} error={range ? undefined : t("range_bad")}>{(p) => <Input {...p} type="date" max={dayName(now)} value={filters.to} onChange={(event) => set({ to: event.target.value })} />}</Field>
          </div>
        )}
        <p className="ml-auto text-sm text-ink-3 max-md:ml-0">{all ? t("utc") : t("own_only")}</p>
      </div>
      {range && <Sums range={range} all={all} />}
    </div>
  );
}

function Sums({ range, all }: { range: Range; all: boolean }) {
  const t = useT("usage");
  const [filters, set] = useFilters(["by", "show"] as const);
  const by = GROUPS.find((name) => name === filters.by) ?? "agent";
  const days = useUsage("day", range.from, range.to);
  const groups = useUsage(by, range.from, range.to);
  const rows = useMemo(() => everyDay(days.data?.items ?? [], range), [days.data, range]);
  if (days.error && !days.data) return <ErrorState error={days.error} onRetry={() => void days.refetch()} />;
  if (!days.data) return <Skeleton rows={8} />;
  const { total, unpriced_calls: unpriced } = days.data;
  if (total.calls === 0) return <div className="rounded-lg border border-line bg-surface"><EmptyState icon={<ChartColumn />} title={t("empty_title")}>{t("empty_text")}</EmptyState></div>;
  const measure: Measure = MEASURES.find((name) => name === filters.show) ?? (total.cost_micros > 0 ? "cost" : "tokens");
  return (
    <div className={cx("flex flex-col gap-5 transition-opacity", days.isPlaceholderData && "opacity-60")} aria-busy={days.isPlaceholderData}>
      <Totals total={total} />
      {unpriced > 0 && (
        <p className="flex items-start gap-2.5 rounded-lg border border-line bg-sunken px-4 py-2.5 text-base">
          <Info aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
          <span>{t("unpriced", { count: unpriced, n: formatNumber(unpriced) })} <Link to="/connections" className="font-medium text-accent-ink underline-offset-2 hover:underline">{t("unpriced_link")}</Link></span>
        </p>
      )}
      <Card
        title={t("by_day")}
        actions={<Select small aria-label={t("measure")} value={measure} onChange={(event) => set({ show: event.target.value })}>{MEASURES.map((name) => <option key={name} value={name}>{t(`measure_${name}`)}</option>)}</Select>}
      >
        <div className="grid gap-5 xl:grid-cols-[minmax(0,1fr)_20rem]">
          <DayChart rows={rows} measure={measure} />
          <DayTable rows={rows} />
        </div>
      </Card>
      <Card
        pad={false}
        title={t(`by_${by}`)}
        actions={<Select small aria-label={t("group")} value={by} onChange={(event) => set({ by: event.target.value === "agent" ? "" : event.target.value })}>{GROUPS.filter((name) => all || name !== "user").map((name) => <option key={name} value={name}>{t(`group_${name}`)}</option>)}</Select>}
      >
        {groups.error && !groups.data ? <ErrorState inline className="m-4" error={groups.error} onRetry={() => void groups.refetch()} /> : groups.data ? <Groups by={by as UsageBy} report={groups.data} /> : <Skeleton rows={4} className="p-4" />}
      </Card>
    </div>
  );
}

function Totals({ total }: { total: UsageSum }) {
  const t = useT("usage");
  const tokens = total.prompt_tokens + total.completion_tokens;
  const share = total.prompt_tokens > 0 ? Math.round((total.cached_tokens / total.prompt_tokens) * 100) : 0;
  const items: [string, string, string?][] = [
    [t("cost"), formatMoney(total.cost_micros)],
    [t("tokens"), formatTokens(tokens), t("tokens_split", { prompt: formatTokens(total.prompt_tokens), reply: formatTokens(total.completion_tokens) })],
    [t("cached"), `${share} %`, t("cached_of", { tokens: formatTokens(total.cached_tokens) })],
    [t("calls"), formatNumber(total.calls), total.failed > 0 ? t("failed", { count: total.failed, n: formatNumber(total.failed) }) : undefined].filter((part) => part !== undefined) as [string, string, string?],
  ];
  return (
    <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      {items.map(([name, value, more]) => (
        <div key={name} className="flex flex-col rounded-lg border border-line bg-surface px-4 py-3">
          <dt className="text-sm text-ink-3">{name}</dt>
          <dd className="text-xl font-semibold tabular">{value}</dd>
          {more && <dd className="text-xs text-ink-3 tabular">{more}</dd>}
        </div>
      ))}
    </dl>
  );
}
