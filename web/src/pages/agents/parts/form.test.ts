import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY, problemsOf } from "./form";
import { EMPTY as NO_CONNECTION, PRESETS, problemsOf as connectionProblems } from "../../connections/parts/form";

test("what is wrong with an agent is said at its field", () => {
  assert.deepEqual(problemsOf(EMPTY, true), { name: "name_missing" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "x".repeat(65) }, true), { name: "name_long" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a" }, false), { tools: "tools_missing" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a", tuning: { temperature: Number.NaN, max_tokens: 1.5, timeout_ms: 10 } }, true), { temperature: "temperature_bad", max_tokens: "max_tokens_bad", timeout: "timeout_bad" });
  assert.deepEqual(problemsOf({ ...EMPTY, name: "a", tuning: { temperature: 0, max_tokens: 1, timeout_ms: 3_600_000 } }, true), {});
});

test("a connection wants a name, an address and a model, and the name of a variable but no key", () => {
  assert.deepEqual(connectionProblems(NO_CONNECTION), { name: "name_missing", base_url: "base_url_bad", model: "model_missing" });
  for (const preset of Object.values(PRESETS)) assert.deepEqual(connectionProblems({ ...preset, model: "m" }), {}, preset.name);
  const keyed = { ...PRESETS.openai, model: "m" };
  for (const variable of ["", "sk-proj-abc123", "MY KEY", "1KEY"]) assert.equal(connectionProblems({ ...keyed, auth: { kind: "bearer_env", variable } }).variable, "variable_bad", variable);
  for (const base_url of ["localhost:11434", "ftp://x", "http//x", "/v1"]) assert.equal(connectionProblems({ ...keyed, base_url }).base_url, "base_url_bad", base_url);
});
