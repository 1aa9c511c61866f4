// The run's log as the browser gets it: the union of its events, and the stream.
import { authorized, problemOf } from "./client";
import type { Answer, GrantScope, Mode, ModelErrorClass, Origin, Outcome, PlanStep, Receipts, Strategy, Subject, Task } from "./types";

export type Purpose = "reply" | "plan" | "deep" | "fill" | "answer" | "compact";
/** One connection that was asked. `class`: why it did not answer. */
export type Attempt = { connection: string; class?: ModelErrorClass; message?: string; ms: number };
/** Who gave a reply, and who was asked before. */
export type Answered = { connection: string; name: string; model: string; strategy: Strategy; attempts?: Attempt[] };
/** What was seen in a reply beside calls that can be made. */
export type Noticed = { claim?: string; broken?: { call_id: string; text: string }[]; guessed?: { call_id: string; text: string }[] };
export type DeepStep = { number: number; goal: string; tool?: string; depends_on?: number[]; risk?: string; expect?: string };
export type DeepEnd = "done" | "failed" | "skipped";
type DeepPlan = { steps: DeepStep[]; style: string; by: string; notes?: string[] };
export type Usage = { prompt_tokens: number; cached_tokens: number; completion_tokens: number; cost_micros: number };
export type ToolCall = { id: string; name: string; arguments: Record<string, unknown>; source: string; confidence: number };
export type Receipt = { action: string; object: string; evidence?: string };
export type Undo = { kind: "snapshot"; tool: string; snapshot: unknown } | { kind: "impossible"; reason: string };
export type Message = { role: "system" | "user" | "assistant" | "tool"; text: string; tool_calls?: ToolCall[]; tool_call_id?: string };
export type Score = { length: number; known_tools: number; valid_arguments: number; effects_late: number; ends: number; fit: number; total: number };
export type Candidate = { plan: PlanStep[]; score: Score };
export type Setup = {
  agent: { id: string; name: string; instructions: string };
  tools: { name: string; description: string; risk: string; effect: string }[];
  conversation?: string | null; history: Message[]; input: string; mode: Mode; origin: Origin; asked_by: string;
  budget: Record<string, number>; grants: { scope: GrantScope; until?: number }[];
  connection: string; model: string; capabilities: Record<string, unknown>; workspace: string;
  forked_from?: { run: string; seq: number } | null;
  route?: { task: Task; targets: string[]; reason: string } | null;
  /** What the request is about, the words that say so, and the tools that go first for it. */
  hint?: { hint: "analytics" | "documents" | "general"; words: string[]; tools: string[] } | null;
  reading?: "strict" | "any";
  parent?: string | null;
};
/** Content from outside that entered a run. */
export type Taint = { call_id: string; tool: string; origin: string };
export type ToolOutcome =
  | { outcome: "ok"; content: string; data?: unknown; truncated?: boolean; receipt?: Receipt; undo?: Undo; tainted?: boolean; origin?: string }
  | { outcome: "error"; message: string; fatal?: boolean; origin?: string }
  | { outcome: "dry"; preview: string };

/** What happened, by `type`. A newer server may send types that are not here; they are kept and not understood. */
export type EventBody =
  | { type: "run.started"; v: number; setup: Setup }
  | { type: "run.queued"; at_work: number }
  | { type: "run.resumed"; node: string }
  | { type: "intent.filtered"; kept: { tool: string; score: number }[]; offered: number; wants_tool: boolean }
  | { type: "model.requested"; step: number; purpose: Purpose; model: string; prompt_hash: string; prompt: Message[]; reserved: number }
  | { type: "model.delta"; step: number; purpose: Purpose; text?: string; reasoning?: string }
  | { type: "model.responded"; step: number; purpose: Purpose; text: string; raw?: string; reasoning?: string; calls: ToolCall[]; diagnostics?: string[]; finish: string; usage: Usage; answered?: Answered; noticed?: Noticed }
  | { type: "model.failed"; step: number; purpose: Purpose; error: { class: ModelErrorClass; message: string; hint?: string; detail?: string | null }; retry_at?: number; attempts?: Attempt[] }
  | { type: "model.corrected"; words: string; message: string; strategy?: Strategy }
  | { type: "intent.dispatched"; call?: ToolCall; note: string }
  | { type: "tools.found"; call_id: string; query: string; found: { tool: string; score: number }[]; content: string }
  | { type: "context.compacted"; compaction: { summary?: string; cut?: number }; by?: string; replaced: number }
  | ({ type: "deep.planned" } & DeepPlan)
  | ({ type: "deep.replanned"; reason: string } & DeepPlan)
  | { type: "deep.step"; number: number; status: DeepEnd; why?: string; call_id?: string }
  | { type: "deep.reminded"; open: number[] }
  | { type: "plan.proposed"; candidates: Candidate[]; by: string; notes?: string[] }
  | { type: "plan.failed"; message: string }
  | { type: "plan.filled"; index: number; arguments: { Ok: Record<string, unknown> } | { Err: string } }
  | { type: "approval.requested"; approval_id: string; subject: Subject }
  | { type: "approval.decided"; approval_id: string; answer: Answer; by: string }
  | { type: "grants.changed"; standing: { id: string }[] }
  | { type: "tool.rejected"; call_id: string; tool: string; message: string }
  | { type: "tool.intent"; call_id: string; tool: string; arguments: Record<string, unknown>; args_hash: string; effect: string; idempotency_key: string; evidence?: string }
  | { type: "tool.staged"; call_id: string; tool: string; staged: { output: unknown; proof: unknown } }
  | ({ type: "tool.result"; call_id: string; tool: string; ms: number; evidence?: string } & ToolOutcome)
  | { type: "run.delegated"; call_id: string; child: string; agent: string; request: string }
  | { type: "run.returned"; call_id: string; child: string; spent: Record<string, number>; taint?: Taint[] }
  | { type: "tool.undoing"; call_id: string; by: string }
  | { type: "tool.undo_failed"; call_id: string; message: string }
  | { type: "tool.undone"; call_id: string; summary: string; by: string; receipts?: Receipts | null }
  | { type: "tool.uncertain"; call_id: string; tool: string; why?: string }
  | { type: "timer.set"; timer_id: string; rings_at: number; purpose: string }
  | { type: "timer.fired"; timer_id: string }
  | { type: "run.steered"; text: string; by: string }
  | { type: "run.stop_requested"; by: string }
  | { type: "run.finished"; outcome: Outcome; answer: string; composed?: boolean; usage: Usage; receipts?: Receipts | null };

/** The body of one type. */
export type Of<T extends EventBody["type"]> = Extract<EventBody, { type: T }>;
export type RunEvent = { run_id: string; seq: number; at: number; epoch: number } & EventBody;

/** One record of a `text/event-stream`. */
export type SseRecord = { id: string | null; event: string; data: string };

/** Splits a `text/event-stream` into records as its text comes in. Give it every piece; it returns what is complete. */
export function sseParser(): (piece: string) => SseRecord[] {
  let rest = "";
  return (piece) => {
    rest += piece;
    const records: SseRecord[] = [];
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(rest);
      if (!end) return records;
      const block = rest.slice(0, end.index);
      rest = rest.slice(end.index + end[0].length);
      let id: string | null = null;
      let event = "message";
      const data: string[] = [];
      for (const line of block.split(/\r\n|\n|\r/)) {
        if (line === "" || line.startsWith(":")) continue;
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "id") id = value;
        else if (field === "event") event = value;
        else if (field === "data") data.push(value);
      }
      if (data.length > 0) records.push({ id, event, data: data.join("\n") });
    }
  };
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Longest silence before a stream counts as dead, ms. The server sends a comment every 15 s. */
const SILENCE = 40_000;

export type StreamState = "connecting" | "live" | "waiting";
type StreamOptions = {
  path: string;
  /** Called for each record with data, in order. */
  onRecord: (record: SseRecord) => void;
  /** Where to go on: sent as `Last-Event-ID`. */
  lastId: () => string | null;
  /** Whether nothing more can come. Asked when the server ends the stream. */
  done: () => boolean;
  onState?: (state: StreamState) => void;
  /** An answer that trying again won't change (403, 404). */
  onFatal?: (error: unknown) => void;
  signal: AbortSignal;
};

/** Reads a stream until `done`, over any number of connections: cut, it resumes where it was, with a growing pause. */
export async function readStream(options: StreamOptions): Promise<void> {
  const { signal } = options;
  let failures = 0;
  while (!signal.aborted) {
    options.onState?.("connecting");
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    signal.addEventListener("abort", abort, { once: true });
    let alive = setTimeout(abort, SILENCE);
    try {
      const last = options.lastId();
      const response = await authorized(options.path, {
        headers: { accept: "text/event-stream", ...(last ? { "last-event-id": last } : {}) },
        signal: attempt.signal,
      });
      if (!response.ok || !response.body) {
        const problem = await problemOf(response);
        if (response.status >= 400 && response.status < 500 && response.status !== 429 && response.status !== 401) {
          options.onFatal?.(problem);
          return;
        }
        throw problem;
      }
      options.onState?.("live");
      const feed = sseParser();
      const text = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(alive);
        if (done) break;
        alive = setTimeout(abort, SILENCE);
        failures = 0;
        for (const record of feed(text.decode(value, { stream: true }))) options.onRecord(record);
      }
      if (options.done()) return;
      failures += 1;
    } catch {
      if (signal.aborted) return;
      failures += 1;
    } finally {
      clearTimeout(alive);
      signal.removeEventListener("abort", abort);
      attempt.abort();
    }
    options.onState?.("waiting");
    const wait = Math.min(10_000, 250 * 2 ** Math.min(failures - 1, 6));
    await pause(wait * (0.75 + Math.random() / 2), signal);
  }
}
