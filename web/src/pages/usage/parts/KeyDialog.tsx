import { useState } from "react";
import { useAgents, useConnections, useKeyActions } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { KeyInput, NewVirtualKey, Period, VirtualKey } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, Input, Select, toast } from "@/ui";
import { PERIODS } from "./BudgetDialog";
import { countOf, dayName, endOf, microsOf, offered } from "./range";

type Props = { entry: VirtualKey | null; onClose: () => void; onMade: (made: NewVirtualKey) => void };

/** Makes a key, or changes the name and the limits of one. */
export function KeyDialog({ entry, onClose, onMade }: Props) {
  const t = useT("usage");
  const { create, update } = useKeyActions();
  const connections = useConnections();
  const agents = useAgents();
  const [name, setName] = useState(entry?.name ?? "");
  const [through, setThrough] = useState<string[]>((entry?.connections ?? []).map((one) => one.id));
  const [may, setMay] = useState<"none" | "all" | "some">(entry?.agents == null ? "none" : entry.agents.length === 0 ? "all" : "some");
  const [who, setWho] = useState<string[]>((entry?.agents ?? []).map((one) => one.id));
  const [texts, setTexts] = useState({ rpm: String(entry?.requests_per_minute ?? ""), tpm: String(entry?.tokens_per_minute ?? ""), ends: entry?.expires_at != null ? dayName(entry.expires_at) : "", tokens: "", dollars: "" });
  const [period, setPeriod] = useState<Period>("month");
  const [tried, setTried] = useState(false);
  const put = (change: Partial<typeof texts>) => setTexts((old) => ({ ...old, ...change }));
  const rpm = countOf(texts.rpm, 1);
  const tpm = countOf(texts.tpm, 1);
  const tokens = countOf(texts.tokens, 0);
  const micros = microsOf(texts.dollars);
  const ends = endOf(texts.ends, entry?.expires_at);
  // The server refuses any change of one that is over, unless it gets a new end.
  const over = ends !== null && ends <= Date.now();
  const problems = {
    name: name.trim() === "" ? t("name_missing") : undefined,
    rpm: rpm === undefined ? t("count_bad") : undefined,
    tpm: tpm === undefined ? t("count_bad") : undefined,
    tokens: tokens === undefined ? t("tokens_bad") : undefined,
    dollars: micros === undefined ? t("dollars_bad") : undefined,
    agents: may === "some" && who.length === 0 ? t("agents_missing") : undefined,
    ends: over && ends === entry?.expires_at ? t("ends_over") : over || Number.isNaN(ends) ? t("ends_bad") : undefined,
  };
  const problem = (field: keyof typeof problems) => (tried ? problems[field] : undefined);
  const error = create.error ?? update.error;
  const save = () => {
    setTried(true);
    if (Object.values(problems).some(Boolean)) return void setTimeout(() => document.querySelector<HTMLElement>("[role=dialog] [aria-invalid]")?.focus());
    const body: KeyInput = { name: name.trim(), connections: through, agents: may === "none" ? null : may === "all" ? [] : who, requests_per_minute: rpm ?? null, tokens_per_minute: tpm ?? null, expires_at: ends };
    if (entry) return update.mutate({ ...body, id: entry.id }, { onSuccess: () => (toast({ title: t("key_saved") }), onClose()) });
    const budget = tokens != null || micros != null ? { budget: { period, tokens: tokens ?? null, cost_micros: micros ?? null } } : {};
    create.mutate({ ...body, ...budget }, { onSuccess: (made) => (onClose(), onMade(made)) });
  };
  // Of the connections and agents that it names some may be gone; the server refuses it as long as it names them.
  const hint = (gone: boolean, list: { isLoading: boolean; hasMore: boolean; error: unknown }) => (gone && !list.isLoading && !list.hasMore && !list.error ? t("listed_gone") : undefined);
  const flip = (list: string[], one: string, on: boolean) => (on ? [...list, one] : list.filter((other) => other !== one));
  return (
    <Dialog open wide onOpenChange={onClose} title={entry ? t("key_edit_title", { name: entry.name }) : t("key_new")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={create.isPending || update.isPending} onClick={save}>{entry ? t("save") : t("key_make")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {error && <ErrorState inline error={error} />}
        <Field label={t("name")} hint={t("key_name_hint")} error={problem("name")}>{(p) => <Input {...p} maxLength={limits.KeyInput.name.maxLength} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <fieldset className="min-w-0">
          <legend className="text-sm font-medium">{t("key_connections")}</legend>
          <p className="mb-2 text-xs text-ink-3">{t("key_connections_hint")}</p>
          <div className="grid max-h-40 gap-2 overflow-y-auto sm:grid-cols-2">{offered(connections.items, entry?.connections ?? []).map(({ id, name: one, gone }) => <Checkbox key={id} checked={through.includes(id)} onChange={(on) => setThrough(flip(through, id, on))} label={one ?? t("listed_deleted")} hint={hint(gone, connections) ?? connections.items.find((item) => item.id === id)?.model} />)}</div>
        </fieldset>
        <Field label={t("key_agents")} error={problem("agents")}>{(p) => <Select {...p} value={may} onChange={(event) => setMay(event.target.value as typeof may)}><option value="none">{t("agents_none")}</option><option value="all">{t("agents_all")}</option><option value="some">{t("agents_some")}</option></Select>}</Field>
        {may === "some" && <div role="group" aria-label={t("agents_some")} className="grid max-h-40 gap-2 overflow-y-auto sm:grid-cols-2">{offered(agents.items, entry?.agents ?? []).map(({ id, name: one, gone }) => <Checkbox key={id} checked={who.includes(id)} onChange={(on) => setWho(flip(who, id, on))} label={one ?? t("listed_deleted")} hint={hint(gone, agents)} />)}</div>}
        <div className="grid gap-4 sm:grid-cols-3">
          <Field label={t("key_rpm")} hint={t("empty_any")} error={problem("rpm")}>{(p) => <Input {...p} inputMode="numeric" value={texts.rpm} onChange={(event) => put({ rpm: event.target.value })} />}</Field>
          <Field label={t("key_tpm")} hint={t("empty_any")} error={problem("tpm")}>{(p) => <Input {...p} inputMode="numeric" value={texts.tpm} onChange={(event) => put({ tpm: event.target.value })} />}</Field>
          <Field label={t("key_ends")} hint={t("key_ends_hint")} error={problem("ends")}>{(p) => <Input {...p} type="date" value={texts.ends} onChange={(event) => put({ ends: event.target.value })} />}</Field>
        </div>
        {!entry && (
          <fieldset className="min-w-0">
            <legend className="mb-2 text-sm font-medium">{t("key_budget")}</legend>
            <div className="grid gap-4 sm:grid-cols-3">
              <Field label={t("period")}>{(p) => <Select {...p} value={period} onChange={(event) => setPeriod(event.target.value as Period)}>{PERIODS.map((one) => <option key={one} value={one}>{t(`period_${one}`)}</option>)}</Select>}</Field>
              <Field label={t("most_tokens")} hint={t("empty_any")} error={problem("tokens")}>{(p) => <Input {...p} inputMode="numeric" value={texts.tokens} onChange={(event) => put({ tokens: event.target.value })} />}</Field>
              <Field label={t("most_dollars")} hint={t("empty_any")} error={problem("dollars")}>{(p) => <Input {...p} inputMode="decimal" value={texts.dollars} onChange={(event) => put({ dollars: event.target.value })} />}</Field>
            </div>
          </fieldset>
        )}
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}
