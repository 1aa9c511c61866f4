import { Ellipsis, Pencil, PiggyBank, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { isOperator, useBudgetActions, useBudgets, useMe } from "@/api/hooks";
import type { BudgetState } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, EmptyState, formatExact, formatMoney, formatTokens, IconButton, Menu, MenuItem, MenuSeparator, Meter, PagedList, toast, useErrorText } from "@/ui";
import { BudgetDialog } from "./BudgetDialog";
import { resetsAt } from "./range";

/** Hard limits and what is gone of them. */
export function Budgets() {
  const t = useT("usage");
  const list = useBudgets();
  const operator = isOperator(useMe().data);
  const errorText = useErrorText();
  const { create, remove } = useBudgetActions();
  const [editing, setEditing] = useState<BudgetState | "new" | null>(null);
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const removeOne = (budget: BudgetState) =>
    remove.mutate(budget.limit.id, {
      onSuccess: () => {
        const { id: _id, ...input } = budget.limit;
        toast({ title: t("budget_removed"), undo: () => void create.mutateAsync(input).then(() => toast({ title: t("budget_restored") }), failed) });
      },
      onError: failed,
    });
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-prose text-base text-ink-2">{t("budgets_lead")}</p>
        {operator && list.items.length > 0 && <Button size="sm" variant="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>{t("budget_new")}</Button>}
      </div>
      <PagedList list={list} empty={<div className="rounded-lg border border-line bg-surface"><EmptyState icon={<PiggyBank />} title={t("budgets_empty")} action={operator && <Button variant="primary" onClick={() => setEditing("new")}>{t("budget_new")}</Button>}>{t("budgets_empty_text")}</EmptyState></div>}>
        <ul className="flex flex-col gap-3">{list.items.map((budget) => <BudgetCard key={budget.limit.id} budget={budget} operator={operator} onEdit={() => setEditing(budget)} onRemove={() => removeOne(budget)} />)}</ul>
      </PagedList>
      {editing && <BudgetDialog budget={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
    </div>
  );
}

function BudgetCard({ budget, operator, onEdit, onRemove }: { budget: BudgetState; operator: boolean; onEdit: () => void; onRemove: () => void }) {
  const t = useT("usage");
  const m = useT("models");
  const { limit } = budget;
  const name = limit.scope.kind === "installation" ? t("scope_installation") : budget.label;
  const anew = resetsAt(limit.period, budget.since);
  const bars = [
    ...(limit.tokens != null ? [{ kind: t("tokens"), spent: budget.tokens, reserved: budget.reserved_tokens, most: limit.tokens, show: formatTokens }] : []),
    ...(limit.cost_micros != null ? [{ kind: t("cost"), spent: budget.cost_micros, reserved: budget.reserved_cost_micros, most: limit.cost_micros, show: formatMoney }] : []),
  ];
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-surface px-4 py-3.5">
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <h2 className="flex flex-wrap items-center gap-2 text-lg font-semibold"><span className="wrap-anywhere">{name}</span>{limit.scope.kind !== "installation" && <Badge>{t(`scope_${limit.scope.kind}`)}</Badge>}<Badge>{t(`period_${limit.period}`)}</Badge>{bars.some((bar) => bar.spent + bar.reserved >= bar.most) && <Badge tone="bad">{t("used_up")}</Badge>}</h2>
          <p className="text-sm text-ink-3">{anew === null ? t("never_anew") : m("resets", { time: formatExact(anew) })}</p>
        </div>
        {operator && (
          <Menu trigger={<IconButton size="sm" label={t("budget_actions", { name })}><Ellipsis /></IconButton>}>
            <MenuItem icon={<Pencil />} onSelect={onEdit}>{t("budget_edit")}</MenuItem>
            <MenuSeparator />
            <MenuItem icon={<Trash2 />} danger onSelect={onRemove}>{t("budget_remove")}</MenuItem>
          </Menu>
        )}
      </div>
      {bars.map((bar) => {
        const share = bar.spent / Math.max(1, bar.most);
        const words = t("spent_of", { spent: bar.show(bar.spent), most: bar.show(bar.most) });
        return (
          <div key={bar.kind} className="flex flex-col gap-1">
            <p className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm"><span>{bar.kind}</span><span className="text-ink-2 tabular">{words}{bar.reserved > 0 && <span className="text-ink-3"> · {t("reserved", { amount: bar.show(bar.reserved) })}</span>}</span></p>
            <Meter label={`${name}: ${bar.kind}`} text={words} parts={[{ share, tone: share >= 1 ? "bad" : "accent" }, { share: bar.reserved / Math.max(1, bar.most), tone: "accent", faint: true }]} />
          </div>
        );
      })}
    </li>
  );
}
