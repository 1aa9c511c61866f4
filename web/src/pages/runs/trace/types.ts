// The events as the trace reads them: those of the API, with what only the trace looks at.
import type { RunEvent } from "@/api/events";
import type { ModelErrorClass } from "@/api/types";

export type { Candidate, Message, Purpose, Receipt, RunEvent, Score, Setup, ToolCall, ToolOutcome, Undo, Usage } from "@/api/events";
export type { Answer, Claim, Outcome, Receipts, Subject } from "@/api/types";

/** The event of one type. */
export type Of<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

export type ModelError = { class: ModelErrorClass; message: string; hint?: string; detail?: string | null; retry_after_ms?: number };

export type Budget = { model_calls: number; tool_calls: number; wall_ms: number; tokens: number; cost_micros: number };
