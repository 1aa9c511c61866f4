import { CircleHelp, MessageCircleQuestion, ShieldQuestion, X } from "lucide-react";
import { memo, useState } from "react";
import { mayWork, useApproval, useDecide, useMe } from "@/api/hooks";
import type { Answer } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, Dialog, ErrorState, JsonView, RiskBadge, Textarea, useArmed } from "@/ui";
import { useIfDenied } from "../if-denied";
import type { AskItem } from "../view";
import { noteOf, said } from "./decided";
import { DecideRow, WaitingCard } from "./decide";
import { PreviewView } from "./preview";
import { Fold } from "./text";

/** A question to a person: a call's approval, a cut-off write, or a question of the agent. */
export const AskCard = memo(({ item, open }: { item: AskItem; open: boolean }) => {
  if (item.answer || !open) return <Decided item={item} />;
  if (item.subject.kind === "question") return <Question item={item} text={item.subject.text} />;
  if (item.subject.kind === "uncertain") return <Uncertain item={item} />;
  return <CallAsk item={item} />;
});

function Decided({ item }: { item: AskItem }) {
  const t = useT("chat");
  const { answer, subject } = item;
  if (subject.kind === "question") {
    return (
      <div className="rounded-lg border border-line bg-surface px-4 py-2.5">
        <p className="text-base">{subject.text}</p>
        {answer?.decision === "feedback" && <p className="mt-1 text-base text-ink-2"><span className="text-ink-3">{t("answered")}</span> {answer.text}</p>}
        {!answer && <p className="text-sm text-ink-3">{t("withdrawn")}</p>}
      </div>
    );
  }
  return (
    <p className="flex items-start gap-2 px-3 text-sm text-ink-3">
      <X aria-hidden className="mt-0.5 size-3.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">{answer ? t(`decided.${said(answer)}`, { by: item.by ?? "" }) : t("withdrawn")} <span className="font-mono">{subject.tool}</span>{answer && noteOf(answer)}</span>
    </p>
  );
}

function CallAsk({ item }: { item: AskItem }) {
  const t = useT("chat");
  const { data } = useApproval(item.approvalId);
  const ifDenied = useIfDenied();
  if (item.subject.kind !== "call") return null;
  const { tool, preview, risk, arguments: args } = item.subject;
  return (
    <WaitingCard title={<><ShieldQuestion aria-hidden className="size-4.5 shrink-0 text-warn" /><span className="min-w-0">{t("mayI", { tool })}</span><RiskBadge risk={risk} />{data?.tainted && <Badge tone="warn">{t("tainted")}</Badge>}</>}>
      <p className="text-base wrap-anywhere">{preview.summary}</p>
      <PreviewView bare preview={preview} />
      <Fold summary={t("arguments")}><JsonView value={args} className="mt-1" /></Fold>
      {data && <p className="text-sm text-ink-2"><span className="text-ink-3">{t("ifNo")}</span> {ifDenied(item.subject)}{data.reason && <span className={data.tainted ? "mt-0.5 block text-warn" : "mt-0.5 block"}>{!data.tainted && <span className="text-ink-3">{t("why")}: </span>}{data.reason}</span>}</p>}
      {data && data.taint.length > 0 && <ul className="text-sm text-warn">{data.taint.map((one) => <li key={one.call_id + one.origin} className="font-mono wrap-anywhere">{one.origin} ({one.tool})</li>)}</ul>}
      {data?.needs_other && <p className="text-sm text-warn">{t("needsOther")}</p>}
      <DecideRow approvalId={item.approvalId} risk={risk} scope={{ kind: "tool", name: tool }} scopeName={tool} approve={t("approveOnce")} />
    </WaitingCard>
  );
}

function Uncertain({ item }: { item: AskItem }) {
  const t = useT("chat");
  const decide = useDecide();
  const [again, setAgain] = useState(false);
  const armed = useArmed(item.approvalId);
  if (item.subject.kind !== "uncertain") return null;
  const send = (answer: Answer) => decide.mutate({ id: item.approvalId, answer }, { onSettled: () => setAgain(false) });
  return (
    <WaitingCard title={<><CircleHelp aria-hidden className="size-4.5 text-warn" />{t("uncertain", { tool: item.subject.tool })}</>}>
      <p className="text-base text-ink-2">{t("uncertainWhy")}</p>
      {item.subject.why && <p className="text-sm wrap-anywhere">{item.subject.why}</p>}
      <JsonView value={item.subject.arguments} />
      {decide.error && <ErrorState inline error={decide.error} />}
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="primary" disabled={!armed || decide.isPending} onClick={() => send({ decision: "happened" })}>{t("happened")}</Button>
        <Button size="sm" disabled={!armed || decide.isPending} onClick={() => setAgain(true)}>{t("runAgain")}</Button>
        <Button size="sm" variant="quiet" disabled={!armed || decide.isPending} onClick={() => send({ decision: "skip" })}>{t("skip")}</Button>
      </div>
      <Dialog open={again} onOpenChange={setAgain} title={t("runAgainSure")} description={t("runAgainWhy")} footer={<Button variant="danger" loading={decide.isPending} onClick={() => send({ decision: "run_again" })}>{t("runAgain")}</Button>} />
    </WaitingCard>
  );
}

function Question({ item, text }: { item: AskItem; text: string }) {
  const t = useT("chat");
  const { data: me } = useMe();
  const decide = useDecide();
  const [answer, setAnswer] = useState("");
  const send = () => answer.trim() && decide.mutate({ id: item.approvalId, answer: { decision: "feedback", text: answer.trim() } });
  return (
    <WaitingCard title={<><MessageCircleQuestion aria-hidden className="size-4.5 text-warn" />{t("question")}</>}>
      <p className="text-base whitespace-pre-wrap wrap-anywhere">{text}</p>
      {mayWork(me) && (
        <form className="flex flex-col gap-2" onSubmit={(event) => (event.preventDefault(), send())}>
          <Textarea aria-label={t("answer")} placeholder={t("answer")} value={answer} onChange={(event) => setAnswer(event.target.value)} onKeyDown={(event) => event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && (event.preventDefault(), send())} />
          {decide.error && <ErrorState inline error={decide.error} />}
          <div className="flex gap-2">
            <Button size="sm" type="submit" variant="primary" disabled={!answer.trim()} loading={decide.isPending}>{t("answerSend")}</Button>
            <Button size="sm" variant="quiet" disabled={decide.isPending} onClick={() => decide.mutate({ id: item.approvalId, answer: { decision: "deny" } })}>{t("answerNot")}</Button>
          </div>
        </form>
      )}
    </WaitingCard>
  );
}
