import assert from "node:assert/strict";
import { test } from "node:test";
import type { Subscription } from "@/api/types";
import { emptyForm, fieldOf, formOf, inputOf, problemsOf } from "./form";
import { kindKey, standOf, toldKey } from "./services";

const SOUND = { ...emptyForm("en", "https://steward.example.org"), name: "Harbour", address: "https://example.org/steward" };

test("what is missing is said, and what stays isn't", () => {
  assert.deepEqual(problemsOf(SOUND, null), {});
  assert.deepEqual(problemsOf(emptyForm("de", ""), null), { name: "name_missing", address: "address_missing" });
  for (const address of ["example.org", "ftp://example.org", "https://", "https:///x"]) assert.deepEqual(problemsOf({ ...SOUND, address }, null), { address: "address_bad" }, address);
  assert.deepEqual(problemsOf({ ...SOUND, link_base: "steward" }, null), { link_base: "link_base_bad" });
  assert.deepEqual(problemsOf({ ...SOUND, form: "gotify" }, null), { token: "token_missing" });
  assert.deepEqual(problemsOf({ ...SOUND, form: "ntfy" }, null), {});
  assert.deepEqual(problemsOf({ ...SOUND, form: "matrix", address: "" }, { form: "matrix" }), {});
  // Another service has another address, and another token.
  assert.deepEqual(problemsOf({ ...SOUND, form: "matrix", address: "" }, { form: "slack" }), { address: "address_missing", token: "token_missing" });
});

test("a subscription that is opened and saved stays as it is", () => {
  const before = { name: "Harbour", form: "ntfy", kinds: ["run.failed"], all: true, language: "de", link_base: null } as unknown as Subscription;
  assert.deepEqual(inputOf(formOf(before), before), { name: "Harbour", form: "ntfy", address: null, token: null, kinds: ["run.failed"], all: true, language: "de", link_base: null });
});

test("a token stays with its service only", () => {
  assert.equal(inputOf(SOUND, null).token, null);
  assert.equal(inputOf({ ...SOUND, token: " abc " }, null).token, "abc");
  // One that was typed before another service was chosen.
  assert.equal(inputOf({ ...SOUND, form: "slack", token: "abc" }, null).token, null);
  assert.equal(inputOf(SOUND, { form: "standard" }).token, null);
  assert.equal(inputOf({ ...SOUND, drop: true }, { form: "standard" }).token, "");
  assert.equal(inputOf({ ...SOUND, drop: true, token: "new" }, { form: "standard" }).token, "new");
  assert.equal(inputOf(SOUND, { form: "gotify" }).token, "");
  assert.equal(inputOf({ ...SOUND, form: "slack" }, { form: "gotify" }).token, "");
});

test("what the server refuses is said where it can be mended", () => {
  assert.deepEqual(["address", "token", "link_base", "kinds", "kinds[0]", "kinds.2", "name"].map(fieldOf), ["address", "token", "link_base", "kinds", "kinds", "kinds", "name"]);
  assert.equal(fieldOf("Idempotency-Key"), null);
});

test("kinds and states have words, and new ones show as they are", () => {
  assert.equal(kindKey("run.failed"), "kind_run_failed");
  assert.equal(kindKey("test"), "kind_test");
  assert.equal(kindKey("moon.rose"), null);
  assert.deepEqual([standOf({ status: "waiting", tries: 0 }), standOf({ status: "waiting", tries: 1 }), standOf({ status: "given_up", tries: 9 })], ["waiting", "again", "given_up"]);
  assert.equal(toldKey("the subscription was paused"), "told_paused");
  assert.equal(toldKey("500 no"), undefined);
});
