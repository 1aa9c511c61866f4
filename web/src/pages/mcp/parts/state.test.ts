import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpServer, McpTool } from "@/api/types";
import { countsOf, hides, inOrder, isAccepted, serverState, toolState, visible } from "./state";

const tool = (name: string, more: Partial<McpTool>): McpTool => ({ name, description: "", parameters: {}, read_only: false, hash: "h", callable: false, changed: false, withdrawn: false, gone: false, ...more });
const TOOLS = [tool("a", { callable: true }), tool("b", {}), tool("c", { changed: true }), tool("d", { changed: true, gone: true }), tool("e", { withdrawn: true })];

test("each tool is in one state, and what waits comes first", () => {
  assert.deepEqual(TOOLS.map(toolState), ["accepted", "new", "changed", "gone", "withdrawn"]);
  assert.deepEqual(countsOf(TOOLS), { accepted: 1, new: 1, changed: 1, withdrawn: 1, gone: 1 });
  assert.deepEqual(inOrder(TOOLS).map((one) => one.name), ["c", "b", "a", "e", "d"]);
});

test("what was accepted can be withdrawn, though it changed or is gone", () => {
  const at = { accepted_by: "ada", accepted_at: 1 };
  const tools = [tool("a", { callable: true, ...at }), tool("b", {}), tool("c", { changed: true, ...at }), tool("d", { changed: true, gone: true, ...at })];
  assert.deepEqual(tools.map(isAccepted), [true, false, true, true]);
});

test("a server that is switched off is so first of all", () => {
  const server = { enabled: true, checked_at: 1, error: null } as McpServer;
  assert.deepEqual([server, { ...server, error: "gone" }, { ...server, checked_at: null }, { ...server, enabled: false, error: "gone" }].map(serverState), ["reachable", "failed", "never", "off"]);
});

test("what is not to be seen is shown", () => {
  assert.equal(visible("Reads.\n\tAll of it – ééé 漢字 👍"), "Reads.\n\tAll of it – ééé 漢字 👍");
  assert.equal(visible("a\u200bb\u202ec\u{e0041}d\r"), "a⟨U+200B⟩b⟨U+202E⟩c⟨U+E0041⟩d⟨U+000D⟩");
  const hidden = [tool("a\u2066b", {}), tool("a", { description: "b\u200b" }), tool("a", { parameters: { properties: { x: { description: "\u{e0041}" } } } })];
  assert.deepEqual([...hidden, tool("a", { description: "plain\ntext" })].map(hides), [true, true, true, false]);
});
