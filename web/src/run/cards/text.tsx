import { Brain, ChevronRight, Square } from "lucide-react";
import { memo, Suspense, useMemo } from "react";
import { useT } from "@/i18n";
import { Badge, cx, formatDuration } from "@/ui";
import { marksOf } from "../claims";
import { Markdown } from "../lazy";
import type { ClaimTarget } from "../rehype-claims";
import type { RunView, TextItem } from "../view";

/** A folded part: a line that opens. */
export function Fold({ summary, children, open, className }: { summary: React.ReactNode; children: React.ReactNode; open?: boolean; className?: string }) {
  return (
    <details className={cx("group/fold", className)} open={open}>
      <summary className="flex min-h-7 w-fit max-w-full items-center gap-1.5 rounded-md pr-2 text-sm text-ink-3 hover:text-ink">
        <ChevronRight aria-hidden className="size-3.5 shrink-0 transition-transform group-open/fold:rotate-90" />
        {summary}
      </summary>
      {children}
    </details>
  );
}

function Reasoning({ item }: { item: TextItem }) {
  const t = useT("chat");
  const thinking = item.live && item.text === "";
  const summary = <><Brain aria-hidden className={cx("size-3.5", thinking && "animate-breathe")} />{thinking ? t("thinking") : item.reasonedMs !== null ? t("thoughtFor", { time: formatDuration(item.reasonedMs) }) : t("thought")}</>;
  return (
    <Fold summary={summary}>
      <div className="mt-1 mb-2 ml-1.5 max-h-72 overflow-y-auto border-l border-line-2 pl-3.5 text-sm whitespace-pre-wrap text-ink-2 wrap-anywhere" tabIndex={0}>{item.reasoning}</div>
    </Fold>
  );
}

/** Observations put together without a model: `[tool — arguments]` and what came back, as it came. */
function Composed({ text }: { text: string }) {
  const t = useT("chat");
  const parts = text.split(/\n(?=\[[a-z0-9_]+ — )/);
  return (
    <div className="flex flex-col gap-2">
      {parts.map((part, index) => {
        const head = /^\[([a-z0-9_]+) — [^\n]*(?:\n\[truncated[^\n]*\]\])?[^\n]*\n?/.exec(part);
        const body = head ? part.slice(head[0].length) : part;
        return (
          <div key={index}>
            {head && parts.length > 1 && <p className="mb-1 font-mono text-xs text-ink-3">{head[1]}</p>}
            <pre tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-surface px-3.5 py-2.5 font-mono text-sm leading-relaxed whitespace-pre-wrap wrap-anywhere">{body.trim() || part}</pre>
          </div>
        );
      })}
      <p className="text-xs text-ink-3">{t("composed")}</p>
    </div>
  );
}

export const TextCard = memo(({ item, receipts, onClaim }: { item: TextItem; receipts: RunView["receipts"]; onClaim: (target: ClaimTarget) => void }) => {
  const t = useT("chat");
  const marks = useMemo(() => (item.final && !item.composed ? marksOf(item.text, receipts) : []), [item.final, item.composed, item.text, receipts]);
  return (
    <div className={cx(!item.final && !item.live && "text-ink-2")}>
      {item.reasoning && <Reasoning item={item} />}
      {item.composed ? <Composed text={item.text} /> : item.text && (
        <Suspense fallback={<div className="prose whitespace-pre-wrap">{item.text}</div>}>
          <Markdown text={item.text} live={item.live} marks={marks} onClaim={onClaim} />
        </Suspense>
      )}
      {item.stopped && <p className="mt-1.5"><Badge icon={<Square aria-hidden className="fill-current" />}>{t("stoppedHere")}</Badge></p>}
    </div>
  );
});
