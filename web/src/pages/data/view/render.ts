// What a view asks for: which rows, which columns, what a click opens, and what may be done.
import type { AnswerColumn, Button, DomainInfo, FieldInfo, Row, TablePart, Target, View, Widget } from "@/api/types";

/** Which row a view is about: some fields with their values, a new one, or none. */
export type At = { kind: "row"; where: Row } | { kind: "new"; preset: Row } | null;
/** A view with the row that it is about. */
export type Place = { view: string; at: At };
export type Tab = { id: number; stack: Place[] };
export type Tabs = { tabs: Tab[]; active: number; next: number };

export const firstTabs = (view: string, at: At): Tabs => ({ tabs: [{ id: 1, stack: [{ view, at }] }], active: 1, next: 2 });
export const topOf = (tab: Tab): Place => tab.stack.at(-1)!;
const same = (one: Place, other: Place): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Opens a view: as a tab beside the others, or in the place of the one that is shown, with a way back. */
export function openPlace(state: Tabs, place: Place, asTab: boolean): Tabs {
  if (!asTab) return { ...state, tabs: state.tabs.map((tab) => (tab.id === state.active ? { ...tab, stack: [...tab.stack, place] } : tab)) };
  // A new row is another one each time.
  const open = place.at?.kind === "new" ? undefined : state.tabs.find((tab) => same(topOf(tab), place));
  if (open) return { ...state, active: open.id };
  return { tabs: [...state.tabs, { id: state.next, stack: [place] }], active: state.next, next: state.next + 1 };
}
export const replaceTop = (state: Tabs, id: number, at: At): Tabs => ({ ...state, tabs: state.tabs.map((tab) => (tab.id === id ? { ...tab, stack: [...tab.stack.slice(0, -1), { ...topOf(tab), at }] } : tab)) });
export const goBack = (state: Tabs): Tabs => ({ ...state, tabs: state.tabs.map((tab) => (tab.id === state.active && tab.stack.length > 1 ? { ...tab, stack: tab.stack.slice(0, -1) } : tab)) });
/** The first tab stays; a closed one gives its place to the one before it. */
export function closeTab(state: Tabs, id: number): Tabs {
  const at = state.tabs.findIndex((tab) => tab.id === id);
  if (at <= 0) return state;
  const tabs = state.tabs.filter((tab) => tab.id !== id);
  return { ...state, tabs, active: state.active === id ? tabs[at - 1]!.id : state.active };
}

const has = (domain: DomainInfo, field: string) => domain.fields.some((one) => one.name === field);
const unique = (names: string[]) => [...new Set(names)];

/** The columns of a table: those that the view names and the domain has; none are all. */
export function columnsOf(part: TablePart, domain: DomainInfo) {
  const named = part.columns.filter((column) => has(domain, column.field));
  return part.columns.length > 0 ? named : domain.fields.map((field) => ({ field: field.name, label: field.name, width: null, format: null }));
}

/** What a click on a row does: it opens another view, or fills this one's form, or nothing. */
export type Select = { kind: "open"; target: Target } | { kind: "fill" } | null;
export function selectOf(view: View, part: TablePart): Select {
  if (part.on_select) return { kind: "open", target: part.on_select };
  return part.domain === view.domain && view.sections.length > 0 ? { kind: "fill" } : null;
}

/** The fields that a table needs: those it shows, and those that tell its rows apart. */
export function fieldsOf(view: View, part: TablePart, domain: DomainInfo): string[] {
  const bind = part.on_select?.bind;
  return unique([...columnsOf(part, domain).map((column) => column.field), ...domain.key, ...(bind && has(domain, bind) ? [bind] : []), ...(part.domain !== view.domain ? [] : widgetsOf(view).map((widget) => widget.field).filter((field) => has(domain, field)))]);
}

export const widgetsOf = (view: View): Widget[] => view.sections.flatMap((section) => section.rows.flat());

/** How a table's rows belong to the record that the view is about. `all`: to none; `wait`: there is no record yet; `lost`: the domain has no relation to them. */
export type Related = { kind: "all" } | { kind: "wait" } | { kind: "lost" } | { kind: "where"; where: { field: string; op: string; value?: unknown }[] };
export function relatedOf(view: View, part: TablePart, domain: DomainInfo | undefined, record: Row | null): Related {
  if (part.domain === view.domain) return { kind: "all" };
  const relation = domain?.relations.find((one) => one.domain === part.domain);
  if (!relation) return { kind: "lost" };
  if (!record) return { kind: "wait" };
  const where = relation.bind.map(([local, foreign]) => (record[local] === null || record[local] === undefined ? { field: foreign, op: "is_null" } : { field: foreign, op: "eq", value: record[local] }));
  // Nothing belongs to a record without a value to belong by.
  return where.some((one) => one.op === "is_null") ? { kind: "wait" } : { kind: "where", where };
}

/** What picks the row of the target: the field that it is bound by, or the key. `null`: the row does not say. */
export function placeOf(target: Target, row: Row, listed: DomainInfo, shown: DomainInfo | undefined): Place | null {
  const to = shown ?? listed;
  const keys = target.bind ? [target.bind] : listed.key;
  const values = keys.map((key): [string, unknown] => [has(to, key) ? key : to.key.length === 1 ? to.key[0]! : key, row[key]]);
  if (values.length === 0 || values.some(([, value]) => value === null || value === undefined)) return null;
  return { view: target.view, at: { kind: "row", where: Object.fromEntries(values) } };
}

/** The query for the row that a view is about. */
export const recordQuery = (domain: DomainInfo, where: Row): object => ({ domain: domain.name, fields: domain.fields.map((field) => field.name), where: Object.entries(where).map(([field, value]) => ({ field, op: "eq", value })), limit: 1 });
export const rowOf = (columns: readonly AnswerColumn[], values: readonly unknown[]): Row => Object.fromEntries(columns.map((column, at) => [column.name, values[at] ?? null]));
/** The key of a row; `null`: it can't be named, so it can't be changed. */
export function keyOf(domain: DomainInfo, row: Row): Row | null {
  if (domain.key.length === 0 || domain.key.some((field) => row[field] === null || row[field] === undefined)) return null;
  return Object.fromEntries(domain.key.map((field) => [field, row[field]]));
}

/** A value for a new row of a related table: what ties it to the record. */
export function presetOf(domain: DomainInfo | undefined, to: string, record: Row | null): Row {
  const relation = domain?.relations.find((one) => one.domain === to);
  return relation && record ? Object.fromEntries(relation.bind.filter(([local]) => record[local] !== undefined).map(([local, foreign]) => [foreign, record[local]])) : {};
}

export type Why = "no_write" | "no_delete" | "no_record" | "no_change" | "no_key" | "no_form" | null;
/** Why a button can't be used now; `null`: it can. */
export function whyNot(button: Button, view: View, domain: DomainInfo, state: { record: Row | null; adding: boolean; changed: boolean; mayWork: boolean }): Why {
  const form = view.sections.length > 0;
  switch (button.action) {
    case "refresh":
      return null;
    case "new":
      return !domain.write || !state.mayWork ? "no_write" : button.target || form ? null : "no_form";
    case "save":
      if (!domain.write || !state.mayWork) return "no_write";
      if (!state.record && !state.adding) return "no_record";
      if (state.record && !state.adding && !keyOf(domain, state.record)) return "no_key";
      return state.changed ? null : "no_change";
    case "delete":
      if (!domain.delete || !state.mayWork) return "no_delete";
      if (!state.record || state.adding) return "no_record";
      return keyOf(domain, state.record) ? null : "no_key";
  }
}

/** Whether a field of a form can be typed in. */
export const editable = (field: FieldInfo | undefined, domain: DomainInfo, adding: boolean, mayWork: boolean): boolean => !!field && domain.write && mayWork && !field.readonly && (adding || !domain.key.includes(field.name));
