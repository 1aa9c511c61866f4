import assert from "node:assert/strict";
import { test } from "node:test";
import { isGroupOpen, readFolding } from "./folding";

test("what was chosen stays, and otherwise the room and the page decide", () => {
  assert.equal(isGroupOpen({}, "people", false, false), false);
  assert.equal(isGroupOpen({}, "people", true, false), true);
  assert.equal(isGroupOpen({}, "people", false, true), true);
  assert.equal(isGroupOpen({}, "knowledge", false, false), true);
  assert.equal(isGroupOpen({ open: { people: false } }, "people", true, true), false);
});

test("what can't be read is forgotten", () => {
  assert.deepEqual(readFolding('{"narrow":true,"open":{"people":true}}'), { narrow: true, open: { people: true } });
  for (const text of [null, "", "x", "null", "3", '{"narrow":1,"open":null}']) assert.deepEqual(readFolding(text), {});
});
