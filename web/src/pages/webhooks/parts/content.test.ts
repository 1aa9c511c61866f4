import assert from "node:assert/strict";
import { test } from "node:test";
import { eventOf, indented, readHeaders, writeHeaders } from "./content";

test("JSON gets a line for each part, and nothing else changes", () => {
  const value = { a: [1, { b: "x, {y}: \"z\"" }, []], c: {}, d: null, e: "" };
  assert.equal(indented(JSON.stringify(value)), JSON.stringify(value, null, 2));
  assert.equal(indented(JSON.stringify(value, null, 4)), JSON.stringify(value, null, 2));
  // These would be others if they were read.
  assert.equal(indented('{"id":12345678901234567890,"price":1.00}'), '{\n  "id": 12345678901234567890,\n  "price": 1.00\n}');
  for (const text of ["hello", "a=1&b=2", "{broken", ""]) assert.equal(indented(text), text);
});

test("headers are typed line by line", () => {
  assert.deepEqual(readHeaders("X-GitHub-Event: issues\n\n content-type :application/json; a:b "), { "x-github-event": "issues", "content-type": "application/json; a:b" });
  assert.deepEqual(readHeaders(""), {});
  for (const wrong of ["no colon", ": x", "a b: c"]) assert.equal(readHeaders(wrong), null, wrong);
  assert.deepEqual(readHeaders(writeHeaders({ a: "1", b: "x: y" })), { a: "1", b: "x: y" });
});

test("an event is called as its sender does, also when it starts once more", () => {
  assert.deepEqual(eventOf({ id: "d1", event: "evt_1" }), { event: "evt_1", again: false });
  assert.deepEqual(eventOf({ id: "d1", event: "d1" }), { event: null, again: false });
  assert.deepEqual(eventOf({ id: "d2", event: "replay d2 of evt_1" }), { event: "evt_1", again: true });
});
