import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schedule, ScheduleTiming, ScheduleWhen } from "@/api/types";
import { completed, emptyForm, type Form, formOf, inputOf, placeOf, problemsOf, whenOf } from "./form";

const SOUND: Form = { ...emptyForm(), name: " Report ", agent_id: "a1", request: "Write it for {{date}}.", words: "every day at 8", zone: "Europe/Berlin" };
const kept = (timing: ScheduleTiming, more: Partial<ScheduleWhen> = {}): Schedule => ({
  id: "s1", name: "Report", owner_id: "u1", owner: "ada@example.org", agent_id: "a1", agent: "Steward", request: "Write it.", when: { timing, zone: "Europe/Berlin", jitter_seconds: 0, ...more }, description: "", missed: { kind: "once" }, overlap: "skip", grace_seconds: 60,
  pause_after_failures: null, failures: 0, pause: null, next_at: null, last: null, may_change: true, created_at: 1, updated_at: 1, deleted_at: null,
});

test("what is wrong is said at its field", () => {
  assert.deepEqual(problemsOf({ ...emptyForm(), zone: "" }), { name: "name_missing", agent_id: "agent_missing", request: "request_missing", when: "words_missing", zone: "zone_missing" });
  assert.deepEqual(problemsOf(SOUND), {});
  assert.deepEqual(problemsOf({ ...SOUND, way: "interval", every: "0" }), { when: "every_bad" });
  assert.deepEqual(problemsOf({ ...SOUND, way: "interval", every: "1.5" }), { when: "every_bad" });
  assert.deepEqual(problemsOf({ ...SOUND, way: "cron" }), { when: "cron_missing" });
  assert.deepEqual(problemsOf({ ...SOUND, way: "once" }), { when: "at_missing" });
  assert.deepEqual(problemsOf({ ...SOUND, way: "rrule" }), { when: "rule_missing", begin: "begin_missing" });
  assert.deepEqual(problemsOf({ ...SOUND, jitter: "-1", grace: "0", failures: "x", missed: "all", caught: "" }), { jitter: "jitter_bad", grace: "grace_bad", failures: "failures_bad", missed: "caught_bad" });
  // The server may know a zone that this browser doesn't, but a start by its clock can't be sent then.
  assert.deepEqual(problemsOf({ ...SOUND, zone: "Mars/Olympus" }), {});
  assert.deepEqual(problemsOf({ ...SOUND, zone: "Mars/Olympus", start: "2027-01-01T08:00" }), { zone: "zone_unknown" });
});

test("a schedule that is opened and saved stays as it is", () => {
  const timings: ScheduleTiming[] = [
    { kind: "cron", expression: "0 8 * * MON-FRI" },
    { kind: "interval", every_seconds: 5_400 },
    { kind: "interval", every_seconds: 86_400, anchor: 1_798_786_800_000 },
    { kind: "once", at: "2027-03-14T08:00" },
    { kind: "once", at: "2027-03-14T07:00:00Z" },
    { kind: "rrule", rule: "FREQ=MONTHLY;BYDAY=-1FR", begin: "2027-01-01T08:00" },
  ];
  for (const timing of timings) {
    const schedule = kept(timing, { start: 1_798_786_800_000, end: 1_830_322_800_000, jitter_seconds: 30 });
    const form = formOf({ ...schedule, missed: { kind: "all", within_seconds: 7_200 }, pause_after_failures: 3 });
    assert.deepEqual(problemsOf(form), {});
    const input = inputOf(form, whenOf(form, schedule.when) as ScheduleWhen);
    assert.deepEqual(input.when, schedule.when);
    assert.deepEqual([input.missed, input.pause_after_failures], [{ kind: "all", within_seconds: 7_200 }, 3]);
  }
});

test("a single moment becomes a wall-clock time once another is chosen", () => {
  const schedule = kept({ kind: "once", at: "2027-03-14T07:00:00Z" });
  const form = formOf(schedule);
  assert.equal(form.at, "2027-03-14T08:00");
  assert.deepEqual(whenOf({ ...form, at: "2027-03-14T09:00" }, schedule.when)?.timing, { kind: "once", at: "2027-03-14T09:00" });
  assert.deepEqual(whenOf({ ...form, zone: "Asia/Tokyo" }, schedule.when)?.timing, { kind: "once", at: "2027-03-14T08:00" });
});

test("what words say keeps its own zone and bounds, unless others are set beside them", () => {
  const read: ScheduleWhen = { timing: { kind: "cron", expression: "0 8 * * *" }, zone: "Asia/Tokyo", end: 5, jitter_seconds: 0 };
  assert.deepEqual(completed(read, SOUND), read);
  assert.deepEqual(completed(read, { ...SOUND, end: "2027-01-05T08:00", jitter: "60" }), { ...read, end: Date.parse("2027-01-05T07:00:00Z"), jitter_seconds: 60 });
  assert.equal(whenOf(SOUND, null), null);
  assert.deepEqual(whenOf({ ...SOUND, chosen: read }, null), read);
});

test("what is sent is trimmed, and says never as null", () => {
  const input = inputOf({ ...SOUND, failures: " " }, { timing: { kind: "cron", expression: "0 8 * * *" }, zone: "UTC", jitter_seconds: 0 });
  assert.deepEqual([input.name, input.request, input.pause_after_failures, input.missed], ["Report", "Write it for {{date}}.", null, { kind: "once" }]);
});

test("what the server refuses is said where it can be mended", () => {
  const at = (field: string, title = "") => placeOf({ field, title });
  assert.deepEqual([at("name"), at("agent_id"), at("grace_seconds"), at("missed.within_seconds"), at("words")], ["name", "agent_id", "grace", "missed", "when"]);
  assert.equal(at("when", "minute: `61` is too much"), "when");
  assert.equal(at("when", "zone: `Mars` isn't the name of a time zone"), "zone");
  assert.equal(at("when", "end: it is before the start"), "end");
  assert.equal(at("when.timing.begin"), "begin");
  assert.equal(at("when.jitter_seconds"), "jitter");
  assert.equal(at("idempotency-key"), null);
});
