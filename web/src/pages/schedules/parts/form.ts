// The form of a schedule: its start, what is wrong with it, and what is sent.
import { lengthOf, limits, numbersOf, type Range, within } from "@/api/limits";
import type { OverlappingOccurrences, Schedule, ScheduleInput, ScheduleTiming, ScheduleWhen } from "@/api/types";
import { browserZone, instantOf, isZone, UNITS, type Unit, unitOf, wallOf } from "./times";

export const NAME = lengthOf(limits.ScheduleInput.name);
export const REQUEST = lengthOf(limits.ScheduleInput.request);
export const NOTE = lengthOf(limits.SchedulePauseInput.note);
export const WORDS = lengthOf(limits.SchedulePreviewInput.words);
export const RANGES = { jitter: numbersOf(limits.ScheduleWhen.jitter_seconds), grace: numbersOf(limits.ScheduleInput.grace_seconds), failures: numbersOf(limits.ScheduleInput.pause_after_failures) };

export const WAYS = ["words", "interval", "once", "cron", "rrule"] as const;
/** How one says when it is due. */
export type Way = (typeof WAYS)[number];
/** With their texts. */
export const OVERLAPS = { skip: "overlap_skip", queue_one: "overlap_queue", queue_all: "overlap_queue_all", cancel_other: "overlap_cancel", allow: "overlap_allow" } as const satisfies Record<OverlappingOccurrences, string>;

export type Form = {
  name: string;
  agent_id: string;
  request: string;
  way: Way;
  words: string;
  /** What was chosen where the words left something open. */
  chosen: ScheduleWhen | null;
  cron: string;
  /** A number of `unit`. */
  every: string;
  unit: Unit;
  /** By the wall clock, as the other times here. */
  at: string;
  rule: string;
  begin: string;
  zone: string;
  start: string;
  end: string;
  jitter: string;
  missed: "skip" | "once" | "all";
  /** Seconds. */
  caught: string;
  overlap: OverlappingOccurrences;
  grace: string;
  /** Empty: it never rests by itself. */
  failures: string;
};

export const emptyForm = (): Form => ({ name: "", agent_id: "", request: "", way: "words", words: "", chosen: null, cron: "", every: "", unit: "hours", at: "", rule: "", begin: "", zone: browserZone(), start: "", end: "", jitter: "0", missed: "once", caught: "3600", overlap: "skip", grace: "60", failures: "5" });

/** What says the same as `timing`, in the fields of its own way. */
export function fieldsOf(timing: ScheduleTiming, zone: string): Partial<Form> {
  switch (timing.kind) {
    case "cron":
      return { cron: timing.expression };
    case "interval": {
      const unit = unitOf(timing.every_seconds);
      return { every: String(timing.every_seconds / UNITS[unit]), unit };
    }
    case "once": {
      const at = /(Z|[+-]\d\d:?\d\d)$/.test(timing.at) ? Date.parse(timing.at) : Number.NaN;
      return { at: Number.isNaN(at) ? shortened(timing.at) : wallOf(at, zone) };
    }
    case "rrule":
      return { rule: timing.rule, begin: shortened(timing.begin) };
  }
}
const shortened = (wall: string) => wall.replace(/^(.{16}):00$/, "$1");

export function formOf(schedule: Schedule): Form {
  const { when, missed } = schedule;
  return {
    ...emptyForm(),
    name: schedule.name,
    agent_id: schedule.agent_id,
    request: schedule.request,
    way: when.timing.kind,
    ...fieldsOf(when.timing, when.zone),
    zone: when.zone,
    start: when.start == null ? "" : wallOf(when.start, when.zone),
    end: when.end == null ? "" : wallOf(when.end, when.zone),
    jitter: String(when.jitter_seconds),
    missed: missed.kind,
    ...(missed.kind === "all" && { caught: String(missed.within_seconds) }),
    overlap: schedule.overlap,
    grace: String(schedule.grace_seconds),
    failures: schedule.pause_after_failures === null ? "" : String(schedule.pause_after_failures),
  };
}

const whole = (text: string): number | null => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : null);
const fits = (text: string, range: Range) => {
  const value = whole(text);
  return value !== null && within(value, range);
};

/** The timing that the fields of the chosen way say. `before`: what is there, so that what was left as it is stays so. `null`: something is missing, or words have to be read. */
function timingOf(form: Form, before: ScheduleWhen | null): ScheduleTiming | null {
  const same = before?.timing.kind === form.way ? before.timing : null;
  switch (form.way) {
    case "words":
      return null;
    case "cron":
      return form.cron.trim() === "" ? null : { kind: "cron", expression: form.cron.trim() };
    case "interval": {
      const count = whole(form.every);
      return count === null || count < 1 ? null : { kind: "interval", every_seconds: count * UNITS[form.unit], ...(same?.kind === "interval" && same.anchor != null && { anchor: same.anchor }) };
    }
    case "once":
      // A moment with an offset stays one, unless another time was chosen.
      if (same?.kind === "once" && before?.zone === form.zone && fieldsOf(same, form.zone).at === form.at) return same;
      return form.at === "" ? null : { kind: "once", at: form.at };
    case "rrule":
      return form.rule.trim() === "" || form.begin === "" ? null : { kind: "rrule", rule: form.rule.trim(), begin: form.begin };
  }
}

/** What the fields say, without the words. `null`: see {@link timingOf}. */
export function whenOf(form: Form, before: ScheduleWhen | null): ScheduleWhen | null {
  if (form.way === "words") return form.chosen && completed(form.chosen, form);
  const timing = timingOf(form, before);
  return timing && completed({ timing, zone: form.zone.trim(), jitter_seconds: 0 }, form);
}

/** What was read from words, with what is set beside them. */
export function completed(when: ScheduleWhen, form: Form): ScheduleWhen {
  const start = form.start === "" ? (when.start ?? null) : instantOf(form.start, form.zone);
  const end = form.end === "" ? (when.end ?? null) : instantOf(form.end, form.zone);
  return { timing: when.timing, zone: when.zone, ...(start !== null && { start }), ...(end !== null && { end }), jitter_seconds: whole(form.jitter) ?? when.jitter_seconds };
}

export type Field = "name" | "agent_id" | "request" | "when" | "begin" | "zone" | "start" | "end" | "jitter" | "missed" | "overlap" | "grace" | "failures";
export type Problem = "name_missing" | "agent_missing" | "request_missing" | "words_missing" | "cron_missing" | "every_bad" | "at_missing" | "rule_missing" | "begin_missing" | "zone_missing" | "zone_unknown" | "jitter_bad" | "caught_bad" | "grace_bad" | "failures_bad";

function problemOfWhen(form: Form): Problem | undefined {
  const text = { words: form.words, cron: form.cron, interval: form.every, once: form.at, rrule: form.rule }[form.way];
  const missing = { words: "words_missing", cron: "cron_missing", interval: "every_bad", once: "at_missing", rrule: "rule_missing" } as const;
  if (form.way === "interval") return (whole(text) ?? 0) < 1 ? "every_bad" : undefined;
  return text.trim() === "" ? missing[form.way] : undefined;
}

export function problemsOf(form: Form): Partial<Record<Field, Problem>> {
  const out: Partial<Record<Field, Problem>> = {};
  if (form.name.trim() === "") out.name = "name_missing";
  if (form.agent_id === "") out.agent_id = "agent_missing";
  if (form.request.trim() === "") out.request = "request_missing";
  const when = problemOfWhen(form);
  if (when) out.when = when;
  if (form.way === "rrule" && form.begin === "") out.begin = "begin_missing";
  if (form.zone.trim() === "") out.zone = "zone_missing";
  // Without it nobody here knows when these are.
  else if ((form.start !== "" || form.end !== "") && !isZone(form.zone.trim())) out.zone = "zone_unknown";
  if (!fits(form.jitter, RANGES.jitter)) out.jitter = "jitter_bad";
  if (form.missed === "all" && (whole(form.caught) ?? 0) < 1) out.missed = "caught_bad";
  if (!fits(form.grace, RANGES.grace)) out.grace = "grace_bad";
  if (form.failures.trim() !== "" && !fits(form.failures, RANGES.failures)) out.failures = "failures_bad";
  return out;
}

/** What is sent of a form without problems. */
export function inputOf(form: Form, when: ScheduleWhen): ScheduleInput {
  return {
    name: form.name.trim(),
    agent_id: form.agent_id,
    request: form.request,
    when,
    missed: form.missed === "all" ? { kind: "all", within_seconds: whole(form.caught) ?? 0 } : { kind: form.missed },
    overlap: form.overlap,
    grace_seconds: whole(form.grace) ?? 60,
    pause_after_failures: form.failures.trim() === "" ? null : whole(form.failures),
  };
}

const PLACES: Record<string, Field> = { name: "name", agent_id: "agent_id", request: "request", zone: "zone", start: "start", end: "end", jitter_seconds: "jitter", missed: "missed", overlap: "overlap", grace_seconds: "grace", pause_after_failures: "failures", begin: "begin" };
/** Where what the server refuses is said. Of times it names the part first: `zone: …`. `null`: above the form. */
export function placeOf({ field, title }: { field: string; title: string }): Field | null {
  const [first = "", ...rest] = field.split(".");
  if (first === "words") return "when";
  if (first !== "when") return PLACES[first] ?? null;
  const part = rest.at(-1) ?? title.split(":")[0] ?? "";
  return ["zone", "start", "end", "jitter_seconds", "begin"].includes(part) ? (PLACES[part] as Field) : "when";
}
