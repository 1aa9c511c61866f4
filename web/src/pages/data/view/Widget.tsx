import { useId } from "react";
import { useChoices } from "@/api/hooks";
import type { FieldInfo, Widget as Part } from "@/api/types";
import { useT } from "@/i18n";
import { Checkbox, Field, Input, Select, Textarea } from "@/ui";

type Typed = string | boolean | null;
type Props = { part: Part; domain: string; field: FieldInfo | undefined; value: Typed; disabled: boolean; problem: string | undefined; onChange: (value: Typed) => void };

/** One input of a form, as the view has it; the field's kind decides what a date or a choice takes. */
export function Widget({ part, domain, field, value, disabled, problem, onChange }: Props) {
  const t = useT("data");
  if (!field) return <p className="text-sm text-warn">{t("field_gone", { field: part.field })}</p>;
  const label = field.name;
  const common = { disabled, error: problem, label };
  const text = typeof value === "string" ? value : value === null ? "" : String(value);
  if (part.kind === "checkbox" && field.kind === "bool") return <Checkbox className="self-end pb-2" label={label} checked={value === true} disabled={disabled} onChange={onChange} />;
  if (part.kind === "select" || field.kind === "bool") return <Choose {...{ domain, field, text, value, disabled, label, onChange }} />;
  const type = field.kind === "date" ? "date" : field.kind === "datetime" ? "datetime-local" : "text";
  const numeric = field.kind === "int" || field.kind === "float";
  return (
    <Field label={common.label} error={problem}>
      {(p) =>
        part.kind === "textarea" ? (
          <Textarea {...p} value={text} disabled={disabled} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <Input {...p} type={type} {...(type === "datetime-local" && { step: 1 })} {...(numeric && { inputMode: "decimal" as const, className: "tabular" })} value={type === "datetime-local" ? text.slice(0, 19) : text} disabled={disabled} onChange={(event) => onChange(event.target.value)} />
        )
      }
    </Field>
  );
}

function Choose({ domain, field, text, value, disabled, label, onChange }: { domain: string; field: FieldInfo; text: string; value: Typed; disabled: boolean; label: string; onChange: (value: Typed) => void }) {
  const t = useT("data");
  const list = useId();
  const bool = field.kind === "bool";
  const choices = useChoices(domain, field.name, field.choices && !bool);
  // Without a list of choices anything may be written.
  if (!bool && !field.choices) return <Field label={label}>{(p) => <Input {...p} value={text} disabled={disabled} onChange={(event) => onChange(event.target.value)} />}</Field>;
  const options = bool ? [{ value: "true", label: t("yes") }, { value: "false", label: t("no") }] : (choices.data ?? []).map((one) => ({ value: String(one.value), label: one.label }));
  const current = bool ? (value === null ? "" : String(value)) : text;
  const unknown = current !== "" && !options.some((one) => one.value === current);
  const change = (next: string) => onChange(bool ? (next === "" ? null : next === "true") : next);
  const hint = choices.isError ? t("choices_failed") : choices.isLoading ? t("loading_choices") : undefined;
  // A long list is looked through by typing.
  if (options.length > 200) {
    return (
      <Field label={label} hint={options.find((one) => one.value === current)?.label ?? hint}>
        {(p) => <><Input {...p} list={list} value={current} disabled={disabled} onChange={(event) => change(event.target.value)} /><datalist id={list}>{options.map((one) => <option key={one.value} value={one.value}>{one.label}</option>)}</datalist></>}
      </Field>
    );
  }
  return (
    <Field label={label} hint={hint}>
      {(p) => (
        <Select {...p} value={current} disabled={disabled} onChange={(event) => change(event.target.value)}>
          <option value="">–</option>
          {unknown && <option value={current}>{current}</option>}
          {options.map((one) => <option key={one.value} value={one.value}>{one.label}</option>)}
        </Select>
      )}
    </Field>
  );
}
