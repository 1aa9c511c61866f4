import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventBody, RunEvent } from "@/api/events";
import { fold } from "./fold";
import append from "./logs/append.json";
import count from "./logs/count.json";
import loop from "./logs/loop.json";
import { sourcesOf } from "./sources";
import { emptyRun, type Item, type RunView } from "./view";

const logs = { append, count, loop } as unknown as Record<string, RunEvent[]>;
const all = (events: readonly RunEvent[]) => fold(emptyRun("r"), events);
const ofKind = <K extends Item["kind"]>(view: RunView, kind: K) => view.items.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind);

const log = (...bodies: EventBody[]): RunEvent[] => bodies.map((body, index) => ({ run_id: "r", seq: index + 1, at: 1000 + index * 100, epoch: 1, ...body }));
const usage = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 4, cost_micros: 7 };
const started = (mode: "loop" | "plan" = "loop") => ({ type: "run.started", v: 1, setup: { agent: { id: "a", name: "steward", instructions: "" }, tools: [{ name: "write", description: "", risk: "write", effect: "write" }, { name: "read", description: "", risk: "read", effect: "read" }], history: [], input: "do it", mode, origin: "chat", asked_by: "ada", budget: {}, grants: [], connection: "c", model: "m", capabilities: {}, workspace: "/w" } }) as unknown as EventBody;
const requested = (step: number, purpose: "reply" | "plan" | "answer" = "reply") => ({ type: "model.requested", step, purpose, model: "m", prompt_hash: "", prompt: [], reserved: 0 }) as EventBody;
const delta = (step: number, text: string, reasoning = "", purpose: "reply" | "plan" = "reply") => ({ type: "model.delta", step, purpose, text, reasoning }) as EventBody;
const responded = (step: number, text: string, calls: unknown[] = [], purpose = "reply") => ({ type: "model.responded", step, purpose, text, calls, finish: "stop", usage }) as EventBody;
const finished = (answer: string, more: object = {}) => ({ type: "run.finished", outcome: { status: "completed" }, answer, usage, ...more }) as EventBody;
const plan = [{ tool: "read", args: { path: "a" }, thought: "look" }, { tool: "final_answer", args: {}, thought: "" }];
/** What a question stands on. */
const about = { agent: "a", workspace: "/w", asked_by: "ada", reason: "" };
const score = { length: 1, known_tools: 1, valid_arguments: 1, effects_late: 1, ends: 1, fit: 1, total: 1 };

test("real logs: however the stream is cut, the view is the same", () => {
  for (const [name, events] of Object.entries(logs)) {
    const whole = all(events);
    assert.equal(whole.status, "finished", name);
    for (let cut = 0; cut <= events.length; cut += 1) {
      // Cut anywhere, and the last three events sent twice.
      const resumed = fold(fold(emptyRun("r"), events.slice(0, cut)), events.slice(Math.max(0, cut - 3)));
      assert.deepEqual(resumed, whole, `${name} cut at ${cut}`);
    }
    const single = events.reduce((view, event) => fold(view, [event]), emptyRun("r"));
    assert.deepEqual(single, whole, `${name} one by one`);
  }
});

test("what turns out to be reasoning is taken back from the text", () => {
  const provisional = (text: string) => ({ ...delta(1, text), provisional: true }) as EventBody;
  const back = { type: "model.delta", step: 1, purpose: "reply", text: "Bl", reasoning: "The user greets me.", retracts: true } as EventBody;
  const shown = (...bodies: EventBody[]) => ofKind(all(log(started(), requested(1), ...bodies)), "text").at(-1);
  const before = shown(provisional("The user "), provisional("greets me."));
  assert.equal(before?.text, "The user greets me.");
  const after = shown(provisional("The user "), provisional("greets me."), back, delta(1, "ue."));
  assert.deepEqual([after?.text, after?.reasoning], ["Blue.", "The user greets me."]);
  const ended = shown(provisional("The user greets me."), back, delta(1, "ue."), { ...responded(1, "Blue."), reasoning: "The user greets me." } as EventBody, finished("Blue."));
  assert.deepEqual([ended?.text, ended?.reasoning, ended?.final], ["Blue.", "The user greets me.", true]);
});

test("a real log of the small model: plan, receipt, undo, composed answer", () => {
  const view = all(logs.append!);
  const [write] = ofKind(view, "tool");
  assert.equal(write?.state, "ok");
  assert.equal(write?.receipt?.object, "notes/handover.md");
  assert.equal(write?.undo?.kind, "snapshot");
  assert.equal(write?.planStep, 0);
  assert.equal(write?.risk, "write");
  assert.equal(ofKind(view, "plan")[0]?.candidates.length, 2);
  assert.equal(ofKind(view, "plan")[0]?.live, false);
  const answer = ofKind(view, "text").at(-1);
  assert.equal(answer?.final, true);
  assert.equal(answer?.composed, true);
  assert.deepEqual(sourcesOf(all(logs.count!)).map((source) => source.label), ["chinook.db"]);
  assert.deepEqual(sourcesOf(view), [], "a write is no source");
});

test("a real log of the loop: text streams, is replaced by the reply as committed, and is the answer", () => {
  const events = logs.loop!;
  const first = events.findIndex((event) => event.type === "model.delta");
  assert.ok(first > 0, "the log has deltas");
  assert.equal(ofKind(all(events.slice(0, first + 1)), "text")[0]?.live, true);
  const view = all(events);
  assert.equal(ofKind(view, "text").filter((item) => item.final).length, 1);
  assert.equal(ofKind(view, "text").find((item) => item.final)?.text, view.answer);
  assert.ok(ofKind(view, "tool").every((item) => item.state === "ok"));
  assert.ok(view.usage.prompt_tokens > 0);
});

test("events out of the past and of a newer server change nothing", () => {
  const events = log(started(), requested(1), delta(1, "Hal"));
  const view = all(events);
  assert.equal(fold(view, events), view);
  const newer = fold(view, [{ ...events[0], seq: 4, type: "brand.new" } as unknown as RunEvent]);
  assert.deepEqual(newer.items, view.items);
  assert.equal(newer.seq, 4);
});

test("folding leaves the old view as it was, and items that did not change keep their identity", () => {
  const events = log(started(), requested(1), responded(1, "a", [{ id: "c1", name: "read", arguments: {} }]), requested(2), delta(2, "b"));
  const before = all(events.slice(0, 4));
  const copy = structuredClone(before);
  const after = fold(before, events.slice(4));
  assert.deepEqual(before, copy);
  assert.equal(after.items[0], before.items[0]);
});

test("an interrupted reply is said again, not twice", () => {
  const view = all(log(started(), requested(1), delta(1, "Half a sen"), { type: "run.resumed", node: "n" }, requested(1), delta(1, "Half a sentence."), responded(1, "Half a sentence."), finished("Half a sentence.")));
  assert.deepEqual(ofKind(view, "text").map((item) => item.text), ["Half a sentence."]);
  assert.equal(ofKind(view, "notice")[0]?.notice, "resumed");
});

test("a failed model call that is tried again leaves no trace; the last one says why", () => {
  const failed = (retry_at?: number) => ({ type: "model.failed", step: 1, purpose: "reply", error: { class: "server", message: "500" }, ...(retry_at && { retry_at }) }) as EventBody;
  assert.equal(ofKind(all(log(started(), requested(1), failed(9))), "notice").length, 1);
  assert.equal(ofKind(all(log(started(), requested(1), failed(9), requested(2))), "notice").length, 0);
  const view = all(log(started(), requested(1), delta(1, "x"), failed()));
  assert.equal(ofKind(view, "text").length, 0);
  assert.equal(ofKind(view, "notice").length, 1);
});

test("an approval stops the run and starts it again; the call says who decided", () => {
  const subject = { kind: "call", call_id: "c1", tool: "write", arguments: { path: "a" }, args_hash: "h", risk: "write", preview: { summary: "s", reversible: true } } as const;
  const base: EventBody[] = [started(), requested(1), responded(1, "", [{ id: "c1", name: "write", arguments: { path: "a" } }]), { type: "approval.requested", approval_id: "p", subject, about }];
  const waiting = all(log(...base));
  assert.equal(waiting.status, "waiting");
  assert.equal(waiting.waiting, "p");
  assert.equal(ofKind(waiting, "tool")[0]?.state, "asked");
  const denied = all(log(...base, { type: "approval.decided", approval_id: "p", answer: { decision: "deny", reason: "no" }, by: "ada" }, { type: "tool.rejected", call_id: "c1", tool: "write", message: "a person said no: no" }));
  assert.equal(denied.status, "running");
  assert.equal(ofKind(denied, "tool")[0]?.state, "rejected");
  assert.equal(ofKind(denied, "tool")[0]?.decision?.by, "ada");
  assert.equal(ofKind(denied, "tool").length, 1);
});

test("a plan is drafted while it comes in, approved, refined", () => {
  const text = JSON.stringify(plan);
  const half = all(log(started("plan"), requested(1, "plan"), delta(1, text.slice(0, 60), "", "plan")));
  assert.equal(ofKind(half, "plan")[0]?.live, true);
  assert.deepEqual(ofKind(half, "plan")[0]?.draft.map((step) => step.tool), ["read", "final_answer"].slice(0, ofKind(half, "plan")[0]?.draft.length));
  const proposed: EventBody[] = [started("plan"), requested(1, "plan"), delta(1, text, "", "plan"), responded(1, text, [], "plan"), { type: "plan.proposed", candidates: [{ plan, score }], by: "model" }, { type: "approval.requested", approval_id: "p", subject: { kind: "plan", plan_hash: "h", previews: [] }, about }];
  const waiting = all(log(...proposed));
  assert.equal(ofKind(waiting, "plan").length, 1);
  assert.equal(ofKind(waiting, "plan")[0]?.approvalId, "p");
  const refined = all(log(...proposed, { type: "approval.decided", approval_id: "p", answer: { decision: "feedback", text: "shorter" }, by: "ada" }, requested(2, "plan"), { type: "plan.proposed", candidates: [{ plan, score }], by: "model" }));
  assert.deepEqual(ofKind(refined, "plan").map((item) => [item.superseded, item.generation]), [[true, 1], [false, 2]]);
});

test("a stopped run keeps what was said, and calls in flight are not called done", () => {
  const view = all(log(started(), requested(1), delta(1, "So far"), { type: "run.stop_requested", by: "ada" }, { type: "run.finished", outcome: { status: "stopped", by: "ada" }, answer: "", usage } as EventBody));
  assert.equal(view.stopping, false);
  assert.deepEqual(ofKind(view, "text").map((item) => [item.text, item.live, item.final]), [["So far", false, false]]);
  const cut = all(log(started(), { type: "tool.intent", call_id: "c", tool: "write", arguments: {}, args_hash: "", effect: "write", idempotency_key: "" }, finished("")));
  assert.equal(ofKind(cut, "tool")[0]?.state, "uncertain");
});

test("an undo after the end is shown", () => {
  const view = all(logs.append!);
  const call = ofKind(view, "tool")[0]!;
  const undone = fold(view, [{ run_id: "r", seq: view.seq + 1, at: 1, epoch: 1, type: "tool.undone", call_id: call.callId, summary: "as before", by: "ada" }]);
  assert.equal(ofKind(undone, "tool")[0]?.undone, "as before");
  assert.equal(undone.status, "finished");
});

const cancelled = (step: number) => ({ type: "model.failed", step, purpose: "reply", error: { class: "cancelled", message: "the model call was stopped" } }) as EventBody;
const stoppedBy = (answer: string) => ({ type: "run.finished", outcome: { status: "stopped", by: "ada" }, answer, usage }) as EventBody;

test("what was said before a stop stays, is the answer, and is marked; one that had said nothing leaves nothing", () => {
  const view = all(log(started(), requested(1), delta(1, "One, "), delta(1, "two"), cancelled(1), { type: "run.stop_requested", by: "ada" }, stoppedBy("One, two")));
  assert.deepEqual(ofKind(view, "text").map((item) => [item.text, item.live, item.final, item.stopped]), [["One, two", false, true, true]]);
  assert.equal(view.answer, "One, two");
  assert.equal(view.failure, null);
  assert.equal(ofKind(view, "notice").length, 0, "a stop is no failure");
  const silent = all(log(started(), requested(1), cancelled(1), { type: "run.stop_requested", by: "ada" }, stoppedBy("")));
  assert.equal(ofKind(silent, "text").length, 0);
  const thought = all(log(started(), requested(1), delta(1, "", "hm"), cancelled(1), stoppedBy("")));
  assert.deepEqual(ofKind(thought, "text").map((item) => [item.reasoning, item.stopped]), [["hm", true]]);
});

test("a failure keeps its kind and its details, once, and a plan that failed is not told twice", () => {
  const error = { class: "broken", message: "unexpected EOF during chunk size line", hint: "try again", detail: "raw" };
  const failed = { type: "model.failed", step: 1, purpose: "reply", error, attempts: [{ connection: "c2", ms: 3 }] } as EventBody;
  const end = { type: "run.finished", outcome: { status: "failed", message: "unexpected EOF" }, answer: "", usage } as EventBody;
  const view = all(log(started(), requested(1), failed, end));
  assert.deepEqual(view.failure, { kind: "broken", message: error.message, hint: "try again", detail: "raw", connection: "c2" });
  assert.equal(ofKind(view, "notice").length, 0);
  const plan = all(log(started("plan"), { type: "plan.failed", message: "no usable plan" }, end));
  assert.equal(ofKind(plan, "notice").length, 0);
  assert.equal(plan.failure?.kind, "plan");
  const mended = all(log(started(), requested(1), failed, requested(2), responded(2, "Good."), finished("Good.")));
  assert.equal(mended.failure, null);
});

test("an answer that was said before in the same words stands once", () => {
  const view = all(log(started(), requested(1), responded(1, "Done with terminal."), { type: "model.corrected", words: "Done", message: "m" }, requested(2), responded(2, "Done with terminal."), finished("Done with terminal.")));
  assert.deepEqual(ofKind(view, "text").map((item) => [item.text, item.final]), [["Done with terminal.", true]]);
});

test("after an undo the verdict is the one that the log has from there on", () => {
  const proved = { verdict: "verified", claims: [{ text: "I wrote it", start: 0, end: 10, action: "write", calls: ["c1"], why: "" }] } as const;
  const receipts = { verdict: "unverified", claims: [{ text: "I wrote it", start: 0, end: 10, action: "write", why: "it was undone" }] } as const;
  const events = log(started(), requested(1), responded(1, "I wrote it"), finished("I wrote it", { receipts: proved }), { type: "tool.undone", call_id: "c1", summary: "as before", by: "ada", receipts } as unknown as EventBody);
  assert.equal(all(events.slice(0, -1)).receipts?.verdict, "verified");
  assert.equal(all(events).receipts?.verdict, "unverified");
});
