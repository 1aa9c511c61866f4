// The trace: a fold of a run's events into steps. The same fold serves a run that has ended and one that is at work.
import { classifiedIn, higher } from "@/run/classified";
import { ended, versionOf } from "@/run/deep";
import type { ApprovalNode, Base, CallNode, DeepNode, FinishNode, ModelNode, NoteNode, PlanNode, Trace } from "./nodes";
import { noteRow, type NoteType } from "./notes";
import type { Answer, Budget, Of, RunEvent, Subject, Usage } from "./types";

const NO_USAGE: Usage = {
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  cost_micros: 0,
};

type Building = Trace & {
  model: ModelNode | null;
  plan: PlanNode | null;
  deep: DeepNode | null;
  timers: Map<string, NoteNode>;
  approvals: Map<string, ApprovalNode>;
};

/** Folds all of a run's events, oldest first. Unknown events are kept as notes. */
export function fold(events: readonly RunEvent[]): Trace {
  const trace: Building = {
    roots: [],
    setup: null,
    calls: new Map(),
    finish: null,
    spent: {
      model_calls: 0,
      tool_calls: 0,
      tokens: 0,
      cost_micros: 0,
      wall_ms: 0,
    },
    usage: { ...NO_USAGE },
    reserved: 0,
    budget: null,
    failures: 0,
    classified: null,
    answered: new Map(),
    waiting: null,
    firstAt: events[0]?.at ?? 0,
    lastAt: 0,
    lastSeq: 0,
    parked: [],
    model: null,
    plan: null,
    deep: null,
    timers: new Map(),
    approvals: new Map(),
  };
  for (const event of events) {
    const parked = trace.parked.at(-1);
    const idle = parked !== undefined && parked.to === null;
    if (trace.lastSeq > 0 && !idle && !trace.finish && event.type !== "run.resumed")
      trace.spent.wall_ms += Math.max(0, event.at - trace.lastAt);
    apply(trace, event);
    trace.classified = higher(trace.classified, classifiedIn(event));
    trace.lastAt = event.at;
    trace.lastSeq = event.seq;
  }
  return trace;
}

function base(event: RunEvent, name: string): Base {
  return {
    key: `${name}-${event.seq}`,
    seq: event.seq,
    at: event.at,
    end: event.at,
    children: [],
  };
}

function apply(trace: Building, event: RunEvent): void {
  switch (event.type) {
    case "run.started":
      trace.setup = event.setup;
      trace.budget = event.setup.budget as unknown as Budget;
      trace.roots.push({
        ...base(event, "start"),
        kind: "start",
        setup: event.setup,
      });
      return;
    case "run.resumed":
      if (trace.model && trace.model.end === null) trace.model.end = event.at;
      trace.reserved = 0;
      trace.finish = null;
      note(trace, event);
      return;
    case "intent.filtered":
      trace.roots.push({
        ...base(event, "filter"),
        kind: "filter",
        at: trace.lastAt || event.at,
        kept: event.kept,
        offered: event.offered,
        wantsTool: event.wants_tool,
      });
      return;
    case "model.requested": {
      trace.spent.model_calls += 1;
      trace.reserved = event.reserved;
      const node: ModelNode = {
        ...base(event, "model"),
        kind: "model",
        end: null,
        step: event.step,
        purpose: event.purpose,
        model: event.model,
        promptHash: event.prompt_hash,
        prompt: event.prompt,
        reserved: event.reserved,
        text: "",
        raw: "",
        reasoning: "",
        calls: [],
        diagnostics: [],
        finish: null,
        usage: null,
        error: null,
        answered: null,
        attempts: [],
        noticed: {},
        retryAt: null,
        firstAt: null,
        stopped: false,
      };
      trace.model = node;
      trace.roots.push(node);
      return;
    }
    case "model.delta": {
      const node = asked(trace, event.step);
      if (!node) return;
      node.firstAt ??= event.at;
      node.text += event.text ?? "";
      node.reasoning += event.reasoning ?? "";
      return;
    }
    case "model.responded":
      responded(trace, event);
      return;
    case "model.failed": {
      trace.reserved = 0;
      const node = asked(trace, event.step);
      if (node && event.error.class === "cancelled") {
        Object.assign(node, { end: event.at, stopped: true, attempts: event.attempts ?? [] });
        return;
      }
      trace.failures += 1;
      if (!node) {
        const text = `${event.error.message} (${(event.error as { hint?: string }).hint ?? event.error.class})`;
        push(trace, event, { note: "plan.failed", text, by: null, failed: true });
        return;
      }
      node.end = event.at;
      node.error = event.error;
      node.attempts = event.attempts ?? [];
      node.retryAt = event.retry_at ?? null;
      return;
    }
    case "plan.proposed": {
      const node: PlanNode = {
        ...base(event, "plan"),
        kind: "plan",
        generation: (trace.plan?.generation ?? 0) + 1,
        candidates: event.candidates,
        by: event.by,
        notes: event.notes ?? [],
      };
      trace.plan = node;
      trace.roots.push(node);
      return;
    }
    case "deep.planned":
    case "deep.replanned": {
      if (trace.deep) trace.deep.working = false;
      const node: DeepNode = { ...base(event, "deep"), kind: "deep", n: (trace.deep?.n ?? 0) + 1, version: versionOf(event), working: event.steps.length > 0 };
      trace.deep = node;
      trace.roots.push(node);
      return;
    }
    case "deep.step":
      if (trace.deep) trace.deep.version = ended(trace.deep.version, event);
      return;
    case "intent.dispatched":
      note(trace, event);
      if (event.call) Object.assign(call(trace, event, event.call.id, event.call.name), { arguments: event.call.arguments, source: event.call.source, confidence: event.call.confidence });
      return;
    case "tools.found": {
      const node = call(trace, event, event.call_id, "tool_search");
      node.arguments ??= { query: event.query };
      node.result = { outcome: "ok", content: event.content };
      node.end = event.at;
      note(trace, event);
      return;
    }
    case "run.returned":
      return;
    case "approval.requested":
      asks(trace, event);
      return;
    case "approval.decided": {
      const node = trace.approvals.get(event.approval_id);
      if (node) {
        node.answer = event.answer;
        node.by = event.by;
        node.end = event.at;
        settle(trace, node.subject, event.answer, event.at);
      }
      wake(trace, event.at);
      return;
    }
    case "tool.rejected": {
      const node = call(trace, event, event.call_id, event.tool);
      node.rejected = event.message;
      node.end = event.at;
      return;
    }
    case "tool.intent": {
      trace.spent.tool_calls += 1;
      const node = call(trace, event, event.call_id, event.tool);
      if (node.intents === 0) node.at = event.at;
      node.intents += 1;
      node.arguments = event.arguments;
      node.effect = event.effect;
      node.argsHash = event.args_hash;
      node.idempotencyKey = event.idempotency_key;
      node.uncertain = false;
      node.evidence = event.evidence ?? null;
      node.end = null;
      return;
    }
    case "tool.staged":
    case "tool.undoing":
      return;
    case "tool.result": {
      const node = call(trace, event, event.call_id, event.tool);
      node.result = event;
      node.ms = event.ms;
      node.evidence = event.evidence ?? node.evidence;
      node.end = event.at;
      return;
    }
    case "tool.uncertain": {
      const node = call(trace, event, event.call_id, event.tool);
      node.uncertain = true;
      node.evidence = event.why ?? null;
      return;
    }
    case "tool.undone": {
      const node = trace.calls.get(event.call_id);
      if (node)
        node.undone = { summary: event.summary, by: event.by, at: event.at };
      if (trace.finish && event.receipts) trace.finish.receipts = event.receipts;
      note(trace, event);
      return;
    }
    case "timer.set": {
      const node = note(trace, event);
      node.end = null;
      trace.timers.set(event.timer_id, node);
      trace.parked.push({ from: event.at, to: null });
      return;
    }
    case "timer.fired": {
      const node = trace.timers.get(event.timer_id);
      if (node) node.end = event.at;
      wake(trace, event.at);
      return;
    }
    case "run.stop_requested":
      note(trace, event);
      wake(trace, event.at);
      return;
    case "run.finished":
      finished(trace, event);
      return;
    default:
      note(trace, event);
  }
}

function asked(trace: Building, step: number): ModelNode | null {
  return trace.model && trace.model.step === step ? trace.model : null;
}

function responded(
  trace: Building,
  event: Of<"model.responded">,
): void {
  trace.reserved = 0;
  const { usage } = event;
  trace.spent.tokens += usage.prompt_tokens + usage.completion_tokens;
  trace.spent.cost_micros += usage.cost_micros;
  trace.usage.prompt_tokens += usage.prompt_tokens;
  trace.usage.cached_tokens += usage.cached_tokens;
  trace.usage.completion_tokens += usage.completion_tokens;
  trace.usage.cost_micros += usage.cost_micros;
  if (event.answered) trace.answered.set(event.answered.name, (trace.answered.get(event.answered.name) ?? 0) + 1);
  const node = asked(trace, event.step);
  if (!node) return;
  Object.assign(node, {
    end: event.at,
    text: event.text,
    raw: event.raw ?? "",
    reasoning: event.reasoning ?? "",
    calls: event.calls,
    diagnostics: event.diagnostics ?? [],
    finish: event.finish,
    usage,
    answered: event.answered ?? null,
    attempts: event.answered?.attempts ?? [],
    noticed: event.noticed ?? {},
  });
  if (event.purpose !== "reply") return;
  for (const wanted of event.calls) {
    const child = call(trace, event, wanted.id, wanted.name);
    child.arguments = wanted.arguments;
    child.source = wanted.source;
    child.confidence = wanted.confidence;
    child.end = null;
  }
}

/** The step of a call; made where its owner is: the model call that wanted it, or the plan. */
function call(
  trace: Building,
  event: RunEvent,
  id: string,
  tool: string,
): CallNode {
  const known = trace.calls.get(id);
  if (known) return known;
  const node: CallNode = {
    ...base(event, "call"),
    key: `call-${id}`,
    kind: "call",
    callId: id,
    tool,
    arguments: null,
    source: null,
    confidence: null,
    effect: null,
    argsHash: null,
    idempotencyKey: null,
    intents: 0,
    result: null,
    ms: null,
    rejected: null,
    denied: false,
    uncertain: false,
    evidence: null,
    undone: null,
  };
  trace.calls.set(id, node);
  const planned = /^plan-(\d+)-(\d+)$/.exec(id);
  if (planned && trace.plan) {
    const step = trace.plan.candidates[0]?.plan[Number(planned[2]) - 1];
    node.arguments = step?.args ?? null;
    node.source = "plan";
    trace.plan.children.push(node);
  } else if (trace.model) trace.model.children.push(node);
  else trace.roots.push(node);
  return node;
}

function asks(
  trace: Building,
  event: Of<"approval.requested">,
): void {
  const { subject } = event;
  const node: ApprovalNode = {
    ...base(event, "approval"),
    kind: "approval",
    end: null,
    id: event.approval_id,
    subject,
    answer: null,
    by: null,
  };
  trace.approvals.set(event.approval_id, node);
  trace.waiting = event.approval_id;
  trace.parked.push({ from: event.at, to: null });
  if (subject.kind === "plan") {
    (trace.plan?.children ?? trace.roots).push(node);
    return;
  }
  const tool = subject.kind === "question" ? "feedback" : subject.tool;
  const owner = call(trace, event, subject.call_id, tool);
  if (subject.kind !== "question") owner.arguments = subject.arguments;
  owner.end = null;
  owner.children.push(node);
}

/** An answer that ends a call by itself: no event of the call follows. */
function settle(
  trace: Building,
  subject: Subject,
  answer: Answer,
  at: number,
): void {
  if (subject.kind === "plan") return;
  const owner = trace.calls.get(subject.call_id);
  if (!owner) return;
  if (answer.decision === "deny") {
    owner.rejected = answer.reason ?? "";
    owner.denied = true;
  } else if (answer.decision === "feedback" && subject.kind === "question")
    owner.result = { outcome: "ok", content: answer.text };
  else if (answer.decision === "feedback") {
    owner.rejected = answer.text;
    owner.denied = true;
  } else if (answer.decision === "happened")
    owner.result = { outcome: "ok", content: "" };
  else if (answer.decision === "skip") owner.rejected = "";
  else return;
  owner.uncertain = false;
  owner.end = at;
}

function wake(trace: Building, at: number): void {
  const span = trace.parked.at(-1);
  if (span && span.to === null) span.to = at;
  trace.waiting = null;
}

/** One line, by the table of notes; an event that is not in it is of a newer version. */
function note(trace: Building, event: RunEvent): NoteNode {
  const row = noteRow(event);
  const told = row
    ? { note: event.type as NoteType, text: row.text(event), by: row.by?.(event) ?? null, failed: row.failed?.(event) ?? false }
    : { note: "unknown" as const, text: event.type, by: null, failed: false };
  return push(trace, event, told);
}

function push(trace: Building, event: RunEvent, told: Pick<NoteNode, "note" | "text" | "by" | "failed">): NoteNode {
  const node: NoteNode = { ...base(event, "note"), kind: "note", ...told };
  const inside = told.note === "plan.filled" ? trace.plan?.children : undefined;
  (inside ?? trace.roots).push(node);
  return node;
}

function finished(
  trace: Building,
  event: Of<"run.finished">,
): void {
  wake(trace, event.at);
  trace.reserved = 0;
  if (trace.deep) trace.deep.working = false;
  if (trace.model && trace.model.end === null) trace.model.end = event.at;
  for (const node of trace.calls.values()) node.end ??= event.at;
  for (const node of trace.approvals.values()) node.end ??= event.at;
  const node: FinishNode = {
    ...base(event, "finish"),
    kind: "finish",
    outcome: event.outcome,
    answer: event.answer,
    composed: event.composed ?? false,
    usage: event.usage,
    receipts: event.receipts ?? null,
  };
  trace.finish = node;
  trace.roots.push(node);
}

