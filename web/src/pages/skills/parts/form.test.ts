import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@/api/client";
import type { Me, SkillDetail, SkillKindInfo } from "@/api/types";
import { copyName, emptyOf, exampleOf, hostOf, inputOf, mayChange, mayWrite, problemsOf, refusedOf, sent, startOf } from "./form";

const kind = { type: "http", risk: "external", effect: "write", credentials: [], config: { type: "object", properties: { method: { type: "string" }, url: { type: "string" }, strict: { type: "boolean" } }, required: ["method", "url", "strict"] }, example: { name: "a", description: "b", type: "http", config: { method: "GET", url: "u" } } } as unknown as SkillKindInfo;

test("what is wrong with a skill is said at its field", () => {
  assert.deepEqual(problemsOf(emptyOf(kind), kind), { name: "name_missing", description: "description_missing", "config.method": "needed", "config.url": "needed" });
  assert.deepEqual(problemsOf({ ...exampleOf(kind), name: "Not this" }, kind), { name: "name_bad" });
  assert.deepEqual(problemsOf({ ...exampleOf(kind), limits: { timeout_ms: 9, result_chars: 1.5 } }, kind), { "limits.timeout_ms": "timeout_bad", "limits.result_chars": "chars_bad" });
  assert.deepEqual(problemsOf({ ...exampleOf(kind), limits: { timeout_ms: 10, result_chars: 200_000 } }, kind), {});
  assert.deepEqual(problemsOf({ ...exampleOf(kind), limits: { timeout_ms: 3_600_000, result_chars: 200_001 } }, kind), { "limits.result_chars": "chars_bad" });
  assert.deepEqual(problemsOf({ ...exampleOf(kind), compensation: { skill: "", arguments: {} } }, kind), { "compensation.skill": "compensation_missing" });
  assert.deepEqual(problemsOf(exampleOf(kind), kind), {});
});

test("what the server adds is left out, and what no form knows stays", () => {
  const skill = { id: "1", version: 3, package: "p", at: 1, by: "ada", agents: [], name: "a", description: " b ", type: "http", config: { odd: 1 }, later: true } as unknown as SkillDetail;
  assert.deepEqual(inputOf(skill), { name: "a", description: " b ", type: "http", config: { odd: 1 }, later: true });
  assert.deepEqual(sent(inputOf(skill), kind), { name: "a", description: "b", type: "http", config: { odd: 1, strict: false }, later: true });
});

test("what the server says is wrong is found at its field", () => {
  assert.deepEqual(refusedOf(null), {});
  assert.deepEqual(refusedOf(new ApiError({ title: "out of range", status: 422, field: "limits.timeout_ms" })), { "limits.timeout_ms": "out of range" });
  assert.deepEqual(refusedOf(new ApiError({ title: "`url`: no host", status: 422, field: "config" })), { config: "`url`: no host", "config.url": "no host" });
});

test("servers and programs are an operator's", () => {
  const me = (role: string) => ({ role }) as Me;
  assert.deepEqual(["viewer", "developer", "operator", "admin"].map((role) => [mayWrite(me(role), "http"), mayWrite(me(role), "ssh")]), [[false, false], [true, false], [true, true], [true, true]]);
  assert.equal(mayWrite(undefined, "http"), false);
});

test("a credential, private hosts and agents make a skill an operator's", () => {
  const me = (role: string) => ({ role }) as Me;
  const skill = (change: object = {}) => ({ name: "a", description: "b", type: "http", config: { url: "u" }, agents: [], ...change }) as unknown as SkillDetail;
  const held = [skill({ credential: { kind: "token" } }), skill({ config: { url: "u", allow: ["10.0.0.1:80"] } }), skill({ agents: ["1"] }), skill({ type: "ssh" })];
  for (const one of held) assert.deepEqual([mayChange(me("developer"), one), mayChange(me("operator"), one)], [false, true], JSON.stringify(one));
  assert.deepEqual(["viewer", "developer", "operator"].map((role) => mayChange(me(role), skill({ config: { url: "u", allow: [] } }))), [false, true, true]);
  const copied = inputOf(skill({ credential: { kind: "token" }, config: { url: "u", allow: ["10.0.0.1:80"] } }));
  assert.deepEqual(startOf(me("developer"), copied), { name: "a", description: "b", type: "http", config: { url: "u" } });
  assert.equal(startOf(me("operator"), copied), copied);
});

test("a copy gets a free name", () => {
  assert.equal(copyName("restart", ["restart"]), "restart_2");
  assert.equal(copyName("restart_2", ["restart", "restart_2"]), "restart_3");
});

test("a refusal for a server's key says which server and which key", () => {
  const key = `SHA256:${"a".repeat(43)}`;
  assert.deepEqual(hostOf(`the host key of web1:22 is not known yet: it shows ${key}. … by: steward skill trust-host web1:22 ${key}`), { host: "web1", port: "22", fingerprint: key });
  assert.deepEqual(hostOf(`trust-host [::1]:2222 ${key}`), { host: "::1", port: "2222", fingerprint: key });
  assert.deepEqual(hostOf(`trust-host web1 ${key}`), { host: "web1", port: "22", fingerprint: key });
  assert.equal(hostOf("no route to host"), null);
});
