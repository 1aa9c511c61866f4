import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf, markOf, withAttached } from "./attach-once";
import type { Attached } from "./stored";

const rows: Attached = { path: "uploads/rows.csv", name: "rows.csv", bytes: 8 };
const plan: Attached = { document: "d1", name: "plan.pdf", bytes: 9 };

test("the same document or path again stays one attachment", () => {
  assert.deepEqual(withAttached([rows, plan], { ...plan, bytes: 9 }), [rows, plan]);
  assert.deepEqual(withAttached([rows, plan], rows), [plan, rows]);
  assert.deepEqual(withAttached([rows], { document: "d2", name: "plan.pdf", bytes: 9 }).map(keyOf), ["uploads/rows.csv", "d2"]);
});

test("a file is the same by name, size and time of change", () => {
  const file = { name: "rows.csv", size: 8, lastModified: 1 };
  assert.equal(markOf(file), markOf({ ...file }));
  for (const other of [{ ...file, name: "rows.csv2" }, { ...file, size: 9 }, { ...file, lastModified: 2 }]) assert.notEqual(markOf(file), markOf(other));
});
