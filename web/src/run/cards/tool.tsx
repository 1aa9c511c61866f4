import { Ban, Check, ChevronRight, CircleDashed, CircleHelp, Eye, Hourglass, Undo2, X } from "lucide-react";
import { memo, useMemo, useState } from "react";
import { useT } from "@/i18n";
import { Badge, Button, CopyButton, cx, DiffView, Elapsed, formatDuration, isDiff, JsonView, RiskBadge, Spinner } from "@/ui";
import type { ToolItem, ToolState } from "../view";
import { mainArg } from "./args";
import { answerOf } from "@/answer/answer";
import { AnswerSource, AnswerView } from "@/answer/AnswerView";
import { noteOf, said } from "./decided";
import { DataTable, rowsOf } from "./data";

const icons: Record<ToolState, React.ReactNode> = {
  proposed: <CircleDashed className="text-ink-3" />,
  asked: <Hourglass className="text-warn" />,
  running: <Spinner className="text-accent-ink" />,
  ok: <Check className="text-ok" />,
  error: <X className="text-bad" />,
  rejected: <Ban className="text-ink-3" />,
  dry: <Eye className="text-accent-ink" />,
  uncertain: <CircleHelp className="text-warn" />,
};

/** One call of a tool: a row that opens. */
export const ToolRow = memo(({ item, runId, highlight, onUndo, undoing }: { item: ToolItem; runId: string; highlight: boolean; onUndo?: ((callId: string) => void) | undefined; undoing: boolean }) => {
  const t = useT("chat");
  const [open, setOpen] = useState(false);
  const id = `call-${runId}-${item.callId}`;
  const answer = useMemo(() => (item.state === "ok" ? answerOf(item.data) : null), [item.state, item.data]);
  return (
    <li id={id} className={cx("border-t border-line first:border-t-0 transition-colors duration-500", highlight && "bg-accent-soft")}>
      <button type="button" aria-expanded={open} aria-controls={`${id}-body`} onClick={() => setOpen(!open)} className="flex min-h-9.5 w-full items-center gap-2.5 px-3 py-1.5 text-left text-sm hover:bg-hover focus-visible:outline-offset-[-2px] max-md:min-h-11">
        <span className="[&>svg]:size-4" aria-hidden>{icons[item.state]}</span>
        <span className="sr-only">{t(`tool.${item.state}`)}</span>
        <span className="shrink-0 font-mono font-medium">{item.tool}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-ink-3">{mainArg(item.arguments)}</span>
        {item.decision && item.state !== "ok" && item.state !== "running" && <span className="shrink-0 text-xs text-ink-3 max-md:hidden">{t(`row.${said(item.decision.answer)}`)}</span>}
        {item.undone !== null && <Badge icon={<Undo2 aria-hidden />}>{t("undone")}</Badge>}
        {item.receipt && item.undone === null && <span className="shrink-0 text-ok max-md:hidden">{item.receipt.action}</span>}
        {item.tainted && <Badge tone="warn" title={t("taintedWhy")}>{t("tainted")}</Badge>}
        <span className="shrink-0 text-xs text-ink-3 tabular">{item.state === "running" ? <Elapsed from={item.startedAt} /> : item.ms !== null ? formatDuration(item.ms) : null}</span>
        <ChevronRight aria-hidden className={cx("size-3.5 shrink-0 text-ink-3 transition-transform", open && "rotate-90")} />
      </button>
      {answer && answer.rows.length > 0 && <div className="flex flex-col gap-1 border-t border-line px-3 py-2"><AnswerView answer={answer} compact /><AnswerSource answer={answer} /></div>}
      {open && <ToolBody id={`${id}-body`} item={item} onUndo={onUndo} undoing={undoing} />}
    </li>
  );
});

function ToolBody({ id, item, onUndo, undoing }: { id: string; item: ToolItem; onUndo: ((callId: string) => void) | undefined; undoing: boolean }) {
  const t = useT("chat");
  const rows = rowsOf(item.data);
  const mayUndo = (item.state === "ok" || item.state === "error") && item.undo?.kind === "snapshot" && item.undone === null;
  return (
    <div id={id} className="flex flex-col gap-3 border-t border-line bg-bg px-3 pt-2.5 pb-3 text-sm">
      <Part title={t("arguments")} extra={item.risk && item.risk !== "read" ? <RiskBadge risk={item.risk} /> : null}><JsonView value={item.arguments} /></Part>
      {item.decision && <p className="text-sm text-ink-2 wrap-anywhere">{t(`decided.${said(item.decision.answer)}`, { by: item.decision.by })} <span className="font-mono">{item.tool}</span>{noteOf(item.decision.answer)}</p>}
      {item.message && <Part title={t(item.state === "error" ? "error" : "why")}><p className={cx("whitespace-pre-wrap wrap-anywhere", item.state === "error" && "text-bad")}>{item.message}</p></Part>}
      {item.content && (
        <Part title={t(item.state === "dry" ? "wouldDo" : "result")} extra={<CopyButton text={item.content} />}>
          {rows ? <DataTable {...rows} /> : isDiff(item.content) ? <DiffView diff={item.content} /> : <JsonView value={item.content} />}
          {item.truncated && <p className="mt-1 text-xs text-ink-3">{t("truncated")}</p>}
        </Part>
      )}
      {item.receipt && (
        <Part title={t("receipt")}>
          <p className="wrap-anywhere"><span className="text-ok">{item.receipt.action}</span> {item.receipt.object}</p>
          {item.receipt.evidence && <p className="font-mono text-xs text-ink-3 wrap-anywhere">{item.receipt.evidence}</p>}
        </Part>
      )}
      {item.undone !== null && <Part title={t("undone")}><p className="wrap-anywhere">{item.undone}</p></Part>}
      {item.undo?.kind === "impossible" && <p className="text-xs text-ink-3">{t("cantUndo")}: {item.undo.reason}</p>}
      {mayUndo && onUndo && <Button size="sm" className="self-start" icon={<Undo2 className="size-3.5" />} loading={undoing} onClick={() => onUndo(item.callId)}>{t("undoThis")}</Button>}
    </div>
  );
}

function Part({ title, extra, children }: { title: string; extra?: React.ReactNode; children: React.ReactNode }) {
  return (
    <section>
      <div className="mb-1 flex min-h-5 items-center gap-2"><h2 className="text-xs font-medium text-ink-3">{title}</h2>{extra}</div>
      {children}
    </section>
  );
}
