// Folds a run's events into its view. Pure and total: an event twice, or one of a newer server, changes nothing.
import type { RunEvent } from "@/api/events";
import { showTurns } from "@/api/turns";
import type { Risk } from "@/api/types";
import { passagesIn } from "./citations";
import { classifiedIn, higher } from "./classified";
import { ended, versionOf } from "./deep";
import { planDraft } from "./plan-draft";
import type { DeepItem, Item, PlanItem, RunView, TextItem, ToolItem } from "./view";

/** The view after these events. `view` stays as it was; items that did not change keep their identity. */
export function fold(view: RunView, events: readonly RunEvent[]): RunView {
  const draft = new Draft(view);
  for (const event of events) if (event.seq > draft.view.seq) apply(draft, event);
  return draft.changed ? draft.view : view;
}

class Draft {
  view: RunView;
  changed = false;
  constructor(from: RunView) {
    this.view = { ...from, items: [...from.items] };
  }
  find<K extends Item["kind"]>(kind: K, fits: (item: Extract<Item, { kind: K }>) => boolean): number {
    return this.view.items.findLastIndex((item) => item.kind === kind && fits(item as Extract<Item, { kind: K }>));
  }
  edit<I extends Item>(index: number, change: Partial<I>): void {
    const item = this.view.items[index];
    if (item) this.view.items[index] = { ...item, ...change } as Item;
  }
  drop(index: number): void {
    if (index >= 0) this.view.items.splice(index, 1);
  }
  push(item: Item): void {
    this.view.items.push(item);
  }
  text(step: number): number {
    return this.find("text", (item) => item.step === step);
  }
  /** The card of a call, made where it is missing. */
  tool(callId: string, tool: string, at: number, args?: Record<string, unknown>): number {
    const index = this.find("tool", (item) => item.callId === callId);
    if (index >= 0) return index;
    const plan = /^plan-(\d+)-(\d+)$/.exec(callId);
    this.push({
      kind: "tool", key: `tool:${callId}`, callId, tool, arguments: args ?? {}, state: "proposed", risk: this.view.risks[tool] ?? null, startedAt: at,
      planStep: plan ? Number(plan[2]) - 1 : null, source: null, ms: null, message: "", content: "", data: undefined, truncated: false, receipt: null, undo: null, undone: null, tainted: false, decision: null,
    });
    return this.view.items.length - 1;
  }
  /** The plan in the making, or the latest. */
  livePlan(): number {
    return this.find("plan", (item) => item.live);
  }
}

function apply(draft: Draft, event: RunEvent): void {
  const { view } = draft;
  view.seq = event.seq;
  draft.changed = true;
  view.classified = higher(view.classified, classifiedIn(event));
  const passages = passagesIn(event);
  if (passages.length > 0) view.passages = [...view.passages, ...passages];
  switch (event.type) {
    case "run.started": {
      const { setup } = event;
      Object.assign(view, {
        input: setup.input, mode: setup.mode, origin: setup.origin, model: setup.model, agent: setup.agent.name, connection: setup.connection, workspace: setup.workspace,
        history: setup.history ?? [], documents: setup.documents ?? [], forkedFrom: setup.forked_from ?? null, startedAt: event.at, status: "running", doing: { what: "start", since: event.at },
        risks: Object.fromEntries(setup.tools.map((tool) => [tool.name, tool.risk as Risk])),
      } satisfies Partial<RunView>);
      return;
    }
    case "run.queued":
      view.doing = { what: "queue", since: event.at };
      return;
    case "run.resumed": {
      // What was being said when the runner died is said again.
      view.items.forEach((item, index) => {
        if (item.kind === "text" && item.live) draft.edit<TextItem>(index, { live: false, text: "", reasoning: "" });
      });
      view.items = view.items.filter((item) => !(item.kind === "text" && !item.live && item.text === "" && item.reasoning === "") && !(item.kind === "plan" && item.live));
      draft.push({ kind: "notice", key: `n:${event.seq}`, notice: "resumed", node: event.node });
      // A run that was stopped since its client had left goes on when the client comes back.
      Object.assign(view, { outcome: null, answer: "", endedAt: null, stopping: false } satisfies Partial<RunView>);
      resume(view, event.at);
      return;
    }
    case "intent.filtered":
      view.intent = { kept: event.kept, offered: event.offered, wantsTool: event.wants_tool };
      view.doing = { what: "think", since: event.at };
      return;
    case "model.requested": {
      view.modelCalls += 1;
      view.model = event.model || view.model;
      view.status = "running";
      view.doing = { what: event.purpose, since: event.at };
      draft.drop(draft.find("notice", (item) => item.notice === "model-failed" && item.retryAt !== null));
      if (event.purpose === "plan" && draft.livePlan() < 0) draft.push(newPlan(event.seq, view));
      if (event.purpose === "reply" || event.purpose === "answer") {
        draft.drop(draft.text(event.step));
        draft.push({ kind: "text", key: `text:${event.step}:${event.seq}`, step: event.step, purpose: event.purpose, text: "", reasoning: "", live: true, startedAt: event.at, reasonedMs: null, final: false, composed: false, stopped: false });
      }
      return;
    }
    case "model.delta": {
      if (event.purpose === "plan") {
        const index = draft.livePlan();
        const plan = view.items[index];
        if (plan?.kind === "plan") {
          const raw = (drafts.get(plan.draft) ?? "") + (event.text ?? "");
          const steps = planDraft(raw);
          drafts.set(steps, raw);
          draft.edit<PlanItem>(index, { draft: steps });
        }
        return;
      }
      const index = draft.text(event.step);
      const item = view.items[index];
      if (item?.kind !== "text") return;
      // What was shown as text was reasoning: the reply begins again.
      const before = event.retracts ? { text: "", reasoning: "" } : item;
      const reasoning = before.reasoning + (event.reasoning ?? "");
      const reasonedMs = item.reasonedMs ?? (event.text && reasoning ? event.at - item.startedAt : null);
      draft.edit<TextItem>(index, { text: before.text + (event.text ?? ""), reasoning, reasonedMs });
      return;
    }
    case "model.responded": {
      const { usage } = view;
      view.usage = {
        prompt_tokens: usage.prompt_tokens + event.usage.prompt_tokens,
        cached_tokens: usage.cached_tokens + event.usage.cached_tokens,
        completion_tokens: usage.completion_tokens + event.usage.completion_tokens,
        cost_micros: usage.cost_micros + (event.usage.cost_micros ?? 0),
      };
      if (event.answered) Object.assign(view, { model: event.answered.model || view.model, answeredBy: event.answered.name } satisfies Partial<RunView>);
      view.doing = { what: "think", since: event.at };
      const index = draft.text(event.step);
      const item = view.items[index];
      if (item?.kind === "text") {
        const reasoning = event.reasoning || item.reasoning;
        if (!event.text.trim() && !reasoning.trim()) draft.drop(index);
        else draft.edit<TextItem>(index, { text: event.text, reasoning, live: false, reasonedMs: item.reasonedMs ?? (reasoning ? event.at - item.startedAt : null) });
      }
      if (event.purpose === "reply") {
        for (const call of event.calls) draft.edit<ToolItem>(draft.tool(call.id, call.name, event.at, call.arguments), { source: call.source, arguments: call.arguments });
      }
      return;
    }
    case "model.failed": {
      const index = draft.text(event.step);
      if (event.error.class === "cancelled") {
        // What was said until then is the user's.
        const item = view.items[index];
        if (item?.kind === "text" && !item.text && !item.reasoning) draft.drop(index);
        else draft.edit<TextItem>(index, { live: false, stopped: true });
        view.doing = { what: "finish", since: event.at };
        return;
      }
      draft.drop(index);
      if (event.purpose === "search" || event.purpose === "fill" || event.purpose === "deep" || event.purpose === "compact") return;
      const kind = event.error.class;
      if (event.retry_at === undefined || event.retry_at === null) view.failure = { kind, message: event.error.message, hint: event.error.hint ?? "", detail: event.error.detail ?? "", connection: event.attempts?.at(-1)?.connection ?? view.connection };
      draft.push({ kind: "notice", key: `n:${event.seq}`, notice: "model-failed", message: event.error.message, class: kind, retryAt: event.retry_at ?? null });
      view.doing = { what: "think", since: event.at };
      return;
    }
    case "plan.proposed": {
      let index = draft.livePlan();
      if (index < 0) {
        draft.push(newPlan(event.seq, view));
        index = view.items.length - 1;
      }
      view.items.forEach((item, at) => {
        if (item.kind === "plan" && at !== index) draft.edit<PlanItem>(at, { superseded: true });
      });
      draft.edit<PlanItem>(index, { candidates: showTurns(event.candidates), by: event.by, notes: event.notes ?? [], live: false, draft: [] });
      view.doing = { what: "think", since: event.at };
      return;
    }
    case "deep.planned":
      // Without steps: the request is not worth a plan.
      if (event.steps.length > 0) draft.push({ kind: "deep", key: `deep:${event.seq}`, versions: [versionOf(event)] });
      view.doing = { what: "think", since: event.at };
      return;
    case "deep.replanned": {
      const index = draft.find("deep", () => true);
      const plan = view.items[index];
      if (plan?.kind === "deep") draft.edit<DeepItem>(index, { versions: [...plan.versions, versionOf(event)] });
      view.doing = { what: "think", since: event.at };
      return;
    }
    case "deep.step": {
      const index = draft.find("deep", () => true);
      const plan = view.items[index];
      const last = plan?.kind === "deep" ? plan.versions.at(-1) : undefined;
      if (plan?.kind === "deep" && last) draft.edit<DeepItem>(index, { versions: [...plan.versions.slice(0, -1), ended(last, event)] });
      return;
    }
    case "model.corrected":
      draft.push({ kind: "notice", key: `n:${event.seq}`, notice: "corrected", words: event.words });
      return;
    case "intent.dispatched":
      if (event.call) draft.edit<ToolItem>(draft.tool(event.call.id, event.call.name, event.at, event.call.arguments), { source: event.call.source, arguments: event.call.arguments });
      return;
    case "tools.found":
      draft.edit<ToolItem>(draft.tool(event.call_id, "tool_search", event.at, { query: event.query }), { state: "ok", ms: 0, content: event.content });
      return;
    case "context.compacted":
      if (event.replaced > 0) draft.push({ kind: "notice", key: `n:${event.seq}`, notice: "compacted", count: event.replaced });
      return;
    case "plan.failed":
      draft.drop(draft.livePlan());
      view.failure ??= { kind: "plan", message: event.message, hint: "", detail: "", connection: view.connection };
      draft.push({ kind: "notice", key: `n:${event.seq}`, notice: "plan-failed", message: event.message });
      return;
    case "plan.filled": {
      const index = draft.find("plan", (item) => !item.live);
      const plan = view.items[index];
      if (plan?.kind !== "plan") return;
      const filled = "Ok" in event.arguments ? { arguments: event.arguments.Ok } : { error: event.arguments.Err };
      draft.edit<PlanItem>(index, { filled: { ...plan.filled, [event.index]: filled } });
      return;
    }
    case "approval.requested": {
      const { approval_id } = event;
      const subject = showTurns(event.subject);
      view.waiting = approval_id;
      view.status = "waiting";
      view.doing = null;
      if (subject.kind === "plan") {
        const index = draft.find("plan", (item) => !item.live);
        draft.edit<PlanItem>(index, { approvalId: approval_id, subject });
        return;
      }
      if (subject.kind === "call") {
        const index = draft.tool(subject.call_id, subject.tool, event.at, subject.arguments);
        draft.edit<ToolItem>(index, { state: "asked", arguments: subject.arguments, risk: subject.risk });
      }
      if (subject.kind === "uncertain") draft.edit<ToolItem>(draft.tool(subject.call_id, subject.tool, event.at, subject.arguments), { state: "uncertain" });
      draft.push({ kind: "ask", key: `ask:${approval_id}`, approvalId: approval_id, subject, answer: null, by: null, askedAt: event.at });
      return;
    }
    case "approval.decided": {
      view.waiting = null;
      resume(view, event.at);
      const plan = draft.find("plan", (item) => item.approvalId === event.approval_id);
      if (plan >= 0) {
        draft.edit<PlanItem>(plan, { answer: event.answer, by_whom: event.by, superseded: event.answer.decision === "feedback" });
        return;
      }
      const index = draft.find("ask", (item) => item.approvalId === event.approval_id);
      const ask = view.items[index];
      if (ask?.kind !== "ask") return;
      draft.edit(index, { answer: event.answer, by: event.by });
      const card = draft.find("tool", (item) => item.callId === ask.subject.call_id);
      if (card >= 0 && ask.subject.kind !== "question") draft.edit<ToolItem>(card, { decision: { answer: event.answer, by: event.by } });
      if (card >= 0 && event.answer.decision === "happened") draft.edit<ToolItem>(card, { state: "ok" });
      else if (card >= 0 && (event.answer.decision === "deny" || event.answer.decision === "skip")) draft.edit<ToolItem>(card, { state: "rejected" });
      else if (card >= 0) draft.edit<ToolItem>(card, { state: "proposed" });
      return;
    }
    case "tool.rejected":
      draft.edit<ToolItem>(draft.tool(event.call_id, event.tool, event.at), { state: "rejected", message: event.message });
      return;
    case "tool.intent":
      view.toolCalls += 1;
      view.doing = { what: "tool", since: event.at, tool: event.tool };
      draft.edit<ToolItem>(draft.tool(event.call_id, event.tool, event.at, event.arguments), { state: "running", arguments: event.arguments, startedAt: event.at });
      return;
    case "tool.result": {
      const index = draft.tool(event.call_id, event.tool, event.at);
      view.doing = { what: "think", since: event.at };
      if (event.outcome === "ok") {
        draft.edit<ToolItem>(index, { state: "ok", ms: event.ms, content: event.content, data: event.data, truncated: event.truncated ?? false, receipt: event.receipt ?? null, undo: event.undo ?? null, tainted: (event.origins?.length ?? 0) > 0 });
      } else if (event.outcome === "error") {
        draft.edit<ToolItem>(index, { state: "error", ms: event.ms, message: event.message, undo: event.undo ?? null });
      } else {
        draft.edit<ToolItem>(index, { state: "dry", ms: event.ms, content: event.preview });
      }
      return;
    }
    case "tool.undone":
      draft.edit<ToolItem>(draft.find("tool", (item) => item.callId === event.call_id), { undone: event.summary });
      if (event.receipts && view.status === "finished") view.receipts = event.receipts;
      return;
    case "tool.uncertain":
      draft.edit<ToolItem>(draft.tool(event.call_id, event.tool, event.at), { state: "uncertain", message: event.why ?? "" });
      return;
    case "timer.set":
      draft.push({ kind: "notice", key: `n:${event.seq}`, notice: "timer", purpose: event.purpose, fired: false });
      return;
    case "timer.fired":
      draft.edit(draft.find("notice", (item) => item.notice === "timer" && !item.fired), { fired: true } as Partial<Item>);
      return;
    case "run.steered":
      draft.push({ kind: "steer", key: `steer:${event.seq}`, text: event.text, by: event.by });
      return;
    case "run.stop_requested":
      view.stopping = true;
      view.waiting = null;
      return;
    case "run.finished":
      finish(draft, event);
      return;
    default:
      return;
  }
}

/** Raw text behind a draft's steps; not part of the view, so that it stays plain data. */
const drafts = new WeakMap<object, string>();

const newPlan = (seq: number, view: RunView): PlanItem => ({
  kind: "plan", key: `plan:${seq}`, generation: view.items.filter((item) => item.kind === "plan").length + 1, candidates: [], by: "", notes: [], draft: [], live: true, filled: {},
  approvalId: null, subject: null, answer: null, by_whom: null, superseded: false,
});

function resume(view: RunView, at: number): void {
  view.status = "running";
  view.doing = { what: "think", since: at };
}

function finish(draft: Draft, event: Extract<RunEvent, { type: "run.finished" }>): void {
  const { view } = draft;
  Object.assign(view, { status: "finished", doing: null, waiting: null, stopping: false, outcome: event.outcome, answer: event.answer, receipts: event.receipts ?? null, endedAt: event.at } satisfies Partial<RunView>);
  view.items = view.items.filter((item) => !(item.kind === "plan" && item.live) && !(item.kind === "text" && item.live && item.text === "" && item.reasoning === ""));
  // The outcome says it again, with what to do.
  if (event.outcome.status === "failed") view.items = view.items.filter((item) => !(item.kind === "notice" && (item.notice === "model-failed" || item.notice === "plan-failed")));
  else view.failure = null;
  const stopped = event.outcome.status === "stopped";
  view.items.forEach((item, index) => {
    if (item.kind === "text" && item.live) draft.edit<TextItem>(index, { live: false });
    else if (item.kind === "tool" && (item.state === "running" || item.state === "asked")) draft.edit<ToolItem>(index, { state: item.state === "asked" ? "rejected" : "uncertain" });
  });
  if (event.answer.trim() === "") return;
  const answers = (item: Item): item is TextItem => item.kind === "text" && item.text.trim() === event.answer.trim();
  const said = view.items.findLastIndex(answers);
  // Said before in the same words, and corrected since: once is enough.
  const others = view.items.filter((item, index) => index !== said && answers(item) && !item.reasoning);
  if (said >= 0) {
    const [item] = view.items.splice(said, 1);
    if (item?.kind === "text") draft.push({ ...item, text: event.answer, final: true, composed: event.composed ?? false, stopped });
    view.items = view.items.filter((other) => !others.includes(other as TextItem));
  } else {
    draft.push({ kind: "text", key: `answer:${event.seq}`, step: 0, purpose: "answer", text: event.answer, reasoning: "", live: false, startedAt: event.at, reasonedMs: null, final: true, composed: event.composed ?? false, stopped });
  }
}
