// What of a run is shown. Made by `fold` from its events, and by nothing else.
import type { Candidate, Message, Purpose, Receipt, ToolOutcome, Undo, Usage } from "@/api/events";
import type { DeepVersion } from "./deep";
import type { Answer, Classified, GivenDocument, Mode, ModelErrorClass, Origin, Outcome, PlanStep, Receipts, Reference, Risk, Subject } from "@/api/types";

/** Text of a model for the user, and what it thought before. */
export type TextItem = { kind: "text"; key: string; step: number; purpose: Purpose; text: string; reasoning: string; live: boolean; startedAt: number; reasonedMs: number | null; final: boolean; composed: boolean;
  /** A person stopped it here. */
  stopped: boolean;
};
export type ToolState = "proposed" | "asked" | "running" | "ok" | "error" | "rejected" | "dry" | "uncertain";
export type ToolItem = {
  kind: "tool"; key: string; callId: string; tool: string; arguments: Record<string, unknown>; state: ToolState; risk: Risk | null; startedAt: number;
  /** Index of the plan's step it carries out. */
  planStep: number | null;
  source: string | null; ms: number | null; message: string; content: string; data: unknown; truncated: boolean; receipt: Receipt | null; undo: Undo | null; undone: string | null; tainted: boolean;
  /** Who decided on it, where someone was asked. */
  decision: { answer: Answer; by: string } | null;
};
export type PlanItem = {
  kind: "plan"; key: string; generation: number; candidates: Candidate[]; by: string; notes: string[];
  /** Steps while they are generated. */
  draft: PlanStep[]; live: boolean;
  /** Arguments that were open and have been filled, or why not, by step. */
  filled: Record<number, { arguments: Record<string, unknown> } | { error: string }>;
  approvalId: string | null; subject: Extract<Subject, { kind: "plan" }> | null; answer: Answer | null; by_whom: string | null; superseded: boolean;
};
/** A question to a person that is not about a plan. */
export type AskItem = { kind: "ask"; key: string; approvalId: string; subject: Exclude<Subject, { kind: "plan" }>; answer: Answer | null; by: string | null; askedAt: number };
export type SteerItem = { kind: "steer"; key: string; text: string; by: string };
export type NoticeItem =
  | { kind: "notice"; key: string; notice: "resumed"; node: string }
  | { kind: "notice"; key: string; notice: "model-failed"; message: string; class: Failure["kind"]; retryAt: number | null }
  | { kind: "notice"; key: string; notice: "plan-failed"; message: string }
  | { kind: "notice"; key: string; notice: "corrected"; words: string }
  | { kind: "notice"; key: string; notice: "compacted"; count: number }
  | { kind: "notice"; key: string; notice: "timer"; purpose: string; fired: boolean };
/** The plan that the run works by, and those before it. */
export type DeepItem = { kind: "deep"; key: string; versions: DeepVersion[] };
export type Item = DeepItem | TextItem | ToolItem | PlanItem | AskItem | SteerItem | NoticeItem;

/** What the run is busy with. */
export type Doing = { what: "start" | "queue" | "intent" | "reply" | "search" | "plan" | "deep" | "fill" | "answer" | "compact" | "tool" | "think" | "finish"; since: number; tool?: string };

/** Why there was no reply or no plan, for a person: `kind` is a sentence, the rest are details. */
export type Failure = { kind: ModelErrorClass | "plan"; message: string; hint: string; detail: string; connection: string };

export type RunView = {
  id: string;
  seq: number;
  input: string; mode: Mode | null; origin: Origin | null; model: string; agent: string; connection: string;
  /** Name of the connection that answered last; `null` in logs of older programs. */
  answeredBy: string | null;
  workspace: string; history: Message[];
  /** Documents that were given with the request, and the passages that the run was given or found, by their numbers. */
  documents: GivenDocument[]; passages: Reference[];
  forkedFrom: { run: string; seq: number } | null;
  startedAt: number; endedAt: number | null;
  status: "empty" | "running" | "waiting" | "finished";
  doing: Doing | null;
  /** The approval that it waits for. */
  waiting: string | null;
  stopping: boolean;
  items: Item[];
  risks: Record<string, Risk>;
  intent: { kept: { tool: string; score: number }[]; offered: number; wantsTool: boolean } | null;
  outcome: Outcome | null;
  /** What a failed run failed of, where that is known. */
  failure: Failure | null;
  answer: string;
  receipts: Receipts | null;
  /** The most confidential that it has seen. */
  classified: Classified | null;
  usage: Usage; modelCalls: number; toolCalls: number;
};

export type { Candidate, Receipt, ToolOutcome, Undo };

export const emptyRun = (id: string): RunView => ({
  id, seq: 0, input: "", mode: null, origin: null, model: "", agent: "", connection: "", answeredBy: null, workspace: "", history: [], documents: [], passages: [], forkedFrom: null, startedAt: 0, endedAt: null,
  status: "empty", doing: null, waiting: null, stopping: false, items: [], risks: {}, intent: null, outcome: null, failure: null, answer: "", receipts: null, classified: null,
  usage: { prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, cost_micros: 0 }, modelCalls: 0, toolCalls: 0,
});
