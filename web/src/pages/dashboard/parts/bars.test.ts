import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, failedShare } from "./bars.ts";

test("a bar has its parts and their sum", () => {
  assert.deepEqual(barsOf([{ at: 5, completed: 3, failed: 1, other: 2 }]), [{ at: 5, parts: [3, 1, 2], sum: 6 }]);
  assert.deepEqual(barsOf([]), []);
});

test("the share of failures is of what has ended", () => {
  assert.equal(failedShare(0, 0), null);
  assert.equal(failedShare(3, 1), 25);
  assert.equal(failedShare(0, 2), 100);
});
