import { ChevronRight } from "lucide-react";
import { useT } from "@/i18n";
import { Badge, cx, Dot, formatDuration } from "@/ui";
import { CallDetail } from "./CallDetail";
import { DeepDetail } from "./DeepDetail";
import { type Line, useDescribe } from "./describe";
import { ModelDetail } from "./ModelDetail";
import type { Node } from "./nodes";
import { ApprovalDetail, FinishDetail, NoteDetail, StartDetail } from "./OtherDetail";
import { FilterDetail, PlanDetail } from "./PlanDetail";
import type { Axis } from "./span";

export type View = {
  open: ReadonlySet<string>;
  toggle: (key: string) => void;
  onUndo: ((callId: string) => void) | undefined;
  /** For the bars; steps under way end at `now`. */
  axis: Axis;
  now: number;
};

export function Detail({ node, onUndo }: { node: Node; onUndo: View["onUndo"] }) {
  switch (node.kind) {
    case "start":
      return <StartDetail node={node} />;
    case "filter":
      return <FilterDetail node={node} />;
    case "model":
      return <ModelDetail node={node} />;
    case "plan":
      return <PlanDetail node={node} />;
    case "deep":
      return <DeepDetail node={node} />;
    case "call":
      return <CallDetail node={node} onUndo={onUndo} />;
    case "approval":
      return <ApprovalDetail node={node} />;
    case "note":
      return <NoteDetail node={node} />;
    case "finish":
      return <FinishDetail node={node} />;
  }
}

const fills = { start: "bg-ink-3", filter: "bg-ink-3", model: "bg-accent", plan: "bg-accent", deep: "bg-accent", call: "bg-ok", approval: "bg-warn-line", note: "bg-ink-3", finish: "bg-ink-3" };

/** Where a step lies in the run. */
export function SpanBar({ node, axis, now, className }: { node: Node; axis: Axis; now: number; className?: string }) {
  const from = axis.at(node.at);
  const to = axis.at(node.end ?? now);
  const failed = (node.kind === "model" && node.error !== null) || (node.kind === "call" && node.result?.outcome === "error");
  return (
    <div aria-hidden className={cx("relative h-4", className)}>
      {axis.gaps.map((gap) => <div key={gap.from} className="absolute inset-y-0 bg-active" style={{ left: `${gap.from * 100}%`, width: `${(gap.to - gap.from) * 100}%` }} />)}
      <div className={cx("absolute top-1 h-2 min-w-[3px] rounded-[2px]", failed ? "bg-bad" : fills[node.kind], node.end === null && "animate-breathe")} style={{ left: `min(${from * 100}%, calc(100% - 3px))`, width: `${Math.max(0, to - from) * 100}%` }} />
    </div>
  );
}

const lasting = (node: Node, now: number): number => (node.kind === "call" && node.ms !== null ? node.ms : (node.end ?? now) - node.at);

/** One line of a step that opens its details. */
export function StepButton({ node, view, children }: { node: Node; view: View; children: (line: Line) => React.ReactNode }) {
  const line = useDescribe()(node);
  const open = view.open.has(node.key);
  return (
    <button
      type="button"
      data-step
      id={`step-${node.key}`}
      aria-expanded={open}
      aria-controls={`detail-${node.key}`}
      onClick={() => view.toggle(node.key)}
      className="group flex w-full min-w-0 items-center gap-2 rounded-md px-1.5 py-1.5 text-left hover:bg-hover focus-visible:outline-offset-[-2px] max-md:py-2"
    >
      <ChevronRight aria-hidden className={cx("size-3.5 shrink-0 text-ink-3 transition-transform", open && "rotate-90")} />
      {children(line)}
    </button>
  );
}

/** Name, badge and what it is about. */
export function StepText({ line }: { line: Line }) {
  return (
    <span className="flex min-w-0 flex-1 items-center gap-2">
      <span className={cx("shrink-0 text-base font-medium max-md:shrink max-md:truncate", line.mono && "font-mono text-sm")}>{line.title}</span>
      {line.badge && <Badge tone={line.badge.tone} icon={line.busy && <Dot tone="accent" busy />} className="shrink-0">{line.badge.text}</Badge>}
      <span className="min-w-0 truncate text-sm text-ink-3 max-md:hidden">{line.about}</span>
    </span>
  );
}

export function StepTime({ node, now, className }: { node: Node; now: number; className?: string }) {
  const t = useT("runs");
  const ms = lasting(node, now);
  const point = node.kind === "start" || node.kind === "plan" || node.kind === "deep" || node.kind === "finish" || (node.kind === "note" && node.note !== "timer.set");
  return <span className={cx("shrink-0 text-right text-xs whitespace-nowrap text-ink-3 tabular", className)}>{point ? "" : <><span className="sr-only">{t("duration", { time: "" })}</span>{formatDuration(ms)}</>}</span>;
}

/** The details of an open step. */
export function StepDetail({ node, view }: { node: Node; view: View }) {
  if (!view.open.has(node.key)) return null;
  return (
    <div id={`detail-${node.key}`} className="mt-0.5 mb-2 flex min-w-0 animate-fade flex-col gap-2 rounded-lg border border-line bg-surface px-4 py-3 max-md:px-3">
      <Detail node={node} onUndo={view.onUndo} />
    </div>
  );
}

/** Moves between the lines of steps by the arrow keys. */
export function moveByKeys(event: React.KeyboardEvent<HTMLElement>): void {
  const steps = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-step]")];
  const at = steps.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: steps.length - 1 }[event.key];
  const open = steps[at]?.getAttribute("aria-expanded") === "true";
  if ((event.key === "ArrowRight" && !open) || (event.key === "ArrowLeft" && open)) {
    event.preventDefault();
    steps[at]?.click();
  } else if (to !== undefined && steps[to]) {
    event.preventDefault();
    steps[to].focus();
  }
}
