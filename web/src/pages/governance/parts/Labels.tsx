import { X } from "lucide-react";
import { limits } from "@/api/limits";
import { nameOf } from "@/api/named";
import type { Classification, DataLabelView } from "@/api/types";
import { useT } from "@/i18n";
import { LEVELS } from "@/run/classified";
import { Badge, ClassificationBadge, Dot, Field, IconButton, Input, Select, Textarea } from "@/ui";
import { type LabelForm, LISTS } from "./form";

/** Said of an entry that is not saved as it is. */
export function Unsaved() {
  const t = useT("governance");
  return <span className="inline-flex items-center gap-1 text-xs text-warn"><Dot tone="warn" />{t("not_saved")}</span>;
}

export function LabelView({ label }: { label: DataLabelView }) {
  const t = useT("governance");
  const lists = { ...label, agents: label.agents.map((agent) => nameOf(agent, t("agent_gone"))) };
  return (
    <article aria-label={label.name} className="rounded-lg border border-line px-4 py-3">
      <h3 className="flex flex-wrap items-center gap-2 text-base font-medium"><span className="wrap-anywhere">{label.name}</span><ClassificationBadge level={label.classification} /></h3>
      <dl className="mt-2 flex flex-col gap-1.5 text-sm">
        {LISTS.filter((list) => lists[list].length > 0).map((list) => (
          <div key={list} className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
            <dt className="text-ink-3">{t(list)}</dt>
            <dd className="flex min-w-0 flex-wrap gap-1.5">{lists[list].map((entry) => <Badge key={entry} className="max-w-full font-mono"><span className="truncate">{entry}</span></Badge>)}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}

type Props = { label: LabelForm; unsaved: boolean; problem: (name: string) => string | undefined; onChange: (change: Partial<LabelForm>) => void; onRemove: () => void };

/** Where data of a classification is: what fits any of its lists. */
export function LabelEditor({ label, unsaved, problem, onChange, onRemove }: Props) {
  const t = useT("governance");
  const name = label.name.trim() || t("unnamed");
  const nowhere = problem("");
  return (
    <fieldset className="min-w-0 rounded-lg border border-line px-4 pt-2 pb-4">
      <legend className="sr-only">{t("label_of", { name })}</legend>
      <div className="mb-2 flex min-h-7 items-center justify-end gap-2">{unsaved && <Unsaved />}<IconButton size="sm" label={t("remove", { name })} onClick={onRemove}><X /></IconButton></div>
      <div className="grid gap-4 md:grid-cols-[minmax(0,1fr)_14rem]">
        <Field label={t("name")} hint={t("name_hint")} error={problem("name")}>{(p) => <Input {...p} maxLength={limits.DataLabelInput.name.maxLength} value={label.name} onChange={(event) => onChange({ name: event.target.value })} />}</Field>
        <Field label={t("classification")} hint={t(`level_${label.classification}`)}>
          {(p) => <Select {...p} value={label.classification} onChange={(event) => onChange({ classification: event.target.value as Classification })}><Levels levels={LEVELS} /></Select>}
        </Field>
      </div>
      {nowhere && <p role="alert" className="mt-3 text-sm text-bad">{nowhere}</p>}
      <div className="mt-4 grid gap-4 md:grid-cols-2 xl:grid-cols-3">
        {LISTS.map((list) => (
          <Field key={list} label={t(list)} hint={t(`${list}_hint`)} error={problem(list) ?? (nowhere && list === "paths" ? nowhere : undefined)}>
            {(p) => <Textarea {...p} maxRows={8} spellCheck={false} autoComplete="off" className="font-mono text-sm" value={label[list]} onChange={(event) => onChange({ [list]: event.target.value })} />}
          </Field>
        ))}
      </div>
    </fieldset>
  );
}

/** Classifications as options of a select. */
export function Levels({ levels }: { levels: readonly Classification[] }) {
  const t = useT("common");
  return <>{levels.map((level) => <option key={level} value={level}>{t(`classification.${level}`)}</option>)}</>;
}
