import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hook } from "@/api/types";
import { emptyRow } from "./filters";
import { emptyForm, fieldOf, type Form, formOf, inputOf, problemsOf, saidOf } from "./form";

const SOUND: Form = { ...emptyForm(), name: " Issues ", agent_id: "a1", request: "Look at {{payload.issue.title}}." };
const HOOK: Hook = {
  id: "h1", name: "Issues", path: "/hooks/h1", owner_id: "u1", owner: "ada@example.org", agent_id: "a1", agent: "Steward", request: "Look.", signing: { kind: "github" }, window_seconds: 300, event_id: null, filters: [], pause_after_failures: null,
  failures: 0, pause: null, secrets: [], last: null, refused: null, may_change: true, created_at: 1, updated_at: 1, deleted_at: null,
};

test("what is wrong is said at its field", () => {
  assert.deepEqual(problemsOf(emptyForm()), { name: "name_missing", agent_id: "agent_missing", request: "request_missing" });
  assert.deepEqual(problemsOf(SOUND), {});
  assert.deepEqual(problemsOf({ ...SOUND, window: "9", failures: "0" }), { window: "window_bad", failures: "failures_bad" });
  assert.deepEqual(problemsOf({ ...SOUND, window: "", failures: " " }), { window: "window_bad" });
  assert.deepEqual(problemsOf({ ...SOUND, header: "" }), {});
  assert.deepEqual(problemsOf({ ...SOUND, kind: "token", header: "a b" }), { header: "header_bad" });
  assert.deepEqual(problemsOf({ ...SOUND, id_kind: "pointer", id_place: "id" }), { event_id: "pointer_bad" });
  assert.deepEqual(problemsOf({ ...SOUND, filters: [{ ...emptyRow(), place: "/a", value: "1" }, { ...emptyRow(), place: "a" }, emptyRow()] }), { filter1: "pointer_bad", filter2: "value_missing" });
});

test("a webhook that is opened and saved stays as it is", () => {
  for (const more of [{}, { signing: { kind: "token", header: "x-api-key" } }, { event_id: { header: "x-id" }, pause_after_failures: 3 }, { event_id: { pointer: "/issue/id" }, filters: [{ pointer: "/action", equals: "opened" }] }] as Partial<Hook>[]) {
    const hook = { ...HOOK, ...more };
    const form = formOf(hook);
    assert.deepEqual(problemsOf(form), {});
    const { name, agent_id, request, signing, window_seconds, event_id, filters, pause_after_failures } = hook;
    assert.deepEqual(inputOf(form), { name, agent_id, request, signing, window_seconds, event_id, filters, pause_after_failures, secret: null });
  }
});

test("what is sent is trimmed, and has a header for tokens only", () => {
  const input = inputOf({ ...SOUND, secret: " abc ", header: " X-Token " });
  assert.deepEqual([input.name, input.secret, input.signing], ["Issues", "abc", { kind: "standard" }]);
  assert.deepEqual(inputOf({ ...SOUND, kind: "token", header: " X-Token " }).signing, { kind: "token", header: "X-Token" });
});

test("what the server refuses is said where it can be mended", () => {
  assert.deepEqual(["name", "signing", "signing.header", "filters", "filters[2].pointer", "filters.0", "event_id.pointer", "window_seconds", "pause_after_failures", "secret"].map(fieldOf), ["name", "signing", "header", "filters", "filter2", "filter0", "event_id", "window", "failures", "secret"]);
  assert.equal(fieldOf("Idempotency-Key"), null);
  assert.equal(saidOf({ field: "secret", title: "It is empty.", hint: "Enter one." }), "It is empty. Enter one.");
  assert.equal(saidOf({ field: "name", title: "a name is missing", hint: "give it one" }), "a name is missing. give it one");
  assert.equal(saidOf({ field: "filters[0]", title: "`filters[0]`: `contains` is empty. Give it 1 to 9 characters.", hint: "correct this field; /docs lists what the body may hold" }), "`contains` is empty. Give it 1 to 9 characters.");
});
