import assert from "node:assert/strict";
import { test } from "node:test";
import type { StandingInstruction } from "@/api/types";
import { lastPosition, moved } from "./order";

const one = (name: string, position: number): StandingInstruction => ({ name, text: name, position, enabled: true, version: 3, changed_at: 0 });
const check = (list: [string, number][], name: string, by: -1 | 1, want: [string, number][]) => {
  const writes = moved(list.map(([of, at]) => one(of, at)), name, by);
  assert.deepEqual(writes.map((write) => [write.name, write.position]), want);
  for (const write of writes) assert.equal(write.version, 3);
};

test("an instruction changes places with its neighbour", () => {
  const list: [string, number][] = [["a", 10], ["b", 20], ["c", 30]];
  check(list, "b", -1, [["b", 10], ["a", 20]]);
  check(list, "b", 1, [["c", 20], ["b", 30]]);
  check(list, "a", -1, []);
  check(list, "c", 1, []);
  check(list, "gone", 1, []);
  check([["a", 0], ["b", 0]], "a", 1, [["b", 10], ["a", 20]]);
});

test("a new one comes last", () => {
  assert.equal(lastPosition([]), 10);
  assert.equal(lastPosition([one("a", 10), one("b", 35)]), 45);
});
