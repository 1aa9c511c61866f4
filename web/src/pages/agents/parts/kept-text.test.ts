import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeptText } from "@/api/types";
import { cellText, startOf } from "./kept-text";

const kept = (text: string, version: number): KeptText => ({ text, version, characters: text.length, limit: 4000, origins: [] });

test("a draft stays when the agent changes the text, and is known to be behind", () => {
  assert.deepEqual(startOf(kept("likes tea", 3), null, 3), { text: "likes tea", dirty: false, behind: false });
  assert.deepEqual(startOf(kept("likes tea", 3), "likes tea\n", 3), { text: "likes tea\n", dirty: false, behind: false });
  assert.deepEqual(startOf(kept("likes tea", 3), "likes mate", 3), { text: "likes mate", dirty: true, behind: false });
  assert.deepEqual(startOf(kept("likes coffee", 4), "likes mate", 3), { text: "likes mate", dirty: true, behind: true });
  assert.equal(startOf(kept("likes mate", 4), "likes mate", 3).behind, false);
});

test("values of a table are shown as they are", () => {
  for (const [value, text] of [[null, "NULL"], ["NULL ", "NULL "], [1.5, "1.5"], [{ blob_bytes: 2 }, '{"blob_bytes":2}']] as const) assert.equal(cellText(value), text);
});
