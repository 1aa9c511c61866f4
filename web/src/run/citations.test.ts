import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventBody, RunEvent } from "@/api/events";
import type { Reference } from "@/api/types";
import { citedIn, cutCitations, referencesOf } from "./citations";
import { fold } from "./fold";
import { rehypeCitations } from "./rehype-citations";
import { rehypeClaims } from "./rehype-claims";
import { emptyRun } from "./view";

const passage = (number: number, more: Partial<Reference> = {}): Reference => ({ number, document: "d", chunk: number + 3, name: "handbook.pdf", source: "", headings: ["Notice"], first_page: 3, last_page: 3, text: "Three months.", nearest: 1.2, ...more });
const known = new Set([1, 2, 12]);
const numbers = (text: string) => cutCitations(text, known).flatMap((piece) => piece.numbers);

test("only numbers of passages that there are make citations", () => {
  for (const [text, found] of [
    ["Three months [1].", [1]],
    ["As [1][2] and [2, 12] say.", [1, 2, 2, 12]],
    ["[1,1]", [1]],
    ["a[0] and [9] and [1, 9] and [x] and [ and [3", []],
    ["", []],
    ["[12345678901234567890]", []],
  ] as [string, number[]][]) {
    assert.deepEqual(numbers(text), found, text);
    const pieces = cutCitations(text, known);
    assert.equal(pieces.map((piece) => piece.text).join(""), text);
    for (const piece of pieces) assert.equal(text.slice(piece.from, piece.from + piece.text.length), piece.text);
  }
});

test("what an answer cites is listed once, by its numbers", () => {
  const all = [passage(2), passage(1), passage(3)];
  assert.deepEqual(citedIn("See [2], [1, 2] and [7].", all).map((one) => one.number), [1, 2]);
  assert.deepEqual(citedIn("See none.", all), []);
});

test("results of tools may hold anything", () => {
  for (const data of [null, undefined, 3, "x", [], {}, { references: 3 }, { references: [null, 3, { number: "1" }, { number: 1, chunk: 2 }] }]) assert.deepEqual(referencesOf(data), [], JSON.stringify(data));
  assert.deepEqual(referencesOf({ references: [passage(4), { number: 5 }] }).map((one) => one.number), [4]);
});

test("a run's passages are those it began with and those its tools found", () => {
  const log = (...bodies: unknown[]): RunEvent[] => bodies.map((body, index) => ({ run_id: "r", seq: index + 1, at: index, epoch: 1, ...(body as EventBody) }));
  const started = { type: "run.started", v: 1, setup: { agent: { name: "a" }, tools: [], input: "q", documents: [{ id: "d", name: "handbook.pdf" }], references: [passage(1)] } };
  const found = { type: "tool.result", call_id: "c", tool: "documents_search", outcome: "ok", content: "", ms: 1, data: { references: [passage(2)] } };
  const view = fold(emptyRun("r"), log(started, found, { ...found, outcome: "error", message: "no" }));
  assert.deepEqual(view.passages.map((one) => one.number), [1, 2]);
  assert.deepEqual(view.documents, [{ id: "d", name: "handbook.pdf" }]);
});

type Node = { type: string; value?: string; tagName?: string; properties?: Record<string, unknown>; children?: Node[]; position?: unknown };
const shown = (node: Node): string => (node.type === "text" ? (node.value ?? "") : `<${node.tagName}${node.properties?.dataCite ? ` ${node.properties.dataCite}` : ""}>${(node.children ?? []).map(shown).join("")}</>`);
const textNode = (value: string, from = 0): Node => ({ type: "text", value, position: { start: { offset: from }, end: { offset: from + value.length } } });

test("citations become links, but not in code or in other links; claims are marked around them", () => {
  const tree: Node = { type: "root", tagName: "root", children: [{ type: "element", tagName: "p", children: [textNode("Three months [1, 2] here.")] }, { type: "element", tagName: "code", children: [textNode("a[1]", 30)] }, { type: "element", tagName: "a", children: [textNode("[1]", 40)] }] };
  rehypeCitations(known)(tree);
  assert.equal(shown(tree), "<root><p>Three months <a 1>1</><a 2>2</> here.</><code>a[1]</><a>[1]</></>");
  rehypeClaims([{ start: 0, end: 25, number: 1, proved: true, claim: { text: "", start: 0, end: 25, action: "", why: "" } }])(tree);
  assert.equal(shown(tree.children![0]!), "<p><mark>Three months </><a 1>1</><a 2>2</><mark> here.</></>");
});
