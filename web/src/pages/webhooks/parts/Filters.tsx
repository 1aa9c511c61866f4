import { Plus, X } from "lucide-react";
import { useId } from "react";
import { useT } from "@/i18n";
import { Button, IconButton, Input, Select } from "@/ui";
import { emptyRow, type FilterRow, type PlaceKind, problemsOfRow, takesValue, type Test, TESTS } from "./filters";
import { type Field, MOST_FILTERS } from "./form";

type Props = { rows: FilterRow[]; problem: (field: Field) => string | undefined; onChange: (rows: FilterRow[]) => void };

const mono = { autoComplete: "off", spellCheck: false, className: "font-mono text-sm max-sm:col-start-1" } as const;

/** What calls must hold to start a run. */
export function Filters({ rows, problem, onChange }: Props) {
  const t = useT("webhooks");
  const id = useId();
  const change = (key: number, patch: Partial<FilterRow>) => onChange(rows.map((row) => (row.key === key ? { ...row, ...patch } : row)));
  const add = () => {
    const row = emptyRow();
    onChange([...rows, row]);
    setTimeout(() => document.getElementById(`${id}-${row.key}`)?.focus());
  };
  const whole = problem("filters");
  return (
    <fieldset className="flex min-w-0 flex-col gap-2" aria-describedby={`${id}-about`}>
      <legend className="mb-1.5 text-sm font-medium">{t("filters")}</legend>
      <p id={`${id}-about`} className="text-xs text-ink-3">{t("filters_hint")}</p>
      {rows.length > 0 && (
        <ul className="flex flex-col gap-3">
          {rows.map((row, index) => <Row key={row.key} id={`${id}-${row.key}`} row={row} number={index + 1} error={problem(`filter${index}`)} onChange={(patch) => change(row.key, patch)} onRemove={() => onChange(rows.filter((one) => one !== row))} />)}
        </ul>
      )}
      {rows.some((row) => takesValue(row.test)) && <p className="text-xs text-ink-3">{t("value_hint")}</p>}
      {whole && <p role="alert" className="text-xs text-bad">{whole}</p>}
      {rows.length < MOST_FILTERS && <Button size="sm" className="self-start" icon={<Plus aria-hidden className="size-4" />} onClick={add}>{t("filter_add")}</Button>}
    </fieldset>
  );
}

/** `id`: of what is typed first. */
function Row({ id, row, number, error, onChange, onRemove }: { id: string; row: FilterRow; number: number; error: string | undefined; onChange: (patch: Partial<FilterRow>) => void; onRemove: () => void }) {
  const t = useT("webhooks");
  const name = t("filter", { n: number });
  const about = error ? { "aria-describedby": `${id}-error` } : {};
  // What the server refuses may be either.
  const wrong = error ? problemsOfRow(row) : {};
  const at = (part: "place" | "value") => (error && (part in wrong || Object.keys(wrong).length === 0) ? { ...about, "aria-invalid": true as const } : about);
  return (
    <li>
      <div role="group" aria-label={name} className="grid gap-2 max-sm:grid-cols-[1fr_auto] sm:grid-cols-[7rem_minmax(0,1fr)_7.5rem_minmax(0,1fr)_auto]">
        <Select aria-label={`${name}: ${t("filter_kind")}`} value={row.kind} onChange={(event) => onChange({ kind: event.target.value as PlaceKind })}>{(["pointer", "header"] as const).map((kind) => <option key={kind} value={kind}>{t(`place_${kind}`)}</option>)}</Select>
        <Input id={id} {...mono} {...at("place")} aria-label={`${name}: ${t("filter_place")}`} placeholder={row.kind === "header" ? "x-github-event" : "/action"} value={row.place} onChange={(event) => onChange({ place: event.target.value })} />
        <Select aria-label={`${name}: ${t("filter_test")}`} className="max-sm:col-start-1" value={row.test} onChange={(event) => onChange({ test: event.target.value as Test })}>{TESTS.map((test) => <option key={test} value={test}>{t(`test_${test}`)}</option>)}</Select>
        {takesValue(row.test) ? <Input {...mono} {...at("value")} aria-label={`${name}: ${t("filter_value")}`} placeholder={row.test === "one_of" ? t("values_placeholder") : row.kind === "header" ? "issues" : "opened"} value={row.value} onChange={(event) => onChange({ value: event.target.value })} /> : <span className="max-sm:hidden" />}
        <IconButton label={t("filter_remove", { n: number })} className="max-sm:col-start-2 max-sm:row-start-1" onClick={onRemove}><X /></IconButton>
      </div>
      {error && <p id={`${id}-error`} role="alert" className="mt-1 text-xs text-bad">{error}</p>}
    </li>
  );
}
