import assert from "node:assert/strict";
import { test } from "node:test";
import type { Credential, CredentialField } from "@/api/types";
import { EMPTY, endOf, expiryOf, fits, formOf, inputOf, patchOf, problemsOf } from "./form";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const DAY = 86_400_000;
const FIELDS: CredentialField[] = [
  { name: "username", secret: false, required: true },
  { name: "password", secret: true, required: true },
  { name: "sudo_password", secret: true, required: false },
];
const KEPT: Credential = { id: "1", name: "web1", kind: "password", description: "the web server", shown: { username: "deploy" }, secret: ["password", "sudo_password"], roles: ["operator"], discoverable: false, hosts: [], connection: null, created_at: 1, changed_at: 1, used_at: null, expires_at: null };

test("what is wrong with a new credential is said at its field", () => {
  assert.deepEqual(problemsOf(EMPTY, FIELDS, "add", null, NOW), { name: "name_missing", "field:username": "value_missing", "field:password": "value_missing" });
  const sound = { ...EMPTY, name: " web1 ", values: { username: "deploy", password: "x" } };
  assert.deepEqual(problemsOf(sound, FIELDS, "add", null, NOW), {});
  assert.deepEqual(problemsOf({ ...sound, name: "ü".repeat(128) }, FIELDS, "add", null, NOW), {});
  assert.deepEqual(problemsOf({ ...sound, name: "x".repeat(129), ends: "2026-11-20" }, FIELDS, "add", null, NOW), { name: "name_long", ends: "ends_bad" });
  const further = [{ name: "Account", value: "x" }, { name: "password", value: "x" }, { name: "a", value: "x" }, { name: "a", value: "x" }, { name: "b", value: "" }];
  assert.deepEqual(problemsOf({ ...sound, further }, FIELDS, "add", null, NOW), { "further:0": "further_bad", "further:1": "further_twice", "further:3": "further_twice", "further:4": "further_empty" });
});

test("empty fields are not sent, and values are sent as they were typed", () => {
  const form = { ...EMPTY, name: " web1 ", values: { username: "deploy", password: " two spaces ", sudo_password: "" }, further: [{ name: "account_id", value: "7" }], ends: "2026-11-21" };
  const input = inputOf(form, FIELDS);
  assert.equal(input.name, "web1");
  assert.deepEqual(input.fields, { username: "deploy", password: " two spaces ", account_id: "7" });
  assert.equal(input.expires_at, Date.parse("2026-11-21T23:59:59Z"));
});

test("only what differs is changed", () => {
  assert.deepEqual(patchOf(formOf(KEPT), FIELDS, "edit", KEPT), {});
  assert.deepEqual(problemsOf(formOf(KEPT), FIELDS, "edit", KEPT, NOW), { all: "nothing_new" });
  assert.deepEqual(patchOf({ ...formOf(KEPT), name: "web2", roles: ["admin"], discoverable: true, ends: "2027-01-01" }, FIELDS, "edit", KEPT), { name: "web2", roles: ["admin"], discoverable: true, expires_at: endOf("2027-01-01") });
  assert.deepEqual(patchOf({ ...formOf({ ...KEPT, expires_at: NOW + DAY }), ends: "" }, FIELDS, "edit", { ...KEPT, expires_at: NOW + DAY }), { expires_at: null });
  // The order of roles is no change.
  const two = { ...KEPT, roles: ["operator", "admin"] as Credential["roles"] };
  assert.deepEqual(patchOf({ ...formOf(two), roles: ["admin", "operator"] }, FIELDS, "edit", two), {});
});

test("hosts are lines of names and addresses", () => {
  const at = (hosts: string) => ({ ...formOf(KEPT), hosts });
  assert.deepEqual(patchOf(at("API.example.org\n*.b.example, 10.0.0.5:5432  [::1]:22"), FIELDS, "edit", KEPT), { hosts: ["*.b.example", "10.0.0.5:5432", "[::1]:22", "api.example.org"] });
  for (const bad of ["https://a.example", "a.example/x", "*", "a..b", "a:0", "u@a.example"]) assert.deepEqual(problemsOf(at(bad), FIELDS, "edit", KEPT, NOW), { hosts: "hosts_bad" }, bad);
  assert.deepEqual(patchOf(at(" "), FIELDS, "edit", { ...KEPT, hosts: ["a.example"] }), { hosts: [] });
});

test("a value that is left empty stays, one that is dropped goes", () => {
  assert.deepEqual(problemsOf(formOf(KEPT), FIELDS, "replace", KEPT, NOW), { all: "nothing_new" });
  assert.deepEqual(patchOf({ ...formOf(KEPT), values: { username: "deploy", password: "new" } }, FIELDS, "replace", KEPT), { fields: { password: "new" } });
  assert.deepEqual(patchOf({ ...formOf(KEPT), dropped: ["sudo_password"] }, FIELDS, "replace", KEPT), { fields: { sudo_password: "" } });
  assert.deepEqual(problemsOf({ ...formOf(KEPT), values: { username: " " } }, FIELDS, "replace", KEPT, NOW), { "field:username": "value_missing" });
});

test("a further field that is there already is replaced or goes like the others", () => {
  const more = { ...KEPT, secret: [...KEPT.secret, "account_id"] };
  const typed = { ...formOf(more), values: { username: "deploy", account_id: " new " } };
  assert.deepEqual(problemsOf(typed, FIELDS, "replace", more, NOW), {});
  assert.deepEqual(patchOf(typed, FIELDS, "replace", more), { fields: { account_id: " new " } });
  assert.deepEqual(patchOf({ ...formOf(more), dropped: ["account_id"] }, FIELDS, "replace", more), { fields: { account_id: "" } });
  assert.deepEqual(patchOf(formOf(more), FIELDS, "replace", more), {});
  assert.deepEqual(problemsOf({ ...typed, further: [{ name: "account_id", value: "x" }] }, FIELDS, "replace", more, NOW), { "further:0": "further_twice" });
});

test("an end that is over may stay while something else is changed", () => {
  const old = { ...KEPT, expires_at: NOW - 3 * DAY };
  assert.deepEqual(problemsOf({ ...formOf(old), name: "web2" }, FIELDS, "edit", old, NOW), {});
  assert.deepEqual(problemsOf({ ...formOf(old), ends: "2026-11-01" }, FIELDS, "edit", old, NOW), { ends: "ends_bad" });
  assert.equal(endOf("2026-13-01"), undefined);
});

test("what ends soon is told apart", () => {
  assert.deepEqual([null, NOW, NOW - 1, NOW + 1, NOW + 14 * DAY, NOW + 14 * DAY + 1].map((at) => expiryOf(at, NOW)), ["never", "past", "past", "soon", "soon", "later"]);
});

test("all words are searched for", () => {
  assert.ok(fits(KEPT, "WEB deploy"));
  assert.ok(fits(KEPT, "server"));
  assert.ok(!fits(KEPT, "web mail"));
});
