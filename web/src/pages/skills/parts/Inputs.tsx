import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useT } from "@/i18n";
import { Button, Checkbox, Field, IconButton, Input, Select } from "@/ui";
import { added, changed, type InputType, removed, renamed, type Row, rowsOf, TYPES } from "./inputs";
import { JsonField } from "./JsonField";
import type { Json, Schema } from "./schema";

type Props = { value: Schema; disabled: boolean; error?: string | undefined; onChange: (value: Schema) => void; onSound: (id: string, sound: boolean) => void };

/** What the model has to give the skill: rows, or the JSON Schema itself. */
export function Inputs({ value, disabled, error, onChange, onSound }: Props) {
  const t = useT("skills");
  const [raw, setRaw] = useState(false);
  const rows = rowsOf(value);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 text-sm text-ink-2">{t("inputs_text")}</p>
        <Button size="sm" variant="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>{t(raw ? "inputs_rows" : "inputs_raw")}</Button>
      </div>
      {raw ? (
        <JsonField object label={t("inputs_schema")} error={error} value={value} rows={8} disabled={disabled} onChange={(next) => onChange(next as Json)} onSound={onSound} />
      ) : (
        <>
          {error && <p role="alert" className="text-xs text-bad">{error}</p>}
          {rows.length === 0 && <p className="text-sm text-ink-3">{t("inputs_none")}</p>}
          {rows.length > 0 && (
            <ul aria-label={t("inputs")} className="divide-y divide-line rounded-lg border border-line bg-surface">
              {rows.map((row, at) => <InputRow key={at} row={row} disabled={disabled} onRename={(name) => onChange(renamed(value, row.name, name))} onChange={(change) => onChange(changed(value, row.name, change))} onRemove={() => onChange(removed(value, row.name))} />)}
            </ul>
          )}
          {!disabled && <Button size="sm" className="self-start" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => onChange(added(value))}>{t("inputs_add")}</Button>}
        </>
      )}
    </div>
  );
}

function InputRow({ row, disabled, onRename, onChange, onRemove }: { row: Row; disabled: boolean; onRename: (name: string) => void; onChange: (change: Partial<Omit<Row, "name">>) => void; onRemove: () => void }) {
  const t = useT("skills");
  // A name that is taken or empty stays only in the field.
  const [typed, setTyped] = useState<string | null>(null);
  const [choices, setChoices] = useState<string | null>(null);
  return (
    <li className="flex flex-col gap-2.5 px-3 py-2.5">
      <div className="flex flex-wrap items-end gap-2">
        <Field label={t("input_name")} className="min-w-32 flex-1">{(p) => <Input {...p} disabled={disabled} autoComplete="off" spellCheck={false} className="font-mono text-sm" value={typed ?? row.name} onChange={(event) => (setTyped(event.target.value), onRename(event.target.value.trim()))} onBlur={() => setTyped(null)} />}</Field>
        <Field label={t("input_type")}>
          {(p) => (
            <Select {...p} disabled={disabled} value={row.type ?? ""} onChange={(event) => onChange({ type: event.target.value as InputType })}>
              {row.type === null && <option value="" disabled>{t("type_unknown")}</option>}
              {TYPES.map((type) => <option key={type} value={type}>{t(`type_${type}`)}</option>)}
            </Select>
          )}
        </Field>
        <div className="flex h-9 items-center gap-2 max-md:h-10">
          <Checkbox checked={row.required} disabled={disabled} onChange={(required) => onChange({ required })} label={t("input_needed")} />
          {!disabled && <IconButton size="sm" label={t("input_remove", { name: row.name })} onClick={onRemove}><X /></IconButton>}
        </div>
      </div>
      <div className="grid gap-2 sm:grid-cols-2">
        <Field label={t("input_about")}>{(p) => <Input {...p} disabled={disabled} value={row.description} placeholder={t("input_about_hint")} onChange={(event) => onChange({ description: event.target.value })} />}</Field>
        {row.type === "string" && <Field label={t("input_choices")}>{(p) => <Input {...p} disabled={disabled} placeholder={t("input_choices_hint")} value={choices ?? row.choices.join(", ")} onChange={(event) => (setChoices(event.target.value), onChange({ choices: event.target.value.split(",").map((one) => one.trim()).filter(Boolean) }))} onBlur={() => setChoices(null)} />}</Field>}
      </div>
    </li>
  );
}
