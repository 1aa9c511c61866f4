import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventBody, RunEvent } from "@/api/events";
import append from "@/run/logs/append.json";
import count from "@/run/logs/count.json";
import loop from "@/run/logs/loop.json";
import { pieces, unitsOf } from "./bytes";
import { fold } from "./fold";
import { callStatus, inOrder } from "./nodes";
import { axisOf, waitedMs } from "./span";

const logs = { append, count, loop } as unknown as Record<string, RunEvent[]>;

/** A log of bodies with the milliseconds since the one before. */
const log = (...entries: [number, unknown][]): RunEvent[] => {
  let at = 1000;
  return entries.map(([after, body], index) => ({ run_id: "r", seq: index + 1, at: (at += after), epoch: 1, ...(body as EventBody) }));
};
const usage = { prompt_tokens: 100, cached_tokens: 60, completion_tokens: 20, cost_micros: 7 };
const call = { id: "c1", name: "write", arguments: { path: "a" }, source: "native", confidence: 1 };
const begun: [number, unknown][] = [
  [0, { type: "run.started", v: 1, setup: { agent: {}, tools: [], history: [], input: "do it", budget: { model_calls: 10 } } }],
  [10, { type: "model.requested", step: 1, purpose: "reply", model: "m", prompt_hash: "", prompt: [], reserved: 500 }],
  [90, { type: "model.responded", step: 1, purpose: "reply", text: "", calls: [call], finish: "tool_calls", usage }],
];
const asked: [number, unknown] = [5, { type: "approval.requested", approval_id: "p1", subject: { kind: "call", call_id: "c1", tool: "write", arguments: { path: "a" }, args_hash: "h", risk: "write", preview: { summary: "writes", reversible: true } } }];
const intent: [number, unknown] = [1, { type: "tool.intent", call_id: "c1", tool: "write", arguments: { path: "a" }, args_hash: "h", effect: "write", idempotency_key: "k" }];
const result: [number, unknown] = [4, { type: "tool.result", call_id: "c1", tool: "write", outcome: "ok", content: "written", ms: 4, undo: { kind: "snapshot", tool: "write", snapshot: {} } }];
const done: [number, unknown] = [2, { type: "run.finished", outcome: { status: "completed" }, answer: "Done.", usage, receipts: null }];
const decided = (answer: unknown): [number, unknown] => [60_000, { type: "approval.decided", approval_id: "p1", answer, by: "ada" }];

test("real logs: each call has its place, each step an end, and the sums are the log's own", () => {
  for (const [name, events] of Object.entries(logs)) {
    const trace = fold(events);
    const steps = inOrder(trace.roots).map((entry) => entry.node);
    assert.ok(trace.finish, name);
    assert.equal(new Set(steps.map((step) => step.key)).size, steps.length, `${name}: keys are unique`);
    assert.deepEqual(steps.filter((step) => step.end === null).map((step) => step.key), [], `${name}: nothing is under way`);
    const called = events.filter((event) => event.type === "tool.intent").map((event) => event.call_id);
    for (const id of called) assert.ok(steps.some((step) => step.kind === "call" && step.callId === id), `${name}: ${id}`);
    assert.deepEqual(trace.usage, trace.finish.usage, `${name}: usage`);
    assert.deepEqual(steps.filter((step) => step.kind === "note" && step.note === "unknown"), [], `${name}: every event is understood`);
  }
});

test("a call that is approved: it waits, runs, and can be taken back after the end", () => {
  const upTo = (...more: [number, unknown][]) => fold(log(...begun, ...more));
  const status = (trace: ReturnType<typeof fold>) => callStatus(trace.calls.get("c1")!);
  assert.equal(status(upTo()), "proposed");
  assert.equal(status(upTo(asked)), "waiting");
  assert.equal(upTo(asked).waiting, "p1");
  const approve = decided({ decision: "approve" });
  assert.equal(status(upTo(asked, approve, intent)), "running");
  const ended = upTo(asked, approve, intent, result, done);
  assert.equal(status(ended), "ok");
  assert.equal(ended.waiting, null);
  const undone = upTo(asked, approve, intent, result, done, [9000, { type: "tool.undone", call_id: "c1", summary: "put back", by: "ada" }]);
  assert.equal(status(undone), "undone");
  assert.equal(undone.spent.wall_ms, ended.spent.wall_ms, "what comes after the end is no work");
});

test("time at work leaves out what a person took, and the axis squeezes it", () => {
  const trace = fold(log(...begun, asked, decided({ decision: "approve" }), intent, result, done));
  assert.equal(trace.spent.wall_ms, 112);
  assert.equal(waitedMs(trace, 0), 60_000);
  const axis = axisOf(trace, 0);
  assert.equal(axis.at(trace.firstAt), 0);
  assert.ok(Math.abs(axis.at(trace.finish!.at) - 1) < 1e-9);
  assert.equal(axis.gaps.length, 1);
  assert.ok(axis.gaps[0]!.to - axis.gaps[0]!.from <= 0.05, "a minute of waiting is a sliver");
  assert.ok(axis.at(trace.firstAt + 100) > 0.8, "work fills the axis");
});

test("answers of people that end a call without a further event", () => {
  const denied = fold(log(...begun, asked, decided({ decision: "deny", reason: "not now" }))).calls.get("c1")!;
  assert.equal(callStatus(denied), "denied");
  assert.equal(denied.rejected, "not now");
  const question: [number, unknown] = [5, { type: "approval.requested", approval_id: "p1", subject: { kind: "question", call_id: "c1", text: "Which?" } }];
  const answered = fold(log(...begun, question, decided({ decision: "feedback", text: "that one" }))).calls.get("c1")!;
  assert.equal(callStatus(answered), "ok");
  assert.deepEqual(answered.result, { outcome: "ok", content: "that one" });
});

test("a write that a crash cut off is settled from the world", () => {
  const crashed = [...begun, intent, [1, { type: "tool.staged", call_id: "c1", tool: "write", staged: { output: {}, proof: {} } }], [40_000, { type: "run.resumed", node: "n" }]] as [number, unknown][];
  const settled = (...events: [number, unknown][]) => fold(log(...crashed, ...events)).calls.get("c1")!;
  const happened = settled([1, { type: "tool.result", call_id: "c1", tool: "write", outcome: "ok", content: "wrote", ms: 0, evidence: "a holds it" }]);
  assert.equal(callStatus(happened), "ok");
  assert.equal(happened.evidence, "a holds it");
  const again = settled([1, { ...(intent[1] as object), evidence: "it waits" }]);
  assert.equal(again.intents, 2);
  assert.equal(again.evidence, "it waits");
  assert.equal(settled([1, { type: "tool.uncertain", call_id: "c1", tool: "write", why: "changed since" }]).evidence, "changed since");
});

test("a crash in mid-write is uncertain until somebody says what happened", () => {
  const crashed = [...begun, intent, [40_000, { type: "run.resumed", node: "n" }], [1, { type: "tool.uncertain", call_id: "c1", tool: "write" }], [1, { type: "approval.requested", approval_id: "p1", subject: { kind: "uncertain", call_id: "c1", tool: "write", arguments: { path: "a" } } }]] as [number, unknown][];
  const after = (decision: string) => callStatus(fold(log(...crashed, decided({ decision }))).calls.get("c1")!);
  assert.equal(callStatus(fold(log(...crashed)).calls.get("c1")!), "uncertain");
  assert.equal(after("happened"), "ok");
  assert.equal(after("skip"), "rejected");
});

test("a failed model call is counted, and its retry is a step of its own", () => {
  const trace = fold(log(begun[0]!, begun[1]!, [50, { type: "model.failed", step: 1, purpose: "reply", error: { class: "server", message: "503" }, retry_at: 5000 }], [2000, { type: "model.requested", step: 2, purpose: "reply", model: "m", prompt_hash: "", prompt: [], reserved: 500 }]));
  assert.equal(trace.failures, 1);
  assert.deepEqual(trace.roots.map((node) => (node.kind === "model" ? [node.step, node.error?.message ?? null, node.end !== null] : node.kind)), ["start", [1, "503", true], [2, null, false]]);
  assert.equal(trace.reserved, 500);
});

test("byte offsets fall on the right letters in every script", () => {
  const text = "Größe: 5 € 🙂 fertig";
  const bytes = (part: string) => new TextEncoder().encode(text.slice(0, text.indexOf(part))).length;
  for (const part of ["Größe", "5 €", "🙂", "fertig"]) {
    const start = bytes(part);
    const [from, to] = unitsOf(text, [start, start + new TextEncoder().encode(part).length]);
    assert.equal(text.slice(from, to), part);
  }
  // In the middle of a letter: to its beginning.
  assert.deepEqual(unitsOf("äb", [1]), [0]);
});

test("an answer is cut into claims and the rest, and nothing of it is lost", () => {
  const answer = "Ich habe ä.txt gelöscht und b.txt geschrieben.";
  const claim = (part: string) => {
    const start = new TextEncoder().encode(answer.slice(0, answer.indexOf(part))).length;
    return { text: part, start, end: start + new TextEncoder().encode(part).length, action: "", why: "" };
  };
  const cut = pieces(answer, [claim("b.txt geschrieben"), claim("ä.txt gelöscht")]);
  assert.equal(cut.map((piece) => piece.text).join(""), answer);
  assert.deepEqual(cut.filter((piece) => piece.claim !== null).map((piece) => [piece.claim, piece.text]), [[1, "ä.txt gelöscht"], [0, "b.txt geschrieben"]]);
  const overlapping = pieces(answer, [claim("ä.txt gelöscht und"), claim("gelöscht und b.txt")]);
  assert.equal(overlapping.map((piece) => piece.text).join(""), answer);
  assert.equal(pieces("", [claim("b.txt")]).length, 0);
});

test("a call that a person stopped is no failure and shows what it had said", () => {
  const delta = { type: "model.delta", step: 1, purpose: "reply", text: "Half a sen" };
  const failed = { type: "model.failed", step: 1, purpose: "reply", error: { class: "cancelled", message: "stopped" } };
  const trace = fold(log(begun[0]!, begun[1]!, [5, delta], [5, failed], [1, { type: "run.stop_requested", by: "ada" }], [1, { type: "run.finished", outcome: { status: "stopped", by: "ada" }, answer: "Half a sen", usage }]));
  const [node] = inOrder(trace.roots).map((entry) => entry.node).filter((one) => one.kind === "model");
  assert.ok(node?.kind === "model" && node.stopped && node.error === null && node.end !== null);
  assert.equal(node.text, "Half a sen");
  assert.equal(trace.failures, 0);
});
