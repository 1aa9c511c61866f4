// Steps of a trace: what the fold of a run's events gives.
import type { Answered, Attempt, Noticed } from "@/api/events";
import type { Classified } from "@/api/types";
import type { DeepVersion } from "@/run/deep";
import type { NoteType } from "./notes";
import type { Answer, Budget, Candidate, Message, ModelError, Outcome, Purpose, Receipts, Setup, Subject, ToolCall, ToolOutcome as ToolResult, Usage } from "./types";

export type Base = {
  key: string;
  /** First event of this step. */
  seq: number;
  at: number;
  /** When it ended; `null` while it is under way. */
  end: number | null;
  children: Node[];
};

export type StartNode = Base & { kind: "start"; setup: Setup };
export type FilterNode = Base & {
  kind: "filter";
  kept: { tool: string; score: number }[];
  offered: number;
  wantsTool: boolean;
};
export type ModelNode = Base & {
  kind: "model";
  step: number;
  purpose: Purpose;
  model: string;
  promptHash: string;
  prompt: Message[];
  reserved: number;
  text: string;
  raw: string;
  reasoning: string;
  calls: ToolCall[];
  diagnostics: string[];
  finish: string | null;
  usage: Usage | null;
  error: ModelError | null;
  /** Who answered; `null` in logs of older programs and while it is under way. */
  answered: Answered | null;
  attempts: Attempt[];
  noticed: Noticed;
  retryAt: number | null;
  firstAt: number | null;
  /** A person stopped it; the text is what it had said. */
  stopped: boolean;
};
export type PlanNode = Base & {
  kind: "plan";
  generation: number;
  candidates: Candidate[];
  by: string;
  notes: string[];
};
/** One version of a deep plan. */
export type DeepNode = Base & {
  kind: "deep";
  n: number;
  version: DeepVersion;
  /** Whether the run works by it. */
  working: boolean;
};
export type CallNode = Base & {
  kind: "call";
  callId: string;
  tool: string;
  arguments: unknown;
  source: string | null;
  confidence: number | null;
  effect: string | null;
  argsHash: string | null;
  idempotencyKey: string | null;
  intents: number;
  result: ToolResult | null;
  ms: number | null;
  /** Why it did not run. */
  rejected: string | null;
  /** A person said no or wants it otherwise. */
  denied: boolean;
  uncertain: boolean;
  /** After an interruption: what shows that it happened, that it had to run again, or why that can't be told. */
  evidence: string | null;
  undone: { summary: string; by: string; at: number } | null;
};
export type ApprovalNode = Base & {
  kind: "approval";
  id: string;
  subject: Subject;
  answer: Answer | null;
  by: string | null;
};
export type NoteNode = Base & {
  kind: "note";
  note: NoteType | "unknown";
  text: string;
  by: string | null;
  failed: boolean;
};
export type FinishNode = Base & {
  kind: "finish";
  outcome: Outcome;
  answer: string;
  composed: boolean;
  usage: Usage;
  receipts: Receipts | null;
};

export type Node =
  | StartNode
  | FilterNode
  | ModelNode
  | PlanNode
  | DeepNode
  | CallNode
  | ApprovalNode
  | NoteNode
  | FinishNode;

export type Trace = {
  roots: Node[];
  setup: Setup | null;
  calls: Map<string, CallNode>;
  finish: FinishNode | null;
  spent: {
    model_calls: number;
    tool_calls: number;
    tokens: number;
    cost_micros: number;
    wall_ms: number;
  };
  usage: Usage;
  /** Tokens that a model call in flight has reserved. */
  reserved: number;
  budget: Budget | null;
  failures: number;
  /** The most confidential that the run has seen. */
  classified: Classified | null;
  /** How many replies each connection gave, by its name. */
  answered: Map<string, number>;
  /** Ids of open approvals. */
  waiting: string | null;
  firstAt: number;
  lastAt: number;
  lastSeq: number;
  /** Spans in which the run was parked: nothing worked. */
  parked: { from: number; to: number | null }[];
};

/** All steps in the order in which they began. */
export function inOrder(roots: readonly Node[]): { node: Node; depth: number }[] {
  const out: { node: Node; depth: number }[] = [];
  const walk = (nodes: readonly Node[], depth: number): void => {
    for (const node of nodes) {
      out.push({ node, depth });
      walk(node.children, depth + 1);
    }
  };
  walk(roots, 0);
  return out;
}

/** Share of the prompt that came from a cache, 0 to 1; `null` without a prompt. */
export function cachedShare(usage: Usage): number | null {
  return usage.prompt_tokens > 0
    ? usage.cached_tokens / usage.prompt_tokens
    : null;
}

export type CallStatus =
  | "proposed"
  | "waiting"
  | "running"
  | "ok"
  | "error"
  | "dry"
  | "rejected"
  | "denied"
  | "uncertain"
  | "undone";

/** How far a call has come. */
export function callStatus(node: CallNode): CallStatus {
  if (node.undone) return "undone";
  if (node.denied) return "denied";
  if (node.rejected !== null) return "rejected";
  if (node.uncertain) return "uncertain";
  if (node.result) return node.result.outcome;
  if (node.children.some((c) => c.kind === "approval" && c.end === null))
    return "waiting";
  if (node.intents > 0) return "running";
  return node.tool === "final_answer" && node.end !== null ? "ok" : "proposed";
}
