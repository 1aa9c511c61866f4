// The form of a webhook: its start, what is wrong with it, and what is sent.
import { ApiError } from "@/api/client";
import { lengthOf, limits, numbersOf, type Range, within } from "@/api/limits";
import type { Hook, HookInput, HookSigningKind } from "@/api/types";
import { filterOf, type FilterRow, placeOf, type PlaceKind, type PlaceProblem, problemOfPlace, problemsOfRow, rowOf, type ValueProblem } from "./filters";
import { AUTHORIZATION } from "./senders";

export const NAME = lengthOf(limits.HookInput.name);
export const REQUEST = lengthOf(limits.HookInput.request);
export const SECRET = lengthOf(limits.HookSecretInput.secret);
export const NOTE = lengthOf(limits.SchedulePauseInput.note);
export const BODY = lengthOf(limits.HookPreviewInput.body);
export const MOST_FILTERS = limits.HookInput.filters.maxItems;
export const RANGES = { window: numbersOf(limits.HookInput.window_seconds), failures: numbersOf(limits.HookInput.pause_after_failures) };

export type Form = {
  name: string;
  agent_id: string;
  request: string;
  kind: HookSigningKind;
  /** Where the token stands. */
  header: string;
  /** That of the sender; empty: one is made. */
  secret: string;
  filters: FilterRow[];
  /** Seconds. */
  window: string;
  /** Where the sender's id of an event stands; `own`: where its way of signing says. */
  id_kind: PlaceKind | "own";
  id_place: string;
  /** Empty: it never rests by itself. */
  failures: string;
};

export const emptyForm = (): Form => ({ name: "", agent_id: "", request: "", kind: "standard", header: AUTHORIZATION, secret: "", filters: [], window: "300", id_kind: "own", id_place: "", failures: "5" });

export function formOf(hook: Hook): Form {
  const { signing, event_id: id } = hook;
  return {
    ...emptyForm(),
    name: hook.name,
    agent_id: hook.agent_id,
    request: hook.request,
    kind: signing.kind,
    header: signing.header ?? AUTHORIZATION,
    filters: hook.filters.map(rowOf),
    window: String(hook.window_seconds),
    id_kind: id === null ? "own" : id.header === undefined ? "pointer" : "header",
    id_place: id?.header ?? id?.pointer ?? "",
    failures: hook.pause_after_failures === null ? "" : String(hook.pause_after_failures),
  };
}

const whole = (text: string): number | null => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : null);
const fits = (text: string, range: Range) => {
  const value = whole(text);
  return value !== null && within(value, range);
};

/** A filter's is that of its row. */
export type Field = "name" | "agent_id" | "request" | "signing" | "header" | "secret" | "filters" | "window" | "event_id" | "failures" | `filter${number}`;
export type Problem = "name_missing" | "agent_missing" | "request_missing" | "window_bad" | "failures_bad" | PlaceProblem | ValueProblem;

export function problemsOf(form: Form): Partial<Record<Field, Problem>> {
  const out: Partial<Record<Field, Problem>> = {};
  if (form.name.trim() === "") out.name = "name_missing";
  if (form.agent_id === "") out.agent_id = "agent_missing";
  if (form.request.trim() === "") out.request = "request_missing";
  const header = form.kind === "token" ? problemOfPlace("header", form.header) : undefined;
  if (header) out.header = header;
  form.filters.forEach((row, index) => {
    const { place, value } = problemsOfRow(row);
    const first = place ?? value;
    if (first) out[`filter${index}`] = first;
  });
  if (!fits(form.window, RANGES.window)) out.window = "window_bad";
  const id = form.id_kind === "own" ? undefined : problemOfPlace(form.id_kind, form.id_place);
  if (id) out.event_id = id;
  if (form.failures.trim() !== "" && !fits(form.failures, RANGES.failures)) out.failures = "failures_bad";
  return out;
}

/** What is sent of a form without problems. */
export function inputOf(form: Form): HookInput {
  return {
    name: form.name.trim(),
    agent_id: form.agent_id,
    request: form.request,
    signing: { kind: form.kind, ...(form.kind === "token" && { header: form.header.trim() }) },
    window_seconds: whole(form.window) ?? 300,
    event_id: form.id_kind === "own" ? null : placeOf(form.id_kind, form.id_place),
    filters: form.filters.map(filterOf),
    pause_after_failures: form.failures.trim() === "" ? null : whole(form.failures),
    secret: form.secret.trim() === "" ? null : form.secret.trim(),
  };
}

const PLACES: Record<string, Field> = { name: "name", agent_id: "agent_id", request: "request", signing: "signing", secret: "secret", filters: "filters", window_seconds: "window", event_id: "event_id", pause_after_failures: "failures" };
/** Where what the server refuses is said: `filters[0].pointer`, `filters.0`, `signing.header`. `null`: above the form. */
export function fieldOf(refused: string): Field | null {
  const [first = "", second = ""] = refused.split(/[.[\]]+/);
  if (first === "filters" && /^\d+$/.test(second)) return `filter${Number(second)}`;
  if (first === "signing" && second === "header") return "header";
  return PLACES[first] ?? null;
}

type Refused = { field: string; title: string; hint: string };
/** What the server says is wrong, as one text. Of what can't be read, its field and a hint that tells nothing more stand around a whole sentence. */
export function saidOf({ field, title, hint }: Refused): string {
  const begin = `\`${field}\`: `;
  if (title.startsWith(begin) && title.endsWith(".")) return title.slice(begin.length);
  return [title, hint].filter(Boolean).join(/[.!?]$/.test(title) ? " " : ". ");
}
/** What the server says is wrong with a secret; `undefined`: it's something else. */
export function secretSaid(error: unknown): string | undefined {
  const refused = error instanceof ApiError ? error.problems.find((one) => fieldOf(one.field) === "secret") : undefined;
  return refused && saidOf(refused);
}
