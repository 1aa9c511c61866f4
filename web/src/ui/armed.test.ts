import assert from "node:assert/strict";
import { test } from "node:test";
import { READ_FIRST, READ_NEXT, waitFor } from "./armed";

test("what takes the place of something decided is armed later", () => {
  assert.equal(waitFor(Number.POSITIVE_INFINITY), READ_FIRST);
  assert.equal(waitFor(0), READ_NEXT);
  assert.equal(waitFor(500), READ_NEXT - 500);
  assert.equal(waitFor(10_000), READ_FIRST);
});
