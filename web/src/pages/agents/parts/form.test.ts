import assert from "node:assert/strict";
import { test } from "node:test";
import type { Agent } from "@/api/types";
import { EMPTY, inputOf, moved, problemsOf } from "./form";

test("what is wrong with an agent is said at its field", () => {
  assert.deepEqual(problemsOf(EMPTY, true), { name: "name_missing" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "x".repeat(65) }, true), { name: "name_long" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a", instructions: "ü".repeat(100_000) }, true), {});
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a", instructions: "x".repeat(100_001) }, true), { instructions: "instructions_long" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a" }, false), { tools: "tools_missing" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a", tuning: { temperature: Number.NaN, max_tokens: 1.5, timeout_ms: 10 } }, true), { temperature: "temperature_bad", max_tokens: "max_tokens_bad", timeout: "timeout_bad" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a", tuning: { temperature: 0, max_tokens: 1, timeout_ms: 3_600_000 } }, true), {});
});

test("routing and deep planning have limits too", () => {
  const form = { ...EMPTY, name: "a" };
  for (const bad of [0, 21, 1.5, Number.NaN]) assert.deepEqual(problemsOf({ ...form, routing: { ...EMPTY.routing, max_fallback_attempts: bad } }, true), { attempts: "attempts_bad" }, String(bad));
  for (const bad of [0, 49, Number.NaN]) assert.deepEqual(problemsOf({ ...form, routing: { ...EMPTY.routing, hedge_after_ms: bad } }, true), { hedge: "hedge_bad" }, String(bad));
  for (const bad of [0, 21, Number.NaN]) assert.deepEqual(problemsOf({ ...form, deep: { ...EMPTY.deep, max_steps: bad } }, true), { deep_steps: "deep_steps_bad" }, String(bad));
  assert.deepEqual(problemsOf({ ...form, routing: { ...EMPTY.routing, hedge_after_ms: 50, max_fallback_attempts: 20 }, deep: { enabled: true, max_steps: 20, style: "concise" } }, true), {});
});

test("what an answer leaves out is filled in", () => {
  const { name: _name, ...rest } = EMPTY;
  const input = inputOf({ ...rest, name: "a", id: "1", routing: { fallback_chain: ["c"] }, deep: { max_steps: 4 } } as unknown as Agent);
  assert.deepEqual(input.routing, { ...EMPTY.routing, fallback_chain: ["c"] });
  assert.deepEqual(input.deep, { enabled: null, max_steps: 4, style: null });
});

test("an entry of a list is moved", () => {
  assert.deepEqual(moved(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
  assert.deepEqual(moved(["a", "b", "c"], 2, 0), ["c", "a", "b"]);
  assert.deepEqual(moved(["a", "b"], 1, 1), ["a", "b"]);
  assert.deepEqual(moved(["a"], 3, 0), ["a"]);
});
