// What somebody typed into the form of a record, and the change that it asks for.
import type { ChangeInput, DomainInfo, FieldKind, Row } from "@/api/types";
import { keyOf } from "./render";

/** What was typed, by field; fields that nobody touched are not in it. */
export type Draft = Record<string, string | boolean | null>;
export type FieldProblem = "bad_int" | "bad_number" | "bad_date" | "bad_datetime";

/** A value as a form shows it. */
export function typedOf(value: unknown, kind: FieldKind): string | boolean | null {
  if (kind === "bool") return typeof value === "boolean" ? value : null;
  if (value === null || value === undefined) return "";
  if (kind === "datetime") return String(value).replace(" ", "T");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

type Read = { value: unknown } | { problem: FieldProblem };
/** A typed text as its kind has it. Nothing typed is nothing, but for texts that had something. */
export function readTyped(typed: string | boolean | null, kind: FieldKind, before: unknown): Read {
  if (typeof typed === "boolean" || typed === null) return { value: typed };
  if (kind === "string" || kind === "text") return { value: typed === "" && (before === null || before === undefined) ? null : typed };
  const text = typed.trim();
  if (text === "") return { value: null };
  switch (kind) {
    case "int":
      if (!/^[+-]?\d+$/.test(text)) return { problem: "bad_int" };
      // What a float can't hold goes as a text, which the server reads exactly.
      return { value: Number.isSafeInteger(Number(text)) ? Number(text) : text };
    case "float": {
      const plain = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text.replace(",", ".")) : Number.NaN;
      return Number.isFinite(plain) ? { value: plain } : { problem: "bad_number" };
    }
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? { value: text } : { problem: "bad_date" };
    case "datetime":
      return /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/.test(text) ? { value: text } : { problem: "bad_datetime" };
    case "bool":
      return { value: text === "true" };
  }
}

const equal = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null) || (one !== null && other !== null && String(one) === String(other));

export type Wanted = { set: Row; problems: Record<string, FieldProblem> };
/** What differs from the record. Of a new one, what was typed and what it was given. */
export function wantedOf(draft: Draft, record: Row | null, domain: DomainInfo): Wanted {
  const set: Row = {};
  const problems: Wanted["problems"] = {};
  for (const field of domain.fields) {
    const typed = draft[field.name];
    if (typed === undefined) continue;
    const before = record?.[field.name];
    // As it was shown, untouched in the end.
    if (record && typed === typedOf(before, field.kind)) continue;
    const read = readTyped(typed, field.kind, before);
    if ("problem" in read) problems[field.name] = read.problem;
    else if (record ? !equal(read.value, before) : read.value !== null) set[field.name] = read.value;
  }
  return { set, problems };
}

export const isChanged = (wanted: Wanted): boolean => Object.keys(wanted.set).length > 0 || Object.keys(wanted.problems).length > 0;
/** The draft of a new record: values that tie it to another one are there already. */
export const draftOf = (preset: Row, domain: DomainInfo): Draft => Object.fromEntries(domain.fields.filter((field) => preset[field.name] !== undefined && preset[field.name] !== null).map((field) => [field.name, typedOf(preset[field.name], field.kind)]));

export function saveChange(domain: DomainInfo, record: Row | null, set: Row): ChangeInput | null {
  if (!record) return { change: "insert", domain: domain.name, set };
  const key = keyOf(domain, record);
  return key && { change: "update", domain: domain.name, key, set };
}
export function deleteChange(domain: DomainInfo, record: Row): ChangeInput | null {
  const key = keyOf(domain, record);
  return key && { change: "delete", domain: domain.name, key };
}
