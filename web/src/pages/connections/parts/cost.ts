import type { T } from "@/i18n";
import { formatMoney, formatNumber } from "@/ui";

/** What an exam costs at most, in words. */
export function examCost(t: T<"connections">, { most_tokens, most_cost }: { most_tokens: number; most_cost: number | null }): string {
  const tokens = formatNumber(most_tokens);
  if (most_cost === null) return t("exam_cost_unknown", { tokens });
  return most_cost === 0 ? t("exam_cost_none", { tokens }) : t("exam_cost", { tokens, cost: formatMoney(most_cost) });
}
