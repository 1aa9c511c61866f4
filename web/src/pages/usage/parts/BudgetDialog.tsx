import { useState } from "react";
import { useAgents, useBudgetActions, useConnections, useKeys, useMe, useUsage } from "@/api/hooks";
import type { BudgetScope, BudgetState, Period } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState, Field, Input, Select, toast } from "@/ui";
import { countOf, DAY, dayStart, microsOf } from "./range";

const KINDS: readonly BudgetScope["kind"][] = ["installation", "user", "agent", "connection", "key"];
export const PERIODS: readonly Period[] = ["day", "month", "total"];

/** Makes a budget, or changes the limits of one. */
export function BudgetDialog({ budget, onClose }: { budget: BudgetState | null; onClose: () => void }) {
  const t = useT("usage");
  const { create, update } = useBudgetActions();
  const [kind, setKind] = useState<BudgetScope["kind"]>(budget?.limit.scope.kind ?? "installation");
  const [id, setId] = useState("");
  const [period, setPeriod] = useState<Period>(budget?.limit.period ?? "month");
  const [tokens, setTokens] = useState(budget?.limit.tokens != null ? String(budget.limit.tokens) : "");
  const [dollars, setDollars] = useState(budget?.limit.cost_micros != null ? String(budget.limit.cost_micros / 1e6) : "");
  const [tried, setTried] = useState(false);
  const choices = useChoices(kind);
  const most = { tokens: countOf(tokens, 0), cost_micros: microsOf(dollars) };
  const missing = kind !== "installation" && !budget && id === "";
  const empty = most.tokens === null && most.cost_micros === null;
  const error = create.error ?? update.error;
  const save = () => {
    setTried(true);
    if (missing || empty || most.tokens === undefined || most.cost_micros === undefined) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const limits = { tokens: most.tokens, cost_micros: most.cost_micros };
    const onSuccess = () => (toast({ title: t("budget_saved") }), onClose());
    if (budget) update.mutate({ id: budget.limit.id, ...limits }, { onSuccess });
    else create.mutate({ scope: kind === "installation" ? { kind } : { kind, id }, period, ...limits }, { onSuccess });
  };
  return (
    <Dialog open onOpenChange={onClose} title={budget ? t("budget_edit") : t("budget_new")} description={t("budget_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={create.isPending || update.isPending} onClick={save}>{t("save")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        {!budget && (
          <>
            <Field label={t("scope")}>{(p) => <Select {...p} value={kind} onChange={(event) => (setKind(event.target.value as BudgetScope["kind"]), setId(""))}>{KINDS.map((one) => <option key={one} value={one}>{t(`scope_${one}`)}</option>)}</Select>}</Field>
            {kind !== "installation" && (
              <Field label={t("scope_which")} error={tried && missing ? t("scope_missing") : undefined}>
                {(p) => (
                  <Select {...p} value={id} onChange={(event) => setId(event.target.value)}>
                    <option value="">{choices.length === 0 ? t("scope_none") : t("scope_choose")}</option>
                    {choices.map((choice) => <option key={choice.id} value={choice.id}>{choice.name}</option>)}
                  </Select>
                )}
              </Field>
            )}
            <Field label={t("period")}>{(p) => <Select {...p} value={period} onChange={(event) => setPeriod(event.target.value as Period)}>{PERIODS.map((one) => <option key={one} value={one}>{t(`period_${one}`)}</option>)}</Select>}</Field>
          </>
        )}
        <Field label={t("most_tokens")} hint={t("empty_any")} error={tried ? (most.tokens === undefined ? t("tokens_bad") : empty ? t("limits_missing") : undefined) : undefined}>{(p) => <Input {...p} inputMode="numeric" placeholder="1000000" value={tokens} onChange={(event) => setTokens(event.target.value)} />}</Field>
        <Field label={t("most_dollars")} hint={t("empty_any")} error={tried && most.cost_micros === undefined ? t("dollars_bad") : undefined}>{(p) => <Input {...p} inputMode="decimal" placeholder="20" value={dollars} onChange={(event) => setDollars(event.target.value)} />}</Field>
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}

/** Whom a budget may be for. Users are those who have asked something, and oneself. */
function useChoices(kind: BudgetScope["kind"]): { id: string; name: string }[] {
  const { data: me } = useMe();
  const agents = useAgents();
  const connections = useConnections();
  const keys = useKeys();
  const [to] = useState(() => dayStart(Date.now()) + DAY);
  const users = useUsage("user", to - 90 * DAY, to);
  switch (kind) {
    case "agent":
    case "connection":
      return (kind === "agent" ? agents.items : connections.items).map(({ id, name }) => ({ id, name }));
    case "key":
      return keys.items.filter((key) => key.revoked_at == null).map(({ id, name, prefix }) => ({ id, name: `${name} (${prefix}…)` }));
    case "user": {
      const known = (users.data?.items ?? []).filter((row) => row.group !== "").map((row) => ({ id: row.group, name: row.label || row.group }));
      return me && !known.some((row) => row.id === me.id) ? [{ id: me.id, name: me.name || me.email }, ...known] : known;
    }
    default:
      return [];
  }
}
