import { CalendarX, Plus, X } from "lucide-react";
import { useRef, useState } from "react";
import { useAgreeToDeletions, usePreviewRetention, useReplaceRetention, useRetention } from "@/api/hooks";
import type { RetentionPreview, RetentionView } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Card, ConfirmDialog, ErrorState, Field, formatRange, IconButton, Input, Select, Skeleton, Time, toast } from "@/ui";
import { FROM } from "./form";
import { Levels } from "./Labels";
import { type Draft, draftOf, KINDS, MOST, NAME, NEW, policyOf, problemsOf, rangeOf } from "./periods";

/** How long conversations, runs and figures are kept. Saving asks twice, for what is deleted can't be taken back. */
export function Retention() {
  const t = useT("governance");
  const rules = useRetention();
  return (
    <Card title={t("retention")}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-base text-ink-2">{t("retention_text")}</p>
        {rules.error && !rules.data ? <ErrorState inline error={rules.error} onRetry={() => void rules.refetch()} /> : !rules.data ? <Skeleton rows={2} /> : <><HeldBack held={rules.data.held_back} /><Editor key={rules.data.version} rules={rules.data} /></>}
      </div>
    </Card>
  );
}

/** Deletions that wait, as after a jump of the clock, until somebody agrees. */
function HeldBack({ held }: { held: RetentionView["held_back"] }) {
  const t = useT("governance");
  const agree = useAgreeToDeletions();
  const [first] = held;
  if (!first) return null;
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-lg border border-line px-4 py-3">
      <p className="text-base font-medium">{t("held_title")}</p>
      <ul className="flex flex-col gap-1 text-base">
        {held.map((one) => <li key={one.by}>{t(`held_${one.by as "retention" | "audit" | "masks"}`)}: {one.message} <span className="text-ink-3">{t(`held_${one.why}`)}</span> <Time relative at={one.since} /></li>)}
      </ul>
      {agree.error && <ErrorState inline error={agree.error} />}
      <Button size="sm" loading={agree.isPending} onClick={() => agree.mutate({ confirmation: first.confirmation }, { onSuccess: () => toast({ title: t("held_agreed"), tone: "ok" }) })}>{t("held_agree")}</Button>
    </div>
  );
}

function Editor({ rules }: { rules: RetentionView }) {
  const t = useT("governance");
  const preview = usePreviewRetention();
  const replace = useReplaceRetention();
  const [drafts, setDrafts] = useState<Draft[]>(() => rules.policies.map(draftOf));
  const [seen, setSeen] = useState<RetentionPreview | null>(null);
  const wanted = { version: rules.version, policies: drafts.map(policyOf), holds: rules.holds };
  const dirty = JSON.stringify(wanted.policies) !== JSON.stringify(rules.policies.map((policy) => policyOf(draftOf(policy))));
  const change = (index: number, part: Partial<Draft>) => setDrafts((old) => old.map((draft, at) => (at === index ? { ...draft, ...part } : draft)));
  const [tried, setTried] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const problems = problemsOf(drafts);
  const problem = (index: number, field: "name" | "days") => {
    const wrong = tried && problems[index]?.[field];
    return wrong ? t(wrong, formatRange(rangeOf(wrong))) : undefined;
  };
  const look = () => {
    setTried(true);
    if (problems.some((one) => one.name || one.days)) return void setTimeout(() => list.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
    preview.mutate(wanted, { onSuccess: setSeen });
  };
  const save = () => seen && replace.mutate({ rules: wanted, confirmation: seen.confirmation }, { onSuccess: () => (setSeen(null), toast({ title: t("retention_saved"), tone: "ok" })), onError: () => setSeen(null) });
  return (
    <>
      {drafts.length === 0 && <p className="text-base text-ink-3">{t("retention_none")}</p>}
      {drafts.length > 0 && <div ref={list} className="flex flex-col gap-4">{drafts.map((draft, index) => (
        <fieldset key={index} className="flex flex-wrap items-start gap-3 rounded-lg border border-line px-4 py-3">
          <legend className="sr-only">{t("policy_of", { name: draft.name || t("unnamed") })}</legend>
          <Field className="min-w-40 flex-1" label={t("name")} error={problem(index, "name")}>{(p) => <Input {...p} maxLength={NAME.most} value={draft.name} onChange={(event) => change(index, { name: event.target.value })} />}</Field>
          <Field label={t("retention_kind")}>{(p) => <Select {...p} value={draft.kind} onChange={(event) => change(index, { kind: event.target.value as Draft["kind"] })}>{KINDS.map((kind) => <option key={kind} value={kind}>{t(`retention_${kind}`)}</option>)}</Select>}</Field>
          <Field className="w-28" label={t("retention_days")} error={problem(index, "days")}>{(p) => <Input {...p} inputMode="numeric" value={draft.days} onChange={(event) => change(index, { days: event.target.value })} />}</Field>
          {draft.kind !== "usage" && <Field label={t("from")}>{(p) => <Select {...p} value={draft.from} onChange={(event) => change(index, { from: event.target.value as Draft["from"] })}><option value="">{t("retention_all")}</option><Levels levels={FROM} /></Select>}</Field>}
          {draft.kind === "conversations" && <label className="mt-6 flex min-h-9 items-center gap-2 text-base"><input type="checkbox" checked={draft.deleted_only} onChange={(event) => change(index, { deleted_only: event.target.checked })} />{t("retention_deleted_only")}</label>}
          <IconButton size="sm" className="mt-6" label={t("remove", { name: draft.name || t("unnamed") })} onClick={() => setDrafts((old) => old.filter((_, at) => at !== index))}><X /></IconButton>
        </fieldset>
      ))}</div>}
      {rules.holds.length > 0 && <p className="text-sm text-ink-3">{t("retention_holds", { count: rules.holds.length })}</p>}
      {rules.last && <p className="text-sm text-ink-3">{t("retention_last", { count: rules.last.deleted })} <Time relative at={rules.last.began_at} /></p>}
      {(preview.error ?? replace.error) && <ErrorState inline error={preview.error ?? replace.error} />}
      {drafts.length >= MOST && <p className="text-sm text-ink-3">{t("retention_many", { most: MOST })}</p>}
      <div className="flex flex-wrap gap-2">
        <Button size="sm" icon={<Plus aria-hidden className="size-4" />} disabled={drafts.length >= MOST} onClick={() => setDrafts((old) => [...old, NEW])}>{t("retention_add")}</Button>
        {dirty && <Button size="sm" variant="primary" icon={<CalendarX aria-hidden className="size-4" />} loading={preview.isPending} onClick={look}>{t("retention_look")}</Button>}
      </div>
      {seen && (
        <ConfirmDialog open onOpenChange={() => setSeen(null)} title={t("retention_sure")} description={t("retention_sure_text")} confirm={t("retention_confirm")} danger busy={replace.isPending} onConfirm={save}>
          <ul className="flex flex-col gap-1 text-base">
            {seen.would_go.map((one) => <li key={one.policy}>{t("retention_would_go", { name: one.policy, count: one.items, held: one.held })}</li>)}
          </ul>
        </ConfirmDialog>
      )}
    </>
  );
}
