import assert from "node:assert/strict";
import { test } from "node:test";
import { movesOf, sameSetting, settingOf, shared } from "./compare";

const found = (...keys: string[]) => keys.map((key) => ({ document: key[0]!, chunk: { index: Number(key.slice(1)) } }));

test("passages are told apart by where they stand in the other ranking", () => {
  const moves = movesOf(found("a1", "b2", "c3", "d4"), found("b2", "a1", "c3"));
  assert.deepEqual(moves, [{ kind: "up", places: 1 }, { kind: "down", places: 1 }, { kind: "same" }, { kind: "alone" }]);
  assert.equal(shared(moves), 3);
  // The same place of another document is another passage.
  assert.deepEqual(movesOf(found("a1"), found("b1")), [{ kind: "alone" }]);
  assert.deepEqual(movesOf([], found("b1")), []);
});

test("an address that was changed by hand gives the usual setting", () => {
  const usual = { mode: "hybrid", meaning: 70 } as const;
  assert.deepEqual(settingOf("text", "30", usual), { mode: "text", meaning: 30 });
  for (const [mode, meaning] of [["x", "101"], ["", ""], ["hybrid", "-5"], ["HYBRID", "1e1"]] as const) assert.deepEqual(settingOf(mode, meaning, usual), usual);
});

test("weights tell settings apart only where both rankings count", () => {
  assert.equal(sameSetting({ mode: "text", meaning: 10 }, { mode: "text", meaning: 90 }), true);
  assert.equal(sameSetting({ mode: "hybrid", meaning: 10 }, { mode: "hybrid", meaning: 90 }), false);
  assert.equal(sameSetting({ mode: "hybrid", meaning: 10 }, { mode: "text", meaning: 10 }), false);
});
