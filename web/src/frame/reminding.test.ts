import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reminder } from "@/api/types";
import { SNOOZE, toTell } from "./reminding";

const one = (id: string, at: number): Reminder => ({ id, at, text: id, done: false, due: true, agent: "a", agent_id: "1", may_change: true });

test("what is due is told once, and again after it was put off", () => {
  const told = new Set<string>();
  assert.deepEqual(toTell([one("a", 1), one("b", 2)], told).map((r) => r.id), ["a", "b"]);
  assert.deepEqual(toTell([one("a", 1), one("b", 2)], told), []);
  assert.deepEqual(toTell([one("a", 9), one("b", 2)], told).map((r) => r.id), ["a"]);
});

test("tomorrow is nine o'clock of the next day, local time", () => {
  const at = new Date(SNOOZE.tomorrow(new Date(2026, 11, 31, 23, 30).getTime()));
  assert.deepEqual([at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes()], [2027, 0, 1, 9, 0]);
  assert.equal(SNOOZE.hour(0), 3_600_000);
});
