import { Link } from "@tanstack/react-router";
import { BookMarked, Download, X } from "lucide-react";
import { useState } from "react";
import { usePolicyReport, useStandards } from "@/api/hooks";
import { limits } from "@/api/limits";
import type { Classification, DataAction, ResolvedPolicy } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ClassificationBadge, ErrorState, Field, IconButton, Input, Select, Textarea } from "@/ui";
import { ACTIONS, clausesWith, type Found, FROM, type PolicyForm } from "./form";
import { Levels, Unsaved } from "./Labels";
import { References } from "./References";

export function PolicyView({ policy }: { policy: ResolvedPolicy }) {
  const t = useT("governance");
  return (
    <article aria-label={policy.name} className="rounded-lg border border-line px-4 py-3">
      <h3 className="flex flex-wrap items-center gap-2 text-base font-medium"><span className="wrap-anywhere">{policy.name}</span><ClassificationBadge level={policy.from} /><Badge>{t(`action_${policy.action}`)}</Badge></h3>
      <p className="mt-1 text-base text-ink-2">{t(`action_${policy.action}_text`)}</p>
      <Clauses clauses={policy.references_resolved} />
    </article>
  );
}

function Clauses({ clauses, onRemove }: { clauses: readonly Found[]; onRemove?: (id: string) => void }) {
  const t = useT("governance");
  if (clauses.length === 0) return null;
  return (
    <ul aria-label={t("references")} className="mt-2 flex flex-col gap-1.5">
      {clauses.map((clause) => (
        <li key={clause.id} className="flex items-start gap-2 rounded-md bg-sunken py-1.5 pr-1.5 pl-3 text-sm">
          <div className="min-w-0 flex-1">
            <p className="font-medium wrap-anywhere">{clause.standard} {clause.number} <span className="font-normal">{clause.title}</span></p>
            <p className="text-ink-3 wrap-anywhere">{clause.about}</p>
          </div>
          {onRemove && <IconButton size="sm" label={t("reference_remove", { name: `${clause.standard} ${clause.number}` })} onClick={() => onRemove(clause.id)}><X /></IconButton>}
        </li>
      ))}
    </ul>
  );
}

type Props = { policy: PolicyForm; unsaved: boolean; problem: (name: string) => string | undefined; onChange: (change: Partial<PolicyForm>) => void; onRemove: () => void };

/** What follows from a classification, and which clauses of standards that serves. */
export function PolicyEditor({ policy, unsaved, problem, onChange, onRemove }: Props) {
  const t = useT("governance");
  const standards = useStandards();
  const report = usePolicyReport();
  const [choosing, setChoosing] = useState(false);
  const name = policy.name.trim() || t("unnamed");
  const known = clausesWith(standards.data ?? [], "");
  // A clause that this program does not know any more is shown by its id, so that it can be removed.
  const clauses = policy.references.map((id) => known.find((clause) => clause.id === id) ?? { id, standard: "", number: id, title: "", about: standards.data ? t("reference_unknown") : "" });
  const wrong = problem("references");
  return (
    <fieldset className="min-w-0 rounded-lg border border-line px-4 pt-2 pb-4">
      <legend className="sr-only">{t("policy_of", { name })}</legend>
      <div className="mb-2 flex min-h-7 items-center justify-end gap-2">{unsaved && <Unsaved />}<IconButton size="sm" label={t("remove", { name })} onClick={onRemove}><X /></IconButton></div>
      <div className="grid gap-4 md:grid-cols-[minmax(0,1fr)_14rem]">
        <Field label={t("name")} hint={t("name_hint")} error={problem("name")}>{(p) => <Input {...p} maxLength={limits.DataPolicy.name.maxLength} value={policy.name} onChange={(event) => onChange({ name: event.target.value })} />}</Field>
        <Field label={t("from")} hint={t("from_hint")} error={problem("from")}>{(p) => <Select {...p} value={policy.from} onChange={(event) => onChange({ from: event.target.value as Classification })}><Levels levels={FROM} /></Select>}</Field>
        <Field className="md:col-span-2" label={t("action")} hint={t(`action_${policy.action}_text`)}>
          {(p) => <Select {...p} value={policy.action} onChange={(event) => onChange({ action: event.target.value as DataAction })}>{ACTIONS.map((action) => <option key={action} value={action}>{t(`action_${action}`)}</option>)}</Select>}
        </Field>
      </div>
      {policy.action === "mask" && <Field className="mt-4" label={t("mask_kinds")} hint={t("mask_kinds_hint")} error={problem("mask_kinds")}>{(p) => <Textarea {...p} maxRows={6} spellCheck={false} className="font-mono text-sm" value={policy.mask_kinds} onChange={(event) => onChange({ mask_kinds: event.target.value })} />}</Field>}
      <Clauses clauses={clauses} onRemove={(id) => onChange({ references: policy.references.filter((one) => one !== id) })} />
      {wrong && <p role="alert" className="mt-2 text-sm text-bad">{wrong}</p>}
      <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button size="sm" icon={<BookMarked aria-hidden className="size-3.5" />} onClick={() => setChoosing(true)}>{t("references_choose")}</Button>
        <Link to="/audit" search={{ action: "data.classified" }} className="text-sm text-accent-ink hover:underline">{t("audit_link")}</Link>
        {!unsaved && <Button size="sm" variant="quiet" icon={<Download aria-hidden className="size-3.5" />} loading={report.isPending} onClick={() => report.mutate(policy.name)}>{t("report")}</Button>}
      </div>
      {report.error && <ErrorState inline error={report.error} className="mt-2" />}
      {choosing && <References standards={standards} policy={name} chosen={policy.references} onChange={(references) => onChange({ references })} onClose={() => setChoosing(false)} />}
    </fieldset>
  );
}
