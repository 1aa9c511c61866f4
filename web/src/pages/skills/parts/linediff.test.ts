import assert from "node:assert/strict";
import { test } from "node:test";
import { lineDiff, linesOf } from "./linediff";

test("a value becomes lines, code as it stands", () => {
  assert.deepEqual(linesOf({ name: "a", none: [], list: ["x", 1], deep: { code: "def run(p):\n    return 1\n", empty: "" } }), ["name: a", "none: []", "list:", "  - x", "  - 1", "deep:", "  code:", "    def run(p):", "        return 1", '  empty: ""']);
});

test("a diff has the changed lines and three around them", () => {
  const before = Array.from({ length: 12 }, (_, at) => `line ${at}`);
  const after = [...before.slice(0, 6), "new", ...before.slice(7)];
  assert.equal(lineDiff(before, after), ["@@ -4,7 +4,7 @@", " line 3", " line 4", " line 5", "-line 6", "+new", " line 7", " line 8", " line 9"].join("\n"));
  assert.equal(lineDiff(before, before), "");
  assert.equal(lineDiff([], ["a"]), "@@ -1,0 +1,1 @@\n+a");
  assert.equal(lineDiff(["a", "b", "c"], ["a", "c", "d"]), "@@ -1,3 +1,3 @@\n a\n-b\n c\n+d");
});
