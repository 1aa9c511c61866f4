import assert from "node:assert/strict";
import { test } from "node:test";
import { ceiling, countOf, DAY, dayName, endOf, everyDay, microsOf, offered, rangeOf, resetsAt } from "./range";

const NOW = Date.parse("2026-11-21T15:04:05Z");
const none = { days: "", from: "", to: "" };

test("the last days end with today, of UTC", () => {
  const week = rangeOf({ ...none, days: "7" }, NOW)!;
  assert.deepEqual([dayName(week.from), dayName(week.to), week.days], ["2026-11-15", "2026-11-22", 7]);
  for (const odd of ["", "8", "x"]) assert.equal(rangeOf({ ...none, days: odd }, NOW)!.days, 30, odd);
});

test("a span of one's own has both of its days, and is refused where it is none", () => {
  assert.deepEqual(rangeOf({ days: "7", from: "2026-02-27", to: "2026-03-01" }, NOW), { from: Date.parse("2026-02-27"), to: Date.parse("2026-03-02"), days: 3 });
  assert.equal(rangeOf({ days: "", from: "2026-11-20", to: "" }, NOW)!.days, 2);
  for (const [from, to] of [["2026-03-02", "2026-03-01"], ["2026-02-31", "2026-03-01"], ["x", "2026-03-01"], ["", "2026-03-01"], ["2020-01-01", "2026-01-01"]] as const) assert.equal(rangeOf({ days: "", from, to }, NOW), null, `${from} ${to}`);
});

test("days without a call are there, in order", () => {
  const range = rangeOf({ days: "", from: "2026-10-24", to: "2026-10-26" }, NOW)!;
  const row = { group: "2026-10-25", label: "2026-10-25", calls: 3, failed: 1, unpriced: 0, prompt_tokens: 9, cached_tokens: 2, completion_tokens: 4, cost_micros: 5 };
  const days = everyDay([row], range);
  assert.deepEqual(days.map((day) => [day.group, day.calls]), [["2026-10-24", 0], ["2026-10-25", 3], ["2026-10-26", 0]]);
});

test("axes end at a round number", () => {
  for (const [value, end] of [[0, 1], [1, 1], [7, 10], [11, 20], [23, 25], [26, 50], [120_000, 200_000], [0.3, 0.5]] as const) assert.equal(ceiling(value), end, String(value));
});

test("a budget begins anew at midnight or with the month, of UTC", () => {
  assert.equal(resetsAt("day", Date.parse("2026-11-21")), Date.parse("2026-11-22"));
  assert.equal(resetsAt("month", Date.parse("2026-12-01")), Date.parse("2027-01-01"));
  assert.equal(resetsAt("total", 0), null);
  assert.equal(DAY, 86_400_000);
});

test("an end whose day was not changed stays as it is", () => {
  const noon = Date.parse("2026-11-21T12:00:00Z");
  assert.equal(endOf("2026-11-21", noon), noon);
  assert.equal(endOf("2026-11-22", noon), Date.parse("2026-11-22T23:59:59Z"));
  assert.equal(endOf("2026-11-21", null), Date.parse("2026-11-21T23:59:59Z"));
  assert.equal(endOf("", noon), null);
  assert.ok(Number.isNaN(endOf("2026-13-01", null)));
});

test("names that are gone can still be unticked", () => {
  const [a, b] = [{ id: "1", name: "a" }, { id: "2", name: "b" }];
  assert.deepEqual(offered([a, b], [b, { id: "3", name: null }]), [{ ...a, gone: false }, { ...b, gone: false }, { id: "3", name: null, gone: true }]);
});

test("amounts are read as people write them", () => {
  assert.equal(microsOf("2,50"), 2_500_000);
  assert.equal(microsOf("0.000001"), 1);
  assert.equal(microsOf(" "), null);
  for (const text of ["-1", "x", "1.2.3", "0.0000004"]) assert.equal(microsOf(text), undefined, text);
  assert.equal(countOf("1.000.000", 1), 1_000_000);
  assert.equal(countOf("1,000", 0), 1000);
  assert.equal(countOf("", 0), null);
  for (const text of ["0", "-4", "many"]) assert.equal(countOf(text, 1), undefined, text);
});

test("a budget may be nothing", () => {
  for (const text of ["0", "0.00", "0,0"]) assert.equal(microsOf(text), 0, text);
  assert.equal(countOf("0", 0), 0);
});
