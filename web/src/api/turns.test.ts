import assert from "node:assert/strict";
import { test } from "node:test";
import { showTurns } from "./turns";

test("what turns the direction of a line is written out, in names too", () => {
  const asked = { preview: { summary: "sends fdp\u202e.exe" }, arguments: { "to\u2066": ["eve\u2069", 3, null] }, plan: null };
  assert.deepEqual(showTurns(asked), { preview: { summary: String.raw`sends fdp\u202e.exe` }, arguments: { [String.raw`to\u2066`]: [String.raw`eve\u2069`, 3, null] }, plan: null });
});

test("what has none stays the same object", () => {
  const asked = { summary: "שלום, Grüße\n", list: [{ a: true }] };
  assert.equal(showTurns(asked), asked);
  assert.equal(showTurns(undefined), undefined);
});
