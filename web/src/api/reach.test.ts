import assert from "node:assert/strict";
import { test } from "node:test";
import { covers, reaches } from "./reach.ts";
import type { AccessLevel, HeldGrant, ResourceKind, Role } from "./types";

test("each level has those before it", () => {
  assert.deepEqual((["use", "edit", "share"] as const).map((level) => [covers(level, "use"), covers(level, "edit"), covers(level, "share")]), [[true, false, false], [true, true, false], [true, true, true]]);
  assert.equal(covers(null, "use"), false);
});

test("operators need no grant, viewers are helped by none, developers need one of this very thing", () => {
  const grant = (kind: ResourceKind, id: string, level: AccessLevel, group: string | null = null): HeldGrant => ({ kind, id, level, group, name: id, given_by: "ada@example.org", given_at: 0 });
  const held = [grant("agent", "a", "use"), grant("agent", "a", "edit", "writers"), grant("skill", "s", "share"), grant("credential", "c", "share")];
  const may = (role: Role, kind: ResourceKind, id: string) => (["edit", "share"] as const).map((level) => reaches({ role }, held, kind, id, level));
  assert.deepEqual(may("admin", "agent", "b"), [true, true]);
  assert.deepEqual(may("operator", "connection", "b"), [true, true]);
  assert.deepEqual(may("viewer", "skill", "s"), [false, false]);
  assert.deepEqual(may("developer", "agent", "a"), [true, false]);
  assert.deepEqual(may("developer", "skill", "s"), [true, true]);
  assert.deepEqual(may("developer", "agent", "s"), [false, false]);
  assert.deepEqual(may("developer", "credential", "c"), [false, true]);
  assert.equal(reaches(undefined, held, "agent", "a", "edit"), false);
  assert.equal(reaches({ role: "developer" }, undefined, "agent", "a", "edit"), false);
});
