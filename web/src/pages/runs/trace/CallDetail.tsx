import { ReceiptText, RotateCcw, SearchCheck, Undo2 } from "lucide-react";
import { answerOf } from "@/answer/answer";
import { AnswerSource, AnswerView } from "@/answer/AnswerView";
import { useT } from "@/i18n";
import { referencesOf } from "@/run/citations";
import { Badge, Button, cx, Facts, JsonView } from "@/ui";
import { Part, Text } from "../parts/Fold";
import { useWord } from "../parts/Labels";
import { callStatus, type CallNode } from "./nodes";
import { PassageList } from "./Passages";

type Props = { node: CallNode; onUndo?: ((callId: string) => void) | undefined };

export function CallDetail({ node, onUndo }: Props) {
  const t = useT("runs");
  const word = useWord();
  const { result } = node;
  const answer = result?.outcome === "ok" ? answerOf(result.data) : null;
  const passages = result?.outcome === "ok" ? referencesOf(result.data) : [];
  return (
    <>
      {node.rejected !== null && (
        <p className={cx("rounded-md px-3 py-2 text-base wrap-anywhere", node.denied ? "bg-bad-soft" : "bg-warn-soft")}>
          <span className="font-medium">{t(`call_${callStatus(node)}`)}</span>
          {node.rejected && <>: {node.rejected}</>}
        </p>
      )}
      <Part title={t("sec_arguments")} copy={JSON.stringify(node.arguments, null, 2)}><JsonView value={node.arguments} /></Part>
      {result?.outcome === "ok" && (
        <Part
          title={t("sec_result")}
          copy={result.content}
          note={
            <span className="flex gap-1.5">
              {result.truncated && <Badge tone="warn">{t("truncated")}</Badge>}
              {(result.origins?.length ?? 0) > 0 && <Badge tone="warn" title={t("tainted_hint")}>{t("tainted")}</Badge>}
            </span>
          }
        >
          {answer ? <div className="flex flex-col gap-2"><AnswerView answer={answer} compact /><AnswerSource answer={answer} /></div> : <Text text={result.content || "–"} />}
        </Part>
      )}
      {passages.length > 0 && <Part title={t("sec_found")} note={passages.length} closed><PassageList passages={passages} /></Part>}
      {result?.outcome === "error" && <Part title={t("sec_error")} copy={result.message}><p className="rounded-md bg-bad-soft px-3 py-2 text-base wrap-anywhere">{result.message}</p></Part>}
      {result?.outcome === "dry" && <Part title={t("call_dry")}><Text text={result.preview} /></Part>}
      {result?.outcome === "ok" && result.data !== undefined && result.data !== null && <Part title={t("sec_data")} closed copy={JSON.stringify(result.data, null, 2)}><JsonView value={result.data} /></Part>}
      {result?.outcome === "ok" && result.receipt && (
        <Part title={t("sec_receipt")}>
          <div className="flex items-start gap-2.5 rounded-md border border-ok/35 bg-ok-soft px-3 py-2 text-base">
            <ReceiptText aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
            <p className="min-w-0 wrap-anywhere">
              {result.receipt.action} <strong className="font-semibold">{result.receipt.object}</strong>
              {result.receipt.evidence && <code className="block font-mono text-xs text-ink-2">{result.receipt.evidence}</code>}
            </p>
          </div>
        </Part>
      )}
      {node.evidence && <p className="flex items-center gap-2 text-sm text-ink-2"><SearchCheck aria-hidden className="size-3.5 shrink-0" /><span className="min-w-0 wrap-anywhere">{t(node.uncertain ? "evidence_none" : node.result !== null ? "evidence_happened" : "evidence_again", { text: node.evidence })}</span></p>}
      <Undoing node={node} onUndo={onUndo} />
      {node.intents > 1 && <p className="flex items-center gap-2 text-sm text-ink-2"><RotateCcw aria-hidden className="size-3.5" />{t("repeated", { n: node.intents })}</p>}
      <Part title={t("sec_technical")} closed>
        <Facts
          className="text-sm"
          items={[
            ...(node.source ? [[t("source"), word("source_", node.source)] as [string, string]] : []),
            ...(node.confidence === null ? [] : [[t("confidence"), `${Math.round(node.confidence * 100)} %`] as [string, string]]),
            ...(node.effect ? [[t("effect"), word("effect_", node.effect)] as [string, string]] : []),
            ["call_id", <code key="c" className="font-mono">{node.callId}</code>],
            ...(node.argsHash ? [[t("args_hash"), <code key="a" className="font-mono">{node.argsHash}</code>] as [string, React.ReactNode]] : []),
            ...(node.idempotencyKey ? [[t("key"), <code key="k" className="font-mono">{node.idempotencyKey}</code>] as [string, React.ReactNode]] : []),
          ]}
        />
      </Part>
    </>
  );
}

function Undoing({ node, onUndo }: Props) {
  const t = useT("runs");
  const undo = node.result?.outcome === "ok" ? node.result.undo : undefined;
  if (node.undone) return <p className="flex items-center gap-2 text-sm text-ink-2"><Undo2 aria-hidden className="size-3.5" />{t("undone_by", { name: node.undone.by, summary: node.undone.summary })}</p>;
  if (!undo) return null;
  if (undo.kind === "impossible") return <p className="text-sm text-warn">{t("undo_impossible", { reason: undo.reason })}</p>;
  if (!onUndo) return <p className="text-sm text-ink-3">{t("undo_possible")}</p>;
  return <div><Button size="sm" icon={<Undo2 aria-hidden className="size-3.5" />} onClick={() => onUndo(node.callId)}>{t("action_undo")}</Button></div>;
}
