import assert from "node:assert/strict";
import { test } from "node:test";
import { overlapMost, problemsOf, shareOf, weightsOf } from "./tuning-form.ts";

test("lengths are those that the server takes", () => {
  const fine = { length: false, overlap: false };
  assert.deepEqual(problemsOf("1500", "300"), fine);
  assert.deepEqual(problemsOf("200", "100"), fine);
  assert.deepEqual(problemsOf("4000", "0"), fine);
  assert.deepEqual(problemsOf("199", "0"), { length: true, overlap: false });
  assert.deepEqual(problemsOf("", "x"), { length: true, overlap: true });
  assert.deepEqual(problemsOf("1000", "501"), { length: false, overlap: true });
  assert.deepEqual(problemsOf("1e3", "-1"), { length: true, overlap: true });
  assert.equal(overlapMost("1001"), 500);
});

test("a share and its weights say the same", () => {
  for (const share of [0, 30, 70, 100]) assert.equal(shareOf(weightsOf(share)), share);
  assert.equal(shareOf({ text: 1, vectors: 1 }), 50);
  assert.equal(shareOf({ text: 0.3, vectors: 0.7 }), 70);
});
