import assert from "node:assert/strict";
import { test } from "node:test";
import { workspacePath } from "./file-link";

test("links that name files of the workspace", () => {
  for (const [href, path] of [
    ["notes/todo.md", "notes/todo.md"],
    ["./notes/todo.md#today", "notes/todo.md"],
    ["notes/my%20list.md", "notes/my list.md"],
    ["100%.md", "100%.md"],
    ["/home/ann/work/a.csv", "a.csv"],
    ["file:///home/ann/work/sub/a.csv", "sub/a.csv"],
    ["/notes/todo.md", "notes/todo.md"],
    ["https://example.org/a.md", null],
    ["mailto:ann@example.org", null],
    ["javascript:alert(1)", null],
    ["file:///etc/passwd", null],
    ["//example.org/a.md", null],
    ["#claim-1", null],
    ["", null],
    ["notes/", null],
  ] as const) assert.equal(workspacePath(href, "/home/ann/work"), path, href);
});
