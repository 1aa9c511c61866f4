import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval } from "@/api/types";
import { grouped } from "./group";
import { diffCount, diffLines } from "./diff";

test("lines of a diff have the numbers of both files", () => {
  const lines = diffLines("--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@\n same\n-old\n+new\n+--- more\n end\n");
  assert.deepEqual(lines.map((line) => [line.kind, line.old, line.now]), [["file", null, null], ["file", null, null], ["hunk", null, null], ["same", 3, 3], ["del", 4, null], ["add", null, 4], ["add", null, 5], ["same", 5, 6]]);
  assert.equal(lines[6]?.text, "--- more", "a line that begins like a header is still a line");
  assert.deepEqual(diffCount(lines), { added: 2, removed: 1 });
});

test("a diff that was cut says so", () => {
  assert.equal(diffLines("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n[truncated: 9 chars omitted]").at(-1)?.kind, "note");
});

test("duplicates stand behind the first of them, whichever pages they come from", () => {
  const approval = (id: string, ...duplicates: string[]) => ({ id, duplicates }) as Approval;
  const groups = grouped([approval("a", "c", "z"), approval("b"), approval("c", "a", "z")]);
  assert.deepEqual(groups.map((group) => [group.first.id, group.others]), [["a", ["c", "z"]], ["b", []]]);
});
