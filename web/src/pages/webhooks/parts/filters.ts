// Filters of a webhook as rows of its form, and places in a call.
import type { HookFilter, HookPlace } from "@/api/types";

export type PlaceKind = "pointer" | "header";
export const TESTS = ["equals", "one_of", "contains", "exists", "missing"] as const;
export type Test = (typeof TESTS)[number];
export type FilterRow = {
  /** Tells rows apart while they move. */
  key: number;
  kind: PlaceKind;
  place: string;
  test: Test;
  value: string;
};
export type PlaceProblem = "pointer_bad" | "header_bad";
export type ValueProblem = "value_missing" | "values_missing";

let rows = 0;
export const emptyRow = (): FilterRow => ({ key: ++rows, kind: "pointer", place: "", test: "equals", value: "" });

/** Whether a test is of a value that one types. */
export const takesValue = (test: Test): boolean => test !== "exists" && test !== "missing";

/** What is typed as JSON, where it is some; else as the text that it is. */
export function readValue(typed: string): unknown {
  const text = typed.trim();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What is typed for a value, so that it is read as the same again. */
export function writeValue(value: unknown): string {
  return typeof value === "string" && value !== "" && readValue(value) === value ? value : JSON.stringify(value);
}

/** A list in JSON, or values with commas between. */
export function readValues(typed: string): unknown[] {
  const whole = readValue(typed);
  if (Array.isArray(whole)) return whole;
  return typed.split(",").filter((part) => part.trim() !== "").map(readValue);
}

export function writeValues(values: readonly unknown[]): string {
  const plain = values.map(writeValue).join(", ");
  return JSON.stringify(readValues(plain)) === JSON.stringify(values) ? plain : JSON.stringify(values);
}

/** What is wrong with a place. A pointer may be empty: it means all of the payload. */
export function problemOfPlace(kind: PlaceKind, place: string): PlaceProblem | undefined {
  if (kind === "header") return /^[\w!#$%&'*+.^`|~-]+$/.test(place.trim()) ? undefined : "header_bad";
  return /^(\/([^~]|~[01])*)?$/.test(place.trim()) ? undefined : "pointer_bad";
}

export function problemsOfRow({ kind, place, test, value }: FilterRow): { place?: PlaceProblem; value?: ValueProblem } {
  const wrong = problemOfPlace(kind, place);
  const empty = takesValue(test) && (test === "one_of" ? readValues(value).length === 0 : value.trim() === "");
  return { ...(wrong && { place: wrong }), ...(empty && { value: test === "one_of" ? ("values_missing" as const) : ("value_missing" as const) }) };
}

export const placeOf = (kind: PlaceKind, place: string): HookPlace => ({ [kind]: place.trim() });

export function filterOf({ kind, place, test, value }: FilterRow): HookFilter {
  const at = placeOf(kind, place);
  switch (test) {
    case "equals":
      return { ...at, equals: readValue(value) };
    case "one_of":
      return { ...at, one_of: readValues(value) };
    case "contains":
      return { ...at, contains: value };
    default:
      return { ...at, exists: test === "exists" };
  }
}

export function rowOf(filter: HookFilter): FilterRow {
  const header = filter.header !== undefined;
  const at = { ...emptyRow(), kind: header ? ("header" as const) : ("pointer" as const), place: (header ? filter.header : filter.pointer) ?? "" };
  if (filter.one_of !== undefined) return { ...at, test: "one_of", value: writeValues(filter.one_of) };
  if (filter.contains !== undefined) return { ...at, test: "contains", value: filter.contains };
  if (filter.exists !== undefined) return { ...at, test: filter.exists ? "exists" : "missing" };
  return { ...at, value: writeValue(filter.equals) };
}
