// What somebody put together about a domain, as a query.
import type { DomainInfo, FieldInfo, FieldKind } from "@/api/types";

export type Filter = { field: string; op: string; /** As typed; of `between` both, of `in` several, split by commas. */ value: string };
export type DateBy = "year" | "month" | "day";
export type Group = { field: string; by: DateBy | "" };
export type Fn = "count" | "sum" | "avg" | "min" | "max";
export type Num = { fn: Fn; field: string };
export type Built = { fields: string[]; where: Filter[]; order: { field: string; desc: boolean } | null; group: Group[]; aggregate: Num[]; limit: number };

export const PAGE = 50;
/** A chart is of all groups, not of a page of them. */
export const GROUPS = 500;
export const EMPTY: Built = { fields: [], where: [], order: null, group: [], aggregate: [], limit: PAGE };
export const LIMITS = [20, 50, 100, 500] as const;
export const FNS: readonly Fn[] = ["count", "sum", "avg", "min", "max"];

/** A field that a query may name: one of the domain, or over a relation. */
export type Choosable = { path: string; field: FieldInfo; /** Over a relation to many rows: a condition may stand on it, a column can't. */ many: boolean };

/** All fields of a domain and those one relation away. */
export function choosable(domain: DomainInfo, all: readonly DomainInfo[]): Choosable[] {
  const own = domain.fields.map((field) => ({ path: field.name, field, many: false }));
  const over = domain.relations.flatMap((relation) => {
    const other = all.find((one) => one.name === relation.domain);
    return (other?.fields ?? []).map((field) => ({ path: `${relation.name}.${field.name}`, field, many: relation.kind === "has_many" }));
  });
  return [...own, ...over];
}

export const valueless = (op: string): boolean => op === "is_null" || op === "not_null";
export const isTime = (kind: FieldKind): boolean => kind === "date" || kind === "datetime";

/** Functions that fit a kind; without a field rows are counted. */
export const fnsOf = (kind: FieldKind | null): readonly Fn[] => (kind === null ? ["count"] : kind === "int" || kind === "float" ? FNS : isTime(kind) ? ["count", "min", "max"] : ["count"]);

export type Problem = "value_missing" | "value_number" | "value_between";

/** One value as the field's kind has it. What is no number stays a text: the server says what is wrong with it. */
function valueOf(text: string, kind: FieldKind): unknown {
  const trimmed = text.trim();
  if (kind === "bool") return trimmed === "true" ? true : trimmed === "false" ? false : trimmed;
  if (kind === "int" || kind === "float") {
    const number = Number(trimmed);
    return trimmed !== "" && Number.isFinite(number) && (kind === "float" || Number.isSafeInteger(number)) ? number : trimmed;
  }
  return isTime(kind) ? trimmed : text;
}
const listOf = (text: string): string[] => text.split(",").map((part) => part.trim()).filter(Boolean);

/** What keeps a filter from being asked. */
export function problemOf(filter: Filter, kind: FieldKind): Problem | null {
  if (valueless(filter.op)) return null;
  const parts = filter.op === "in" || filter.op === "between" ? listOf(filter.value) : [filter.value.trim()].filter(Boolean);
  if (parts.length === 0) return "value_missing";
  if (filter.op === "between" && parts.length !== 2) return "value_between";
  if ((kind === "int" || kind === "float") && parts.some((part) => !Number.isFinite(Number(part)))) return "value_number";
  return null;
}

function conditionOf(filter: Filter, kind: FieldKind): object {
  const { field, op } = filter;
  if (valueless(op)) return { field, op };
  if (op === "in" || op === "between") return { field, op, value: listOf(filter.value).map((part) => valueOf(part, kind)) };
  return { field, op, value: valueOf(filter.value, kind) };
}

/** The name that a number has in the answer. */
export const nameOf = (num: Num): string => (num.field === "" ? "count" : `${num.fn}_${num.field.replaceAll(".", "_")}`);

/** The query; filters that are not finished are left out, and what the domain does not have. */
export function queryOf(built: Built, domain: string, fields: readonly Choosable[], after: string | null): Record<string, unknown> {
  const known = new Map(fields.map((one) => [one.path, one]));
  const where = built.where.flatMap((filter) => {
    const kind = known.get(filter.field)?.field.kind;
    return kind && problemOf(filter, kind) === null ? [conditionOf(filter, kind)] : [];
  });
  const group = built.group.filter((one) => known.has(one.field)).map(({ field, by }) => ({ field, ...(by && isTime(known.get(field)!.field.kind) && { by }) }));
  const aggregate = built.aggregate.filter((one) => one.field === "" || known.has(one.field)).map((one) => ({ fn: one.fn, ...(one.field && { field: one.field }), as: nameOf(one) }));
  const grouped = group.length > 0 || aggregate.length > 0;
  const columns = built.fields.filter((path) => known.has(path) && !known.get(path)!.many);
  const sorted = built.order && (grouped ? [...group.map((one) => one.field), ...aggregate.map((one) => one.as)] : fields.filter((one) => !one.many).map((one) => one.path)).includes(built.order.field);
  return {
    domain,
    ...(!grouped && columns.length > 0 && { fields: columns }),
    ...(where.length > 0 && { where }),
    ...(group.length > 0 && { group }),
    ...(aggregate.length > 0 ? { aggregate } : grouped ? { aggregate: [{ fn: "count", as: "count" }] } : {}),
    ...(sorted && { order: [{ field: built.order!.field, ...(built.order!.desc && { desc: true }) }] }),
    limit: built.limit,
    ...(after !== null && { after }),
  };
}

/** A header that is chosen sorts up, then down, then not at all. */
export const nextOrder = (order: Built["order"], field: string): Built["order"] => (order?.field !== field ? { field, desc: false } : order.desc ? null : { field, desc: true });

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);
const objects = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What stands in an address; anything else in it is left out. */
export function readBuilt(json: string): Built {
  let read: Record<string, unknown>;
  try {
    const value: unknown = JSON.parse(json || "{}");
    read = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    read = {};
  }
  const order = read.order as { field?: unknown; desc?: unknown } | null | undefined;
  return {
    fields: texts(read.fields),
    where: objects(read.where).map((one) => ({ field: text(one.field), op: text(one.op), value: text(one.value) })).filter((one) => one.field && one.op),
    order: order && typeof order.field === "string" ? { field: order.field, desc: order.desc === true } : null,
    group: objects(read.group).map((one) => ({ field: text(one.field), by: (["year", "month", "day"] as const).find((by) => by === one.by) ?? ("" as const) })).filter((one) => one.field),
    aggregate: objects(read.aggregate).flatMap((one) => { const fn = FNS.find((known) => known === one.fn); return fn ? [{ fn, field: text(one.field) }] : []; }),
    limit: typeof read.limit === "number" && Number.isInteger(read.limit) && read.limit >= 1 && read.limit <= 1000 ? read.limit : PAGE,
  };
}
/** The same for an address: what is as at first is left out. */
export function writeBuilt(built: Built): string {
  const entries = Object.entries(built).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(EMPTY[name as keyof Built]));
  return entries.length === 0 ? "" : JSON.stringify(Object.fromEntries(entries));
}
