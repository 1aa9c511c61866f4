import { Link } from "@tanstack/react-router";
import { ShieldAlert } from "lucide-react";
import type { Ref } from "react";
import { mayWork, useMe } from "@/api/hooks";
import type { Approval } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Elapsed, formatExact, RiskBadge, Time } from "@/ui";
import { useIfDenied } from "@/run/if-denied";
import { OriginLabel } from "../../runs/parts/Labels";
import { Decide, type DecideHandle } from "./Decide";
import { riskOf, useAsked } from "./describe";
import { SubjectView } from "./Subject";

type Props = { approval: Approval; others: number; onDecided: () => void; handle?: Ref<DecideHandle> };

/** One approval with all that is needed to decide it. */
export function ApprovalView({ approval, others, onDecided, handle }: Props) {
  const t = useT("approvals");
  const me = useMe();
  const ifDenied = useIfDenied();
  const asked = useAsked()(approval.subject);
  const risk = riskOf(approval.subject);
  const { run } = approval;
  const open = approval.status === "open";
  return (
    <article aria-label={asked.title} className="flex min-w-0 flex-col gap-5">
      <header className="flex flex-col gap-2">
        <div className="flex flex-wrap items-center gap-2">
          {risk && <RiskBadge risk={risk} />}
          {approval.tainted && <Badge tone="warn" icon={<ShieldAlert aria-hidden />}>{t("tainted")}</Badge>}
          {others > 0 && <Badge>{t("merged", { count: others })}</Badge>}
        </div>
        <h2 tabIndex={-1} className="text-xl font-semibold wrap-anywhere">{asked.title}</h2>
        <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-sm text-ink-2">
          <span className="font-medium text-ink">{run.agent_name ?? run.agent_id}</span>
          <OriginLabel origin={run.origin} />
          <span>{run.asked_by}</span>
          <span className="text-ink-3" title={formatExact(approval.asked_at)}>{open ? <Elapsed from={approval.asked_at} /> : <Time at={approval.asked_at} />}</span>
        </p>
        <p className="text-sm text-ink-2 wrap-anywhere">
          <Link to="/runs/$runId" params={{ runId: approval.run_id }} className="text-accent-ink hover:underline">{run.title || t("open_run")}</Link>
          {approval.chain.map((above) => <span key={above.run_id}> · {t("asked_by_agent")} <Link to="/runs/$runId" params={{ runId: above.run_id }} className="text-accent-ink hover:underline">{above.agent_name ?? above.run_id}</Link></span>)}
          {run.conversation_id && <> · <Link to="/chat/$conversationId" params={{ conversationId: run.conversation_id }} className="text-accent-ink hover:underline">{t("open_chat")}</Link></>}
        </p>
        {open && approval.reason && <p className="text-sm text-ink-2 wrap-anywhere"><span className="text-ink-3">{t("why")}:</span> {approval.reason}</p>}
      </header>
      {approval.tainted && <p className="flex max-w-prose gap-2.5 rounded-lg border border-warn-line/60 bg-warn-soft px-3.5 py-2.5 text-base"><ShieldAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" /><span className="min-w-0">{t("tainted_text")}{approval.taint.map((one) => <code key={one.call_id + one.origin} className="mt-1 block font-mono text-sm wrap-anywhere">{one.origin} <span className="text-ink-3">({one.tool})</span></code>)}</span></p>}
      {!open && <Verdict approval={approval} />}
      <SubjectView approval={approval} />
      {open && (
        <div className="sticky bottom-0 -mx-6 flex flex-col gap-3 border-t border-line bg-bg px-6 py-4 max-md:-mx-4 max-md:px-4">
          {(approval.subject.kind === "call" || approval.subject.kind === "plan") && <p className="text-sm text-ink-2 wrap-anywhere"><span className="text-ink-3">{t("if_denied")}:</span> {ifDenied(approval.subject)}</p>}
          {approval.needs_other && <p className="text-sm text-warn">{t("needs_colleague")}</p>}
          {mayWork(me.data) ? <Decide key={approval.id} approval={approval} others={others} onDecided={onDecided} {...(handle && { ref: handle })} /> : <p className="text-base text-ink-3">{t("not_yours")}</p>}
        </div>
      )}
    </article>
  );
}

/** Who decided what, and when. */
export function Verdict({ approval }: { approval: Approval }) {
  const t = useT("approvals");
  const { answer } = approval;
  if (approval.status === "withdrawn" || !answer) return <p className="text-base text-ink-2">{t("withdrawn_text")}</p>;
  const said = answer.decision === "feedback" ? answer.text : answer.decision === "deny" ? answer.reason : null;
  const did = answer.decision === "feedback" && approval.subject.kind === "question" ? t("did_answer") : t(`did_${answer.decision}`);
  return (
    <p className="rounded-lg border border-line bg-sunken px-4 py-3 text-base wrap-anywhere">
      {t("decided_line", { name: approval.decided_by ?? "–", did })}
      {answer.decision === "approve" && answer.grant && <> {answer.until ? t("granted_until", { when: formatExact(answer.until) }) : t("granted_run")}</>}
      {approval.decided_at && <> · <Time relative at={approval.decided_at} className="text-ink-3" /></>}
      {said && <span className="mt-1 block text-ink-2">“{said}”</span>}
    </p>
  );
}
