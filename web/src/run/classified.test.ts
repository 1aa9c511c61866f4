import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventBody, RunEvent } from "@/api/events";
import type { Classified } from "@/api/types";
import { fold as trace } from "@/pages/runs/trace/fold";
import { higher } from "./classified";
import { fold } from "./fold";
import { emptyRun } from "./view";

const log = (...bodies: unknown[]): RunEvent[] => bodies.map((body, index) => ({ run_id: "r", seq: index + 1, at: 1000 + index, epoch: 1, ...(body as EventBody) }));
const usage = { prompt_tokens: 1, completion_tokens: 1, cached_tokens: 0, cost_micros: 0 };
const setup = { agent: { id: "a", name: "desk", instructions: "" }, tools: [], input: "Look at the pay", mode: "loop", origin: "chat", budget: {}, connection: "c", model: "m", capabilities: {}, workspace: "/w" };
const people: Classified = { classification: "confidential", label: "people", source: "hr/pay.csv" };
const board: Classified = { classification: "restricted", label: "board", source: "a text with the mark BOARD" };
const started = (classified?: Classified) => ({ type: "run.started", v: 1, setup: { ...setup, ...(classified && { classified }) } });
const seen = (what: Classified) => ({ type: "data.classified", ...what });

test("a run is as confidential as the highest that it began with, met or heard of", () => {
  const returned = { type: "run.returned", call_id: "k", child: "r2", classified: board };
  for (const [events, expect] of [
    [log(started()), null],
    [log(started(people)), people],
    [log(started(), seen(people)), people],
    [log(started(people), seen(board)), board],
    [log(started(board), seen(people)), board],
    [log(started(people), returned), board],
  ] as const) {
    assert.deepEqual(fold(emptyRun("r"), events).classified, expect);
    assert.deepEqual(trace(events).classified, expect);
  }
  assert.equal(higher(people, { ...people, source: "later" })?.source, "hr/pay.csv", "the earlier of equals");
});

test("the trace has a line for it", () => {
  const [, note] = trace(log(started(), seen(people))).roots;
  assert.ok(note?.kind === "note" && note.note === "data.classified" && !note.failed);
  assert.match(note.text, /hr\/pay\.csv.*people.*confidential/);
});

test("a failure by a policy is told from one of the model's server", () => {
  const error = { class: "blocked_by_policy", message: "the policy “stays here” keeps confidential data from this run's model", hint: "give the agent a connection in the house" };
  const failed = (attempts: unknown[]) => ({ type: "model.failed", step: 1, purpose: "reply", error, attempts });
  const finished = { type: "run.finished", outcome: { status: "failed", message: error.message }, answer: "", usage };
  const failure = (...events: unknown[]) => fold(emptyRun("r"), log(...events, finished)).failure;
  assert.equal(failure(started(), seen(people), failed([]))?.kind, "blocked_by_policy");
  assert.equal(failure(started(), seen(people), failed([]))?.hint, error.hint);
});
