import assert from "node:assert/strict";
import { test } from "node:test";
import type { Connection, ExamReport } from "@/api/types";
import { headGrade, staleness } from "./exam";
import { againOf, authOf, authProblems, CAPABILITIES, EMPTY, inputOf, keepsKey, looksLikeAddress, nameFor, priceOf, priceText, problemsOf, rangeOf, usualAuth } from "./form";

const SOUND = { ...EMPTY, name: "m", base_url: "http://127.0.0.1:1/v1", model: "m" };

test("a connection wants a name, an address and a model, and the name of a variable but no key", () => {
  assert.deepEqual(problemsOf(EMPTY), { name: "name_missing", base_url: "base_url_bad", model: "model_missing" });
  assert.deepEqual(problemsOf(SOUND), {});
  assert.deepEqual(problemsOf({ ...SOUND, provider: "anthropic", base_url: "" }), {}, "it has an address of its own");
  for (const variable of ["", "sk-proj-abc123", "MY KEY", "1KEY"]) assert.equal(problemsOf({ ...SOUND, auth: { kind: "bearer_env", variable } }).variable, "variable_bad", variable);
  for (const name of ["ü".repeat(65), "office/m"]) assert.deepEqual(problemsOf({ ...SOUND, name }), { name: "name_bad" }, name);
  assert.deepEqual(problemsOf({ ...SOUND, name: "ü".repeat(64) }), {});
  for (const base_url of ["localhost:11434", "ftp://x", "http//x", "/v1"]) assert.equal(problemsOf({ ...SOUND, base_url }).base_url, "base_url_bad", base_url);
  assert.deepEqual(problemsOf({ ...SOUND, weight: -1, capabilities: { ...CAPABILITIES, window: 1, max_tools: 0, num_ctx: 3 } }), { weight: "weight_bad", window: "window_bad", max_tools: "max_tools_bad", num_ctx: "tokens_bad" });
});

test("numbers and names of a connection are those that the server takes", () => {
  const at = (window: number, max_tools: number) => problemsOf({ ...SOUND, capabilities: { ...CAPABILITIES, window, max_tools, num_ctx: window, prompt_tokens: window } });
  for (const [window, max_tools] of [[256, 1], [100_000_000, 1000]] as const) assert.deepEqual(at(window, max_tools), {});
  for (const [window, max_tools] of [[255, 0], [100_000_001, 1001], [4096.5, 1.5], [Number.NaN, Number.NaN]] as const) assert.deepEqual(at(window, max_tools), { window: "window_bad", max_tools: "max_tools_bad", num_ctx: "tokens_bad", prompt_tokens: "tokens_bad" });
  assert.deepEqual([rangeOf("weight"), rangeOf("model")], [{ least: 0, most: 1000 }, undefined]);
  assert.deepEqual(authProblems({ kind: "header_env", header: `X-${"a".repeat(98)}`, variable: `K${"1".repeat(99)}` }), {});
  for (const header of ["x".repeat(101), "x.y", ""]) assert.deepEqual(authProblems({ kind: "header_env", header, variable: "K" }), { header: "header_bad" }, header);
  assert.deepEqual(authProblems({ kind: "bearer_env", variable: "K".repeat(101) }), { variable: "variable_bad" });
});

test("each kind of key keeps what it has in common with the one before", () => {
  const basic = authOf("basic", { kind: "bearer", key: "k" });
  assert.deepEqual(basic, { kind: "basic", user: "", key: "k" });
  assert.deepEqual(authProblems(basic), { user: "user_missing" });
  assert.deepEqual(authProblems({ kind: "header_env", header: "x key", variable: "K" }), { header: "header_bad" });
  assert.deepEqual(authOf("none", basic), { kind: "none" });
  assert.deepEqual(authOf("bearer_env", { kind: "none" }, "anthropic"), { kind: "bearer_env", variable: "ANTHROPIC_API_KEY" });
  assert.deepEqual(authOf("aws", basic, "bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com"), { kind: "aws", region: "eu-west-1" });
  assert.equal(usualAuth("anthropic"), "api_key");
  assert.equal(usualAuth("ollama"), "none");
});

test("a key is wanted once, and again for another server", () => {
  const saved = { ...SOUND, auth: { kind: "bearer" } } as unknown as Connection;
  const form = { ...SOUND, auth: { kind: "bearer" as const } };
  assert.equal(problemsOf(form).key, "key_missing");
  assert.deepEqual(problemsOf({ ...form, auth: { kind: "bearer", key: "k" } }), {});
  assert.deepEqual(problemsOf(form, saved), {}, "it is stored");
  assert.ok(keepsKey(saved, { ...form, base_url: "http://127.0.0.1:1/other" }));
  assert.equal(problemsOf({ ...form, base_url: "http://127.0.0.1:2/v1" }, saved).key, "key_missing");
  const aws = { kind: "aws" as const, region: "eu-west-1" };
  assert.deepEqual(authProblems(aws), { access_key_id: "key_missing", key: "key_missing" });
  assert.deepEqual(authProblems(aws, true), {});
  assert.deepEqual(authProblems({ ...aws, access_key_id: "AK" }, true), { key: "key_missing" });
});

test("a removed connection is made again with what a person set, and not with what an exam found out", () => {
  const removed = { ...SOUND, capabilities: { ...CAPABILITIES, window: 8192, vision: true, max_tools: 12 }, by_hand: ["max_tools", "window"] } as unknown as Connection;
  assert.deepEqual(againOf(removed).capabilities, { window: 8192, max_tools: 12 });
  assert.equal(againOf({ ...removed, by_hand: [] }).capabilities, null);
});

test("what an administrator said of where a connection is stays as it was, and its address is not taken for that", () => {
  const connection = (in_house: boolean, in_house_by_hand: boolean | null) => ({ ...SOUND, in_house, in_house_by_hand }) as unknown as Connection;
  assert.equal(inputOf(connection(true, null)).in_house, null);
  assert.equal(inputOf(connection(false, false)).in_house, false);
  assert.equal(inputOf({ ...SOUND, in_house: true } as unknown as Connection).in_house, null, "a server that does not tell");
});

test("a price is read as people write it", () => {
  assert.equal(priceOf({ input: "", cached: " ", output: "" }), null);
  assert.deepEqual(priceOf({ input: "0,25", cached: "", output: "2" }), { input: 250_000, cached: 250_000, output: 2_000_000 });
  assert.deepEqual(priceOf({ input: "0", cached: "0", output: "0" }), { input: 0, cached: 0, output: 0 });
  for (const input of ["x", "-1", ""]) assert.equal(priceOf({ input, cached: "", output: "1" }), undefined, input);
  const price = { input: 250_000, cached: 25_000, output: 1_250_000 };
  assert.deepEqual(priceOf(priceText(price)), price);
});

test("an address may lack its scheme, a name is found that is free", () => {
  for (const text of ["localhost:11434", "127.0.0.1:8080/v1", "https://api.example.org", "gpu"]) assert.ok(looksLikeAddress(text), text);
  for (const text of ["", "two words", "ftp://x", "<x>"]) assert.ok(!looksLikeAddress(text), text);
  assert.equal(nameFor("Qwen/Qwen3-32B", []), "Qwen3-32B");
  assert.equal(nameFor("qwen3", ["qwen3", "qwen3 2"]), "qwen3 3");
  assert.equal(nameFor("models/qwen3/", []), "qwen3");
  const long = "m".repeat(80);
  assert.equal(nameFor(long, []), "m".repeat(64));
  assert.equal(nameFor(long, ["m".repeat(64)]), `${"m".repeat(62)} 2`);
});

test("a report says why it may be old, and which grade stands for it", () => {
  const report = { version: 1, model: "m", capabilities: CAPABILITIES, grades: { chat: "B", tool_call: "C" } } as unknown as ExamReport;
  const connection = { model: "m", capabilities: CAPABILITIES } as unknown as Connection;
  assert.deepEqual(staleness(report, connection), []);
  assert.deepEqual(staleness({ ...report, version: 0 }, { ...connection, capabilities: { ...CAPABILITIES, window: 1000 } }), ["version", "settings"]);
  assert.deepEqual(staleness(report, { ...connection, model: "n" }), ["model"]);
  assert.equal(headGrade(report.grades), "C");
  assert.equal(headGrade({}), null);
});
