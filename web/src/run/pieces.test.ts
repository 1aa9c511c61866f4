import assert from "node:assert/strict";
import { test } from "node:test";
import { sseParser } from "@/api/events";
import { marksOf, unitsOf } from "./claims";
import { planDraft } from "./plan-draft";
import { rehypeClaims } from "./rehype-claims";

test("a plan's steps at each cut of its text: never an error, never a step that goes away", () => {
  const plan = [{ thought: "say \"hi\" {not json}", tool: "write", args: { content: "a]}[", n: [1, { b: 2 }] } }, { thought: "two", tool: "read", args: {} }];
  const text = `Here it is:\n${JSON.stringify(plan)} done`;
  let before = 0;
  for (let cut = 0; cut <= text.length; cut += 1) {
    const steps = planDraft(text.slice(0, cut));
    assert.ok(steps.length >= before, `at ${cut}`);
    before = steps.length;
  }
  assert.deepEqual(planDraft(text), plan.map(({ tool, args, thought }) => ({ tool, args, thought })));
  assert.deepEqual(planDraft("no json here"), []);
  assert.deepEqual(planDraft("[nonsense}"), []);
});

test("byte positions become units, in any script", () => {
  const text = "Grün 🌱 – 日本 ok";
  for (let unit = 0; unit <= text.length; unit += 1) {
    const code = text.charCodeAt(unit);
    if (code >= 0xdc00 && code < 0xe000) continue;
    assert.deepEqual(unitsOf(text, [Buffer.byteLength(text.slice(0, unit))]), [unit]);
  }
  const claim = { text: "日本", start: Buffer.byteLength("Grün 🌱 – "), end: Buffer.byteLength("Grün 🌱 – 日本"), action: "write", why: "" };
  const [mark] = marksOf(text, { verdict: "unverified", claims: [claim] });
  assert.equal(text.slice(mark!.start, mark!.end), "日本");
  assert.equal(mark!.proved, false);
});

test("claims are cut out of text by their place in the source", () => {
  const source = "I wrote it. Then more.";
  const marks = marksOf(source, { verdict: "verified", claims: [{ text: "I wrote it.", start: 0, end: 11, action: "write", calls: ["c"], why: "" }] });
  const tree = { type: "root", children: [{ type: "element", tagName: "p", children: [{ type: "text", value: source, position: { start: { offset: 0 }, end: { offset: source.length } } }] }] };
  rehypeClaims(marks)(tree);
  const children = tree.children[0]!.children as unknown as { tagName?: string; value?: string; children?: { value: string }[] }[];
  assert.deepEqual(children.map((child) => child.tagName ?? child.value), ["mark", " Then more."]);
  assert.equal(children[0]?.children?.[0]?.value, "I wrote it.");
});

test("a stream cut anywhere gives the same records", () => {
  const text = ": hello\n\nid: 1\nevent: run.started\ndata: {\"a\":1}\n\nid: 2\r\nevent: x\r\ndata: one\r\ndata: two\r\n\r\n:beat\n\ndata:bare\n\n";
  const whole = sseParser()(text);
  assert.deepEqual(whole, [{ id: "1", event: "run.started", data: "{\"a\":1}" }, { id: "2", event: "x", data: "one\ntwo" }, { id: null, event: "message", data: "bare" }]);
  for (let cut = 1; cut < text.length; cut += 1) {
    const feed = sseParser();
    assert.deepEqual([...feed(text.slice(0, cut)), ...feed(text.slice(cut))], whole, `cut at ${cut}`);
  }
});
