import { Columns3, Filter as FilterIcon, Plus, Sigma, X } from "lucide-react";
import { useT } from "@/i18n";
import { useChoices } from "@/api/hooks";
import type { DomainInfo, FieldKind } from "@/api/types";
import { Button, Checkbox, IconButton, Input, Popover, Select } from "@/ui";
import { type Built, type Choosable, type DateBy, EMPTY, type Filter, type Fn, fnsOf, GROUPS, isTime, LIMITS, PAGE, problemOf, valueless } from "./builder";

type Props = { domain: DomainInfo; fields: readonly Choosable[]; built: Built; onChange: (patch: Partial<Built>) => void };
const replaced = <T,>(list: readonly T[], at: number, value: T): T[] => list.map((one, index) => (index === at ? value : one));
const without = <T,>(list: readonly T[], at: number): T[] => list.filter((_, index) => index !== at);

/** Fields, filters, groups and numbers of a question about a domain. */
export function Builder({ domain, fields, built, onChange }: Props) {
  const t = useT("data");
  const filterable = fields.filter((one) => one.field.ops.length > 0);
  const first = filterable[0];
  const grouped = built.group.length > 0 || built.aggregate.length > 0;
  const columns = fields.filter((one) => !one.many);
  return (
    <section aria-label={t("question")} className="mb-4 flex flex-col gap-3 rounded-lg border border-line bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <Popover align="start" label={t("choose_fields")} trigger={<Button size="sm" icon={<Columns3 aria-hidden className="size-3.5" />} disabled={grouped}>{built.fields.length > 0 ? t("fields_chosen", { count: built.fields.length }) : t("fields_all")}</Button>}>
          <div role="group" aria-label={t("choose_fields")} className="flex max-h-80 flex-col gap-1.5 overflow-y-auto">
            {columns.map(({ path }) => {
              // None chosen are all of the domain's own.
              const chosen = built.fields.length > 0 ? built.fields : domain.fields.map((field) => field.name);
              return <Checkbox key={path} label={path} checked={chosen.includes(path)} onChange={(on) => onChange({ fields: on ? [...chosen, path] : chosen.filter((one) => one !== path) })} />;
            })}
            {built.fields.length > 0 && <Button size="sm" variant="quiet" onClick={() => onChange({ fields: [] })}>{t("fields_reset")}</Button>}
          </div>
        </Popover>
        <Button size="sm" icon={<FilterIcon aria-hidden className="size-3.5" />} disabled={!first} onClick={() => first && onChange({ where: [...built.where, { field: first.path, op: first.field.ops[0]!, value: "" }] })}>{t("add_filter")}</Button>
        <Button size="sm" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => columns[0] && onChange({ ...(built.group.length === 0 && built.limit === PAGE && { limit: GROUPS }), group: [...built.group, { field: columns.find((one) => !built.group.some((group) => group.field === one.path))?.path ?? columns[0].path, by: "" }] })}>{t("add_group")}</Button>
        <Button size="sm" icon={<Sigma aria-hidden className="size-3.5" />} onClick={() => onChange({ aggregate: [...built.aggregate, { fn: "count", field: "" }] })}>{t("add_number")}</Button>
        <span className="flex-1" />
        <label className="flex items-center gap-2 text-sm text-ink-3">{t("rows_a_page")}<Select small value={built.limit} onChange={(event) => onChange({ limit: Number(event.target.value) })}>{[...new Set([...LIMITS, built.limit])].sort((one, other) => one - other).map((limit) => <option key={limit}>{limit}</option>)}</Select></label>
        {JSON.stringify(built) !== JSON.stringify(EMPTY) && <Button size="sm" variant="quiet" onClick={() => onChange(EMPTY)}>{t("start_over")}</Button>}
      </div>
      {built.where.length > 0 && (
        <ul aria-label={t("filters")} className="flex flex-col gap-2">
          {built.where.map((filter, at) => <FilterLine key={at} domain={domain} fields={filterable} filter={filter} onChange={(next) => onChange({ where: replaced(built.where, at, next) })} onRemove={() => onChange({ where: without(built.where, at) })} />)}
        </ul>
      )}
      {built.group.length > 0 && (
        <ul aria-label={t("groups")} className="flex flex-col gap-2">
          {built.group.map((group, at) => {
            const kind = fields.find((one) => one.path === group.field)?.field.kind;
            return (
              <li key={at} className="flex flex-wrap items-center gap-2 text-sm">
                <span className="w-20 text-ink-3">{t("group_by")}</span>
                <FieldSelect label={t("group_field")} fields={columns} value={group.field} onChange={(field) => onChange({ group: replaced(built.group, at, { field, by: "" }) })} />
                {kind && isTime(kind) && <Select small aria-label={t("group_part")} value={group.by} onChange={(event) => onChange({ group: replaced(built.group, at, { ...group, by: event.target.value as DateBy | "" }) })}><option value="">{t("by_value")}</option>{(["year", "month", "day"] as const).map((by) => <option key={by} value={by}>{t(`by_${by}`)}</option>)}</Select>}
                <IconButton size="sm" label={t("remove_group")} onClick={() => onChange({ group: without(built.group, at) })}><X /></IconButton>
              </li>
            );
          })}
        </ul>
      )}
      {built.aggregate.length > 0 && (
        <ul aria-label={t("numbers")} className="flex flex-col gap-2">
          {built.aggregate.map((num, at) => {
            const kind = fields.find((one) => one.path === num.field)?.field.kind ?? null;
            return (
              <li key={at} className="flex flex-wrap items-center gap-2 text-sm">
                <span className="w-20 text-ink-3">{t("number")}</span>
                <Select small aria-label={t("number_fn")} value={num.fn} onChange={(event) => onChange({ aggregate: replaced(built.aggregate, at, { ...num, fn: event.target.value as Fn }) })}>{fnsOf(kind).map((fn) => <option key={fn} value={fn}>{t(`fn_${fn}`)}</option>)}</Select>
                <FieldSelect label={t("number_field")} none={t("of_rows")} fields={columns} value={num.field} onChange={(field) => { const now = fields.find((one) => one.path === field)?.field.kind ?? null; onChange({ aggregate: replaced(built.aggregate, at, { field, fn: fnsOf(now).includes(num.fn) ? num.fn : "count" }) }); }} />
                <IconButton size="sm" label={t("remove_number")} onClick={() => onChange({ aggregate: without(built.aggregate, at) })}><X /></IconButton>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

function FieldSelect({ label, none, fields, value, onChange }: { label: string; none?: string; fields: readonly Choosable[]; value: string; onChange: (path: string) => void }) {
  return <Select small aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>{none !== undefined && <option value="">{none}</option>}{fields.map((one) => <option key={one.path} value={one.path}>{one.path}</option>)}</Select>;
}

function FilterLine({ domain, fields, filter, onChange, onRemove }: { domain: DomainInfo; fields: readonly Choosable[]; filter: Filter; onChange: (filter: Filter) => void; onRemove: () => void }) {
  const t = useT("data");
  const of = fields.find((one) => one.path === filter.field);
  const problem = of && problemOf(filter, of.field.kind);
  const own = !filter.field.includes(".");
  const choices = useChoices(domain.name, filter.field, !!of?.field.choices && own && (filter.op === "eq" || filter.op === "ne"));
  const change = (path: string) => {
    const next = fields.find((one) => one.path === path);
    if (next) onChange({ field: path, op: next.field.ops.includes(filter.op) ? filter.op : next.field.ops[0]!, value: next.field.kind === of?.field.kind ? filter.value : "" });
  };
  return (
    <li className="flex flex-wrap items-center gap-2 text-sm">
      <FieldSelect label={t("filter_field")} fields={fields} value={filter.field} onChange={change} />
      <Select small aria-label={t("filter_op")} value={filter.op} onChange={(event) => onChange({ ...filter, op: event.target.value })}>{(of?.field.ops ?? [filter.op]).map((op) => <option key={op} value={op}>{t(`op_${op}` as "op_eq")}</option>)}</Select>
      {of && !valueless(filter.op) && <Value kind={of.field.kind} filter={filter} choices={choices.data?.map((one) => [String(one.value), one.label])} invalid={problem === "value_number" || problem === "value_between"} onChange={(value) => onChange({ ...filter, value })} />}
      <IconButton size="sm" label={t("remove_filter")} onClick={onRemove}><X /></IconButton>
      {!of ? <span className="text-warn">{t("field_gone", { field: filter.field })}</span> : problem && <span className="text-xs text-ink-3">{t(problem)}</span>}
    </li>
  );
}

function Value({ kind, filter, choices, invalid, onChange }: { kind: FieldKind; filter: Filter; choices: [string, string][] | undefined; invalid: boolean; onChange: (value: string) => void }) {
  const t = useT("data");
  const several = filter.op === "in" || filter.op === "between";
  const options: [string, string][] | undefined = several ? undefined : kind === "bool" ? [["true", t("yes")], ["false", t("no")]] : choices;
  if (options && options.length <= 200) return <Select small aria-label={t("filter_value")} value={filter.value} onChange={(event) => onChange(event.target.value)}><option value="">–</option>{options.map(([value, label]) => <option key={value} value={value}>{label}</option>)}</Select>;
  const type = !several && kind === "date" ? "date" : "text";
  const hint = filter.op === "between" ? t("hint_between") : filter.op === "in" ? t("hint_in") : kind === "datetime" ? "2026-01-31T14:00" : kind === "date" ? "2026-01-31" : undefined;
  return <Input aria-label={t("filter_value")} aria-invalid={invalid || undefined} type={type} placeholder={hint} value={filter.value} onChange={(event) => onChange(event.target.value)} className="h-7! w-56! text-sm max-md:w-full!" />;
}
