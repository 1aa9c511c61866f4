import assert from "node:assert/strict";
import { test } from "node:test";
import { formatShown, formatSpan, instantOf, isZone, shownOf, unitOf, wallOf } from "./times";

const at = (text: string) => Date.parse(text);

test("a moment is shown by the wall clock of a zone, and found again", () => {
  for (const [text, zone, wall] of [
    ["2027-01-05T07:00:00Z", "Europe/Berlin", "2027-01-05T08:00"],
    ["2027-07-05T06:00:00Z", "Europe/Berlin", "2027-07-05T08:00"],
    ["2027-07-05T06:00:30Z", "Asia/Kolkata", "2027-07-05T11:30:30"],
    ["2027-01-01T04:59:00Z", "America/New_York", "2026-12-31T23:59"],
    ["2027-01-01T00:00:00Z", "UTC", "2027-01-01T00:00"],
    // Right before and after the clocks go forward, and back.
    ["2027-03-28T00:59:00Z", "Europe/Berlin", "2027-03-28T01:59"],
    ["2027-03-28T01:00:00Z", "Europe/Berlin", "2027-03-28T03:00"],
    ["2027-10-31T01:59:00Z", "America/New_York", "2027-10-30T21:59"],
  ] as const) {
    assert.equal(wallOf(at(text), zone), wall);
    assert.equal(instantOf(wall, zone), at(text), `${wall} in ${zone}`);
  }
  // A time that is missing, and one that comes twice.
  assert.equal(instantOf("2027-03-28T02:30", "Europe/Berlin"), at("2027-03-28T01:30:00Z"));
  assert.equal(instantOf("2027-10-31T02:30", "Europe/Berlin"), at("2027-10-31T00:30:00Z"));
  assert.equal(instantOf("", "Europe/Berlin"), null);
});

test("an unknown zone is taken as UTC, and told apart", () => {
  assert.equal(wallOf(at("2027-01-01T08:00:00Z"), "Mars/Olympus"), "2027-01-01T08:00");
  assert.equal(isZone("Mars/Olympus"), false);
  assert.equal(isZone("Europe/Berlin"), true);
});

test("a moment is said with its offset", () => {
  assert.equal(shownOf(at("2027-01-05T07:00:00Z"), "Europe/Berlin"), "2027-01-05T08:00:00+01:00");
  assert.equal(shownOf(at("2027-01-05T07:00:00Z"), "America/St_Johns"), "2027-01-05T03:30:00-03:30");
  assert.deepEqual(formatShown("2027-01-05T08:00:00+01:00"), { time: "Tue, Jan 5, 2027, 08:00", offset: "UTC+01:00" });
  assert.deepEqual(formatShown("2027-01-05T03:30:05-03:30"), { time: "Tue, Jan 5, 2027, 03:30:05", offset: "UTC−03:30" });
  assert.equal(formatShown("2027-01-05T08:00:00Z").offset, "UTC");
  assert.equal(formatShown("2027-01-05T08:00:00+00:00").offset, "UTC");
});

test("a span is said in the largest unit that divides it", () => {
  assert.deepEqual([1, 60, 90, 5_400, 86_400, 604_800, 0].map(unitOf), ["seconds", "minutes", "seconds", "minutes", "days", "weeks", "seconds"]);
  assert.equal(formatSpan(5_400), "90 minutes");
  assert.equal(formatSpan(1), "1 second");
});
