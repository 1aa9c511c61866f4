// A form from a JSON Schema: for a type's settings and for the arguments of a trial.
import { Plus, X } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { useT } from "@/i18n";
import { Button, cx, Field as Labelled, IconButton, Input, Select, Switch, Textarea } from "@/ui";
import { Fold } from "@/run/cards/text";
import { JsonField } from "./JsonField";
import { type Field, type Json, put, type Shape, turned } from "./schema";

type Common = {
  disabled?: boolean;
  /** What is wrong, by the field's path. */
  problems: Record<string, string | undefined>;
  /** Values to choose from, by the field's path. */
  suggestions?: Record<string, readonly string[]>;
  onSound?: ((id: string, sound: boolean) => void) | undefined;
};
type FormProps = Common & { fields: readonly Field[]; value: Json; onChange: (value: Json) => void; path?: string; /** Fields that are seldom wanted stand behind a fold. */ folds?: boolean };

export function SchemaForm({ fields, value, onChange, path = "", folds, ...common }: FormProps) {
  const t = useT("skills");
  const seldom = (field: Field) => !field.required && (value[field.name] === undefined || value[field.name] === null || (Array.isArray(value[field.name]) && (value[field.name] as unknown[]).length === 0)) && !(field.shape.is === "text" && field.shape.media !== null && field.shape.media !== "text/plain");
  // Decided once, so that no field jumps while one types.
  const [hidden] = useState(() => (folds && fields.some((field) => !seldom(field)) ? fields.filter(seldom).map((field) => field.name) : []));
  const one = (field: Field) => <Control key={field.name} field={field} path={path + field.name} value={value[field.name] ?? undefined} onChange={(next) => onChange(put(value, field.name, next))} {...common} />;
  const later = fields.filter((field) => hidden.includes(field.name));
  const wrong = later.some((field) => Object.keys(common.problems).some((name) => name === path + field.name || name.startsWith(`${path}${field.name}.`)));
  return (
    <>
      {fields.filter((field) => !hidden.includes(field.name)).map(one)}
      {later.length > 0 && <Fold key={String(wrong)} open={wrong} summary={t("more_settings", { count: later.length })}><div className="mt-3 flex flex-col gap-4 border-l border-line-2 pl-4">{later.map(one)}</div></Fold>}
    </>
  );
}

type ControlProps = Common & { field: Field; path: string; value: unknown; onChange: (value: unknown) => void };

const usualText = (usual: unknown) => (usual === undefined ? undefined : typeof usual === "string" ? usual : JSON.stringify(usual));

function Control({ field, path, value, onChange, disabled, problems, suggestions, onSound }: ControlProps) {
  const t = useT("skills");
  const listId = useId();
  const { shape, label, usual } = field;
  const error = problems[path];
  const hint = [field.required && usual === undefined && t("needed_hint"), field.hint, usual !== undefined && shape.is !== "flag" && t("usually", { value: usualText(usual) ?? "" })].filter(Boolean).join(" ");
  const about = { label, hint, error };
  const off = disabled ?? false;
  switch (shape.is) {
    case "const":
      return null;
    case "flag":
      return <div><Switch checked={typeof value === "boolean" ? value : usual === true} disabled={off} onChange={onChange} label={label} hint={field.hint} />{error && <p role="alert" className="mt-1 text-xs text-bad">{error}</p>}</div>;
    case "choice":
      return <Labelled {...about}>{(p) => <Select {...p} disabled={off} value={value === undefined ? "" : JSON.stringify(value)} onChange={(event) => onChange(event.target.value === "" ? undefined : JSON.parse(event.target.value))}><option value="">{t("not_set")}</option>{shape.options.map((option) => <option key={JSON.stringify(option)} value={JSON.stringify(option)}>{usualText(option)}</option>)}</Select>}</Labelled>;
    case "number":
      return <Labelled {...about}>{(p) => <Input {...p} type="number" inputMode={shape.whole ? "numeric" : "decimal"} step={shape.whole ? 1 : "any"} min={shape.min} max={shape.max} disabled={off} className="max-w-48 tabular" placeholder={usualText(usual)} value={typeof value === "number" ? value : ""} onChange={(event) => onChange(Number.isNaN(event.target.valueAsNumber) ? undefined : event.target.valueAsNumber)} />}</Labelled>;
    case "text": {
      const offered = suggestions?.[path] ?? shape.suggestions;
      const text = typeof value === "string" ? value : "";
      const change = (next: string) => onChange(next === "" && !field.required ? undefined : next);
      if (shape.media !== null || text.includes("\n")) {
        const code = shape.media !== null && shape.media !== "text/markdown";
        return <Labelled {...about}>{(p) => <Textarea {...p} disabled={off} spellCheck={!code} rows={shape.media?.startsWith("text/plain") ? 2 : 6} maxRows={26} className={cx(code && "font-mono text-sm")} placeholder={usualText(usual)} value={text} onChange={(event) => change(event.target.value)} />}</Labelled>;
      }
      return (
        <Labelled {...about}>
          {(p) => (
            <>
              <Input {...p} disabled={off} autoComplete="off" spellCheck={false} placeholder={usualText(usual)} {...(offered.length > 0 && { list: listId })} value={text} onChange={(event) => change(event.target.value)} />
              {offered.length > 0 && <datalist id={listId}>{offered.map((one) => <option key={one} value={one} />)}</datalist>}
            </>
          )}
        </Labelled>
      );
    }
    case "list":
      return <ListControl of={shape.of} label={label} hint={hint} error={error} value={Array.isArray(value) ? value : []} disabled={off} onChange={(next) => onChange(next.length === 0 && !field.required ? undefined : next)} />;
    case "pairs":
      return <Pairs label={label} hint={hint} error={error} value={typeof value === "object" && value !== null ? (value as Json) : {}} disabled={off} onChange={(next) => onChange(Object.keys(next).length === 0 && !field.required ? undefined : next)} />;
    case "object":
      return <Group label={label} hint={hint} error={error}><SchemaForm fields={shape.fields} value={(value as Json | undefined) ?? {}} path={`${path}.`} onChange={onChange} disabled={off} problems={problems} onSound={onSound} {...(suggestions && { suggestions })} /></Group>;
    case "variants":
      return <Variants shape={shape} label={label} hint={hint} error={error} optional={!field.required} value={value as Json | undefined} path={`${path}.`} onChange={onChange} disabled={off} problems={problems} onSound={onSound} {...(suggestions && { suggestions })} />;
    case "json":
      return <JsonField label={label} hint={[hint, t("as_json")].filter(Boolean).join(" ")} error={error} value={value} disabled={off} rows={2} onChange={onChange} onSound={onSound} />;
  }
}

function Group({ label, hint, error, children }: { label: string; hint?: string; error?: string | undefined; children: ReactNode }) {
  const id = useId();
  return (
    <fieldset className="min-w-0" aria-describedby={hint || error ? id : undefined}>
      <legend className="text-sm font-medium">{label}</legend>
      <div className="mt-1.5 flex flex-col gap-3 border-l border-line-2 pl-3">{children}</div>
      {(hint || error) && <p id={id} role={error ? "alert" : undefined} className={cx("mt-1.5 text-xs", error ? "text-bad" : "text-ink-3")}>{error || hint}</p>}
    </fieldset>
  );
}

type Variation = Shape & { is: "variants" };

/** Objects that one field tells apart. */
export function Variants({ shape, label, hint, error, optional, value, path, onChange, ...common }: Common & { shape: Variation; label: string; hint?: string; error?: string | undefined; optional: boolean; value: Json | undefined; path: string; onChange: (value: Json | undefined) => void }) {
  const t = useT("skills");
  const chosen = shape.variants.find((variant) => variant.value === value?.[shape.tag]);
  return (
    <>
      <Labelled label={label} hint={hint} error={error}>
        {(p) => (
          <Select {...p} disabled={common.disabled ?? false} value={chosen?.value ?? ""} onChange={(event) => onChange(event.target.value === "" ? undefined : turned(value ?? {}, shape, event.target.value))}>
            {(optional || !chosen) && <option value="">{t("not_set")}</option>}
            {shape.variants.map((variant) => <option key={variant.value} value={variant.value}>{variant.value}</option>)}
          </Select>
        )}
      </Labelled>
      {chosen && value && <SchemaForm key={chosen.value} fields={chosen.fields} value={value} path={path} onChange={onChange} {...common} />}
    </>
  );
}

function ListControl({ of, label, hint, error, value, disabled, onChange }: { of: Shape; label: string; hint: string; error: string | undefined; value: unknown[]; disabled: boolean; onChange: (value: unknown[]) => void }) {
  const t = useT("skills");
  const set = (at: number, next: unknown) => onChange(value.map((one, index) => (index === at ? next : one)));
  const first = of.is === "number" ? (of.min ?? 0) : of.is === "choice" ? of.options[0] : "";
  return (
    <Group label={label} hint={hint} error={error}>
      {value.map((one, at) => {
        const name = t("nth", { name: label, n: at + 1 });
        return (
          <div key={at} className="flex items-center gap-1">
            {of.is === "choice" ? (
              <Select aria-label={name} disabled={disabled} value={JSON.stringify(one)} onChange={(event) => set(at, JSON.parse(event.target.value))}>{of.options.map((option) => <option key={JSON.stringify(option)} value={JSON.stringify(option)}>{usualText(option)}</option>)}</Select>
            ) : of.is === "number" ? (
              <Input aria-label={name} type="number" step={of.whole ? 1 : "any"} disabled={disabled} className="max-w-40" value={typeof one === "number" ? one : ""} onChange={(event) => set(at, Number.isNaN(event.target.valueAsNumber) ? null : event.target.valueAsNumber)} />
            ) : (
              <Input aria-label={name} disabled={disabled} autoComplete="off" spellCheck={false} className="font-mono text-sm" value={typeof one === "string" ? one : JSON.stringify(one)} onChange={(event) => set(at, event.target.value)} />
            )}
            {!disabled && <IconButton size="sm" label={t("remove_nth", { name: label, n: at + 1 })} onClick={() => onChange(value.filter((_, index) => index !== at))}><X /></IconButton>}
          </div>
        );
      })}
      {!disabled && <Button size="sm" className="self-start" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => onChange([...value, first])}>{t("add_to", { name: label })}</Button>}
    </Group>
  );
}

/** Names and texts, such as headers. Rows live here, so that a name may be empty or double while one types. */
function Pairs({ label, hint, error, value, disabled, onChange }: { label: string; hint: string; error: string | undefined; value: Json; disabled: boolean; onChange: (value: Json) => void }) {
  const t = useT("skills");
  const [rows, setRows] = useState<[string, string][]>(() => Object.entries(value).map(([name, one]) => [name, typeof one === "string" ? one : JSON.stringify(one)]));
  const pass = (next: [string, string][]) => {
    setRows(next);
    onChange(Object.fromEntries(next.filter(([name]) => name !== "")));
  };
  return (
    <Group label={label} hint={hint} error={error}>
      {rows.map(([name, text], at) => (
        <div key={at} className="flex items-center gap-1">
          <Input aria-label={t("pair_name", { name: label, n: at + 1 })} disabled={disabled} autoComplete="off" spellCheck={false} className="max-w-44 font-mono text-sm" value={name} onChange={(event) => pass(rows.map((row, index) => (index === at ? [event.target.value, row[1]] : row)))} />
          <Input aria-label={t("pair_value", { name: label, n: at + 1 })} disabled={disabled} autoComplete="off" spellCheck={false} className="font-mono text-sm" value={text} onChange={(event) => pass(rows.map((row, index) => (index === at ? [row[0], event.target.value] : row)))} />
          {!disabled && <IconButton size="sm" label={t("remove_nth", { name: label, n: at + 1 })} onClick={() => pass(rows.filter((_, index) => index !== at))}><X /></IconButton>}
        </div>
      ))}
      {!disabled && <Button size="sm" className="self-start" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setRows([...rows, ["", ""]])}>{t("add_to", { name: label })}</Button>}
    </Group>
  );
}
