import assert from "node:assert/strict";
import { test } from "node:test";
import { isGroupOpen, readFolding, roomy } from "./folding";

const GROUPS = [["knowledge", 3], ["tools", 4], ["people", 3], ["operations", 6]].map(([key, pages]) => ({ key: key as "people", pages: Array.from({ length: pages as number }) }));

test("what was chosen stays, and otherwise the room and the page decide", () => {
  const [low, tall] = [roomy(GROUPS, 30), roomy(GROUPS, 60)];
  assert.equal(isGroupOpen({}, "people", false, low), false);
  assert.equal(isGroupOpen({}, "people", true, low), true);
  assert.equal(isGroupOpen({}, "people", false, tall), true);
  assert.equal(isGroupOpen({}, "knowledge", false, low), true);
  assert.equal(isGroupOpen({ open: { people: false } }, "people", true, tall), false);
});

test("as many groups are open as there is room for", () => {
  assert.deepEqual([...roomy(GROUPS, 40)], ["knowledge", "tools"]);
  assert.deepEqual([...roomy(GROUPS, 45)], ["knowledge", "tools", "people"]);
  assert.deepEqual([...roomy(GROUPS, 52)], ["knowledge", "tools", "people", "operations"]);
  // Who sees fewer pages has more room.
  assert.ok(roomy([...GROUPS.slice(0, 2), { key: "operations", pages: [1, 2, 3] }], 42).has("operations"));
});

test("what can't be read is forgotten", () => {
  assert.deepEqual(readFolding('{"narrow":true,"open":{"people":true}}'), { narrow: true, open: { people: true } });
  for (const text of [null, "", "x", "null", "3", '{"narrow":1,"open":null}']) assert.deepEqual(readFolding(text), {});
});
