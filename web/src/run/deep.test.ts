import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventBody, RunEvent } from "@/api/events";
import { callStatus } from "@/pages/runs/trace/nodes";
import { fold as traceOf } from "@/pages/runs/trace/fold";
import { doneOf, statesOf, versionOf } from "./deep";
import { fold } from "./fold";
import { emptyRun, type DeepItem } from "./view";

const log = (...bodies: unknown[]): RunEvent[] => bodies.map((body, index) => ({ run_id: "r", seq: index + 1, at: 1000 + index * 100, epoch: 1, ...(body as EventBody) }));
const started = { type: "run.started", v: 1, setup: { agent: {}, tools: [], history: [], input: "do it", budget: {} } };
const usage = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 4, cost_micros: 7 };
const steps = [{ number: 1, goal: "look", tool: "list" }, { number: 2, goal: "write", depends_on: [1], risk: "it may be there", expect: "a receipt" }, { number: 3, goal: "say" }];
const planned = { type: "deep.planned", steps, style: "structured", by: "model" };
const step = (number: number, status: string, why = "") => ({ type: "deep.step", number, status, ...(why && { why }) });
const replanned = { type: "deep.replanned", steps: [{ number: 1, goal: "ask" }], style: "structured", by: "model", reason: "the file is locked" };
const finished = { type: "run.finished", outcome: { status: "completed" }, answer: "", usage };
const planOf = (...bodies: unknown[]) => fold(emptyRun("r"), log(started, ...bodies)).items.find((item): item is DeepItem => item.kind === "deep");

test("a step is at work once all that it needs is done", () => {
  const state = (...ends: unknown[]) => [...statesOf(planOf(planned, ...ends)!.versions[0]!, true).values()];
  assert.deepEqual(state(), ["work", "open", "open"]);
  assert.deepEqual(state(step(1, "done")), ["done", "work", "open"]);
  // What it needs failed: the next one that can be done is at work.
  assert.deepEqual(state(step(1, "failed", "gone")), ["failed", "open", "work"]);
  assert.deepEqual(state(step(1, "done"), step(2, "done"), step(3, "skipped")), ["done", "done", "skipped"]);
  const version = planOf(planned, step(1, "done"))!.versions[0]!;
  assert.deepEqual([...statesOf(version, false).values()], ["done", "open", "open"], "nothing is at work once the run has ended");
  assert.equal(doneOf(version), 1);
});

test("what ended stays ended, and steps that are not there change nothing", () => {
  const version = planOf(planned, step(1, "failed", "gone"), step(1, "done"), step(9, "done"))!.versions[0]!;
  assert.deepEqual(version.ends[1], { status: "failed", why: "gone", callId: null, at: 1200 });
  assert.deepEqual(Object.keys(version.ends), ["1"]);
});

test("a new plan is another version; without steps the run goes on without one", () => {
  const plan = planOf(planned, step(1, "failed", "locked"), replanned, step(1, "done"));
  assert.equal(plan?.versions.length, 2);
  assert.equal(plan?.versions[0]?.ends[1]?.status, "failed");
  assert.equal(plan?.versions[1]?.reason, "the file is locked");
  assert.equal(plan?.versions[1]?.ends[1]?.status, "done");
  assert.equal(planOf({ ...planned, steps: [] }), undefined, "a request that is not worth a plan has no card");
  assert.deepEqual(planOf(planned, { ...replanned, steps: [] })?.versions[1]?.steps, []);
  assert.equal(versionOf(planned as never).reason, null);
});

test("the trace has each version, who answered and who did not", () => {
  const answered = { connection: "c2", name: "vLLM", model: "qwen3", strategy: "native", attempts: [{ connection: "c1", class: "server", message: "503", ms: 20 }, { connection: "c2", ms: 300 }] };
  const events = log(
    started, planned, step(1, "failed", "locked"), replanned,
    { type: "model.requested", step: 1, purpose: "reply", model: "m", prompt_hash: "", prompt: [], reserved: 0 },
    { type: "model.responded", step: 1, purpose: "reply", text: "", calls: [{ id: "s", name: "tool_search", arguments: { query: "mail" }, source: "native", confidence: 1 }], finish: "stop", usage, answered, noticed: { claim: "I wrote it" } },
    { type: "tools.found", call_id: "s", query: "mail", found: [{ tool: "mail_draft", score: 0.8 }], content: "mail_draft: …" },
    { type: "model.corrected", words: "I wrote it", message: "Nothing has happened yet." },
    { type: "deep.reminded", open: [1] },
    { type: "context.compacted", compaction: { summary: "before" }, by: "model", replaced: 4 },
    { type: "intent.dispatched", note: "no tool fits" },
    finished,
  );
  const trace = traceOf(events);
  const plans = trace.roots.filter((node) => node.kind === "deep");
  assert.deepEqual(plans.map((node) => [node.n, node.working, node.version.steps.length]), [[1, false, 3], [2, false, 1]]);
  const model = trace.roots.find((node) => node.kind === "model");
  assert.equal(model?.answered?.name, "vLLM");
  assert.equal(model?.attempts[0]?.class, "server");
  assert.equal(model?.noticed.claim, "I wrote it");
  assert.deepEqual([...trace.answered], [["vLLM", 1]]);
  assert.equal(callStatus(trace.calls.get("s")!), "ok");
  const notes = trace.roots.flatMap((node) => (node.kind === "note" ? [node.note] : []));
  assert.deepEqual(notes, ["tools.found", "model.corrected", "deep.reminded", "context.compacted", "intent.dispatched"]);
  const view = fold(emptyRun("r"), events);
  assert.equal(view.answeredBy, "vLLM");
  assert.equal(view.model, "qwen3");
  assert.deepEqual(view.items.filter((item) => item.kind === "notice").map((item) => item.notice), ["corrected", "compacted"]);
});
