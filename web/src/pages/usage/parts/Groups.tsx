import type { UsageBy, UsageReport, UsageRow } from "@/api/types";
import { type Key, useT } from "@/i18n";
import { type Column, formatMoney, formatNumber, formatTokens, Meter, Table } from "@/ui";

/** Usage by agent, user, connection, model or key. */
export function Groups({ by, report }: { by: UsageBy; report: UsageReport }) {
  const t = useT("usage");
  const { items, total } = report;
  if (items.length === 0) return <p className="px-4 py-6 text-base text-ink-3">{t("empty_title")}</p>;
  // By money where there is some, else by tokens.
  const weigh = (row: Pick<UsageRow, "cost_micros" | "prompt_tokens" | "completion_tokens">) => (total.cost_micros > 0 ? row.cost_micros : row.prompt_tokens + row.completion_tokens);
  const whole = Math.max(1, weigh(total));
  const nameOf = (row: UsageRow) => (row.group === "" ? t(`none_${by}` as Key<"usage">) : row.label || row.group);
  const columns: Column<UsageRow>[] = [
    {
      key: "name",
      head: t(`group_${by}` as Key<"usage">),
      className: "w-full min-w-32",
      cell: (row) => {
        const share = Math.round((weigh(row) / whole) * 100);
        return <div className="flex flex-col gap-1.5"><span className={by === "model" ? "font-mono text-sm wrap-anywhere" : "wrap-anywhere"}>{nameOf(row)}</span><Meter className="max-w-64" label={t("share", { name: nameOf(row) })} text={`${share} %`} parts={[{ share: weigh(row) / whole, tone: "accent" }]} /></div>;
      },
    },
    { key: "calls", head: t("calls"), className: "text-right max-md:hidden", cell: (row) => <>{formatNumber(row.calls)}{row.failed > 0 && <span className="block text-xs whitespace-nowrap text-ink-3">{t("failed", { count: row.failed, n: formatNumber(row.failed) })}</span>}</> },
    { key: "prompt", head: t("part_all_prompt"), className: "text-right max-md:hidden", cell: (row) => <>{formatTokens(row.prompt_tokens)}{row.cached_tokens > 0 && <span className="block text-xs whitespace-nowrap text-ink-3">{t("cached_share", { share: `${Math.round((row.cached_tokens / Math.max(1, row.prompt_tokens)) * 100)} %` })}</span>}</> },
    { key: "reply", head: t("part_reply"), className: "text-right max-md:hidden", cell: (row) => formatTokens(row.completion_tokens) },
    { key: "tokens", head: t("tokens"), className: "text-right md:hidden", cell: (row) => formatTokens(row.prompt_tokens + row.completion_tokens) },
    { key: "cost", head: t("cost"), className: "text-right", cell: (row) => formatMoney(row.cost_micros) },
  ];
  return <Table caption={t(`by_${by}` as Key<"usage">)} columns={columns} rows={items} rowKey={(row) => row.group || "-"} />;
}
