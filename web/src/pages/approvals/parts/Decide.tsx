import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronDown, PenLine, X } from "lucide-react";
import { type Ref, useImperativeHandle, useState } from "react";
import { ApiError } from "@/api/client";
import { useDecide } from "@/api/hooks";
import type { Answer, Approval } from "@/api/types";
import { useT } from "@/i18n";
import { Button, Checkbox, Dialog, ErrorState, Field, IconButton, Kbd, Menu, MenuItem, MenuLabel, MenuSeparator, Textarea, noteDecision, toast, useArmed } from "@/ui";
import { useIfDenied } from "@/run/if-denied";
import { riskOf, useAsked } from "./describe";
import { undoApproved } from "./undo";

/** What keys can ask for. */
export type DecideHandle = { approve: () => void; deny: () => void };

/** So much of what was decided stands in the toast. */
const ABOUT = 120;
const MINUTE = 60_000;
// The longest is a little shorter than the 7 days that the server grants at most, for the clock of the browser may be ahead.
const SPANS = [["for_15m", 15 * MINUTE], ["for_1h", 60 * MINUTE], ["for_1d", 1440 * MINUTE], ["for_7d", 10_075 * MINUTE]] as const;

type Props = { approval: Approval; others: number; onDecided: () => void; ref?: Ref<DecideHandle> };

/** The answers that fit what is asked. */
export function Decide({ approval, others, onDecided, ref }: Props) {
  const t = useT("approvals");
  const decide = useDecide();
  const [asking, setAsking] = useState<"approve" | "deny" | "feedback" | null>(null);
  const armed = useArmed(approval.id);
  const navigate = useNavigate();
  const ifDenied = useIfDenied();
  const asked = useAsked()(approval.subject);
  const [text, setText] = useState("");
  const [merged, setMerged] = useState(true);
  const { subject } = approval;
  const destructive = riskOf(subject) === "destructive";
  // Awaited rather than called back: what is decided may have left the page before the answer comes.
  const send = async (answer: Answer, standing = false) => {
    noteDecision();
    try {
      const { also } = await decide.mutateAsync({ id: approval.id, answer, ...(standing && { standing }), ...(others > 0 && merged && !destructive && { duplicates: true }) });
      const title = answer.decision === "approve" ? t("approved_toast") : answer.decision === "deny" ? t("denied_toast") : t("answered_toast");
      const undo = answer.decision === "approve" && subject.kind === "call" && subject.preview.reversible
        ? () => void undoApproved(approval.run_id, subject.call_id, () => void navigate({ to: "/runs/$runId", params: { runId: approval.run_id } }))
        : undefined;
      const about = asked.about.length > ABOUT ? `${asked.about.slice(0, ABOUT)}…` : asked.about;
      toast({ title: `${title}: ${asked.title}`, detail: [about, also.length > 0 && t("also_toast", { count: also.length })].filter(Boolean).join(" · "), ...(undo && also.length === 0 && { undo }) });
      setAsking(null);
      setText("");
      onDecided();
    } catch (error) {
      // Anything else is shown where the decision stands.
      if (error instanceof ApiError && error.code === "already_decided") {
        toast({ title: t("already") });
        setAsking(null);
        onDecided();
      }
    }
  };
  const approve = () => void send({ decision: "approve" });
  const mayApprove = subject.kind === "call" || subject.kind === "plan";
  const ready = armed && !decide.isPending;
  // A key that may have been meant for the one before: what can't be undone needs a second, other key.
  useImperativeHandle(ref, () => ({ approve: () => mayApprove && ready && (destructive ? setAsking("approve") : approve()), deny: () => armed && subject.kind !== "uncertain" && setAsking("deny") }));

  const problem = decide.error && !(decide.error instanceof ApiError && decide.error.code === "already_decided") ? decide.error : null;
  return (
    <div className="flex flex-col gap-3">
      {problem && <ErrorState inline error={problem} />}
      {others > 0 && !destructive && <Checkbox checked={merged} onChange={setMerged} label={t("also_merged", { count: others })} />}
      {mayApprove && <Approving approval={approval} destructive={destructive} armed={armed} busy={decide.isPending} send={send} onAsk={setAsking} />}
      {subject.kind === "uncertain" && <Uncertain busy={!ready} send={send} />}
      {subject.kind === "question" && (
        <form className="flex flex-col gap-2" onSubmit={(event) => (event.preventDefault(), text.trim() && send({ decision: "feedback", text: text.trim() }))}>
          <Field label={t("question_label")}>{(p) => <Textarea {...p} value={text} onChange={(event) => setText(event.target.value)} onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && text.trim() && send({ decision: "feedback", text: text.trim() })} />}</Field>
          <div className="flex flex-wrap gap-2"><Button type="submit" variant="primary" disabled={!text.trim()} loading={decide.isPending}>{t("question_go")}</Button><Button variant="quiet" disabled={!ready} onClick={() => send({ decision: "deny" })}>{t("question_deny")}</Button></div>
        </form>
      )}
      {asking === "approve" && (
        <Dialog
          open
          onOpenChange={() => setAsking(null)}
          title={t("destructive_title")}
          description={<span className="wrap-anywhere">{subject.kind === "call" ? subject.preview.summary : t("destructive_plan")}</span>}
          footer={
            <>
              <Button onClick={() => setAsking(null)}>{t("cancel")}</Button>
              <Button variant="danger" autoFocus loading={decide.isPending} onClick={approve}>{t("destructive_go")} <Kbd keys="Enter" /></Button>
            </>
          }
        >
          {problem && <ErrorState inline error={problem} />}
        </Dialog>
      )}
      {(asking === "deny" || asking === "feedback") && (
        <Dialog
          open
          onOpenChange={() => setAsking(null)}
          title={asking === "deny" ? t("deny_title") : t("feedback_title")}
          description={asking === "deny" ? ifDenied(subject) : subject.kind === "plan" ? t("feedback_plan_text") : t("feedback_call_text")}
          footer={
            <>
              <Button onClick={() => setAsking(null)}>{t("cancel")}</Button>
              {asking === "deny" ? <Button variant="danger" loading={decide.isPending} onClick={() => send({ decision: "deny", ...(text.trim() && { reason: text.trim() }) })}>{t("deny_go")}</Button> : <Button variant="primary" disabled={!text.trim()} loading={decide.isPending} onClick={() => send({ decision: "feedback", text: text.trim() })}>{t("feedback_go")}</Button>}
            </>
          }
        >
          <Field label={asking === "deny" ? t("deny_reason") : t("feedback_label")}>
            {(p) => <Textarea {...p} autoFocus value={text} onChange={(event) => setText(event.target.value)} onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && (asking === "deny" ? send({ decision: "deny", ...(text.trim() && { reason: text.trim() }) }) : text.trim() && send({ decision: "feedback", text: text.trim() }))} />}
          </Field>
          {problem && <ErrorState inline error={problem} className="mt-3" />}
        </Dialog>
      )}
    </div>
  );
}

type Send = (answer: Answer, standing?: boolean) => void;

function Approving({ approval, destructive, armed, busy, send, onAsk }: { approval: Approval; destructive: boolean; armed: boolean; busy: boolean; send: Send; onAsk: (what: "deny" | "feedback") => void }) {
  const t = useT("approvals");
  const { subject } = approval;
  const tool = subject.kind === "call" ? subject.tool : null;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <span className="inline-flex max-md:flex-1">
          <Button variant="primary" loading={busy} disabled={!armed} className={tool && !destructive ? "rounded-r-none max-md:flex-1" : "max-md:flex-1"} icon={<Check aria-hidden className="size-4" />} onClick={() => send({ decision: "approve" })}>{t("approve")}</Button>
          {tool && !destructive && (
            <Menu align="start" trigger={<IconButton label={t("approve_more")} disabled={busy || !armed} className="w-8! rounded-l-none border-l border-on-accent/30 bg-accent text-on-accent! hover:bg-accent-hover!"><ChevronDown /></IconButton>}>
              <MenuItem hint={t("approve_once_hint")} onSelect={() => send({ decision: "approve" })}>{t("approve_once")}</MenuItem>
              <MenuItem hint={t("approve_run_hint", { tool })} onSelect={() => send({ decision: "approve", grant: { kind: "tool", name: tool } })}>{t("approve_run")}</MenuItem>
              <MenuSeparator />
              <MenuLabel>{t("approve_agent")}</MenuLabel>
              {SPANS.map(([name, ms]) => <MenuItem key={name} onSelect={() => send({ decision: "approve", grant: { kind: "tool", name: tool }, until: Date.now() + ms }, true)}>{t(name)}</MenuItem>)}
            </Menu>
          )}
        </span>
        <Button icon={<X aria-hidden className="size-4" />} className="max-md:flex-1" disabled={busy || !armed} onClick={() => onAsk("deny")}>{t("deny")}</Button>
        <Button variant="quiet" icon={<PenLine aria-hidden className="size-4" />} disabled={busy || !armed} onClick={() => onAsk("feedback")}>{t("feedback")}</Button>
      </div>
      {subject.kind === "plan" ? <p className="text-xs text-ink-3">{t("approve_plan_hint")}</p> : destructive && <p className="text-xs text-ink-3">{t("destructive_once")}</p>}
    </>
  );
}

function Uncertain({ busy, send }: { busy: boolean; send: Send }) {
  const t = useT("approvals");
  return (
    <div className="grid gap-2 sm:grid-cols-3">
      {(["happened", "run_again", "skip"] as const).map((decision) => (
        <button key={decision} type="button" disabled={busy} onClick={() => send({ decision })} className="flex flex-col gap-0.5 rounded-lg border border-line-2 bg-surface px-3.5 py-2.5 text-left hover:not-disabled:border-ink-3 hover:not-disabled:bg-hover disabled:opacity-50">
          <span className="text-base font-medium">{t(decision)}</span>
          <span className="text-xs text-ink-3">{t(`${decision}_hint`)}</span>
        </button>
      ))}
    </div>
  );
}
