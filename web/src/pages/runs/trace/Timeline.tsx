import { Hourglass } from "lucide-react";
import { useT } from "@/i18n";
import { cx, formatDuration, formatExact } from "@/ui";
import { inOrder, type Node } from "./nodes";
import { moveByKeys, StepButton, StepDetail, StepText, StepTime, type View } from "./Step";

/** Pauses longer than this are shown between steps, ms. */
const PAUSE = 5_000;

/** All steps in the order in which they began, each with its time since the beginning. */
export function Timeline({ roots, view }: { roots: readonly Node[]; view: View }) {
  const t = useT("runs");
  const steps = inOrder(roots).map((entry) => entry.node).sort((a, b) => a.at - b.at || a.seq - b.seq);
  const first = steps[0]?.at ?? 0;
  let last = first;
  return (
    <ol aria-label={t("view_timeline")} onKeyDown={moveByKeys} className="flex flex-col">
      {steps.map((node, index) => {
        const pause = node.at - last;
        last = Math.max(last, node.kind === "approval" ? node.at : (node.end ?? node.at), node.at);
        return (
          <li key={node.key} className="grid grid-cols-[5.75rem_1.25rem_minmax(0,1fr)] max-md:grid-cols-[1.25rem_minmax(0,1fr)]">
            <time dateTime={new Date(node.at).toISOString()} title={formatExact(node.at)} className="pt-2 pr-2 text-right text-xs whitespace-nowrap text-ink-3 tabular max-md:hidden">+{formatDuration(node.at - first)}</time>
            <Rail node={node} first={index === 0} last={index === steps.length - 1} />
            <div className="min-w-0 pb-0.5">
              {index > 0 && pause > PAUSE && <p className="flex items-center gap-1.5 px-2 py-1 text-xs text-ink-3"><Hourglass aria-hidden className="size-3" />{t("parked_for", { time: formatDuration(pause) })}</p>}
              <StepButton node={node} view={view}>{(line) => (<><StepText line={line} /><StepTime node={node} now={view.now} /></>)}</StepButton>
              <StepDetail node={node} view={view} />
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function Rail({ node, first, last }: { node: Node; first: boolean; last: boolean }) {
  const failed = (node.kind === "model" && node.error !== null) || (node.kind === "call" && (node.result?.outcome === "error" || node.rejected !== null));
  const fill = failed ? "bg-bad" : node.kind === "approval" ? "bg-warn-line" : node.kind === "model" ? "bg-accent" : node.kind === "call" ? "bg-ok" : "bg-ink-3";
  return (
    <span aria-hidden className="relative">
      <span className={cx("absolute left-1/2 w-px -translate-x-1/2 bg-line-2", first ? "top-4" : "top-0", last ? "h-4" : "bottom-0")} />
      <span className={cx("absolute top-3 left-1/2 size-2.5 -translate-x-1/2 rounded-full ring-3 ring-bg", fill, node.end === null && "animate-breathe")} />
    </span>
  );
}
