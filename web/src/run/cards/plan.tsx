import { Ban, Check, CircleDashed, ListChecks, X } from "lucide-react";
import { memo } from "react";
import { useApproval } from "@/api/hooks";
import type { PlanStep, Risk } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, cx, formatNumber, JsonView, RiskBadge, Spinner } from "@/ui";
import { useIfDenied } from "../if-denied";
import type { PlanItem, RunView, ToolItem } from "../view";
import { argsLine } from "./args";
import { DecideRow, WaitingCard } from "./decide";
import { PreviewView } from "./preview";
import { Fold } from "./text";

const FINAL = "final_answer";
const order: Risk[] = ["read", "write", "external", "destructive"];

/** A plan: in the making, waiting for a yes, or as it was carried out. */
export const PlanCard = memo(({ item, view }: { item: PlanItem; view: RunView }) => {
  const t = useT("chat");
  const steps = item.live ? item.draft : (item.candidates[0]?.plan ?? []);
  const work = steps.filter((step) => step.tool !== FINAL);
  const body = <Steps item={item} steps={steps} view={view} />;
  if (item.live) {
    return (
      <section className="rounded-lg border border-line bg-surface px-4 py-3" aria-busy>
        <h2 className="mb-2 flex items-center gap-2 text-base font-semibold"><Spinner className="text-accent-ink" />{t("planning")}</h2>
        {body}
      </section>
    );
  }
  const waiting = item.approvalId !== null && item.approvalId === view.waiting;
  if (waiting) return <WaitingPlan item={item} count={work.length}>{body}<Candidates item={item} /></WaitingPlan>;
  const state = item.answer ? t(`plan.${item.answer.decision}` as "plan.approve", { by: item.by_whom ?? "" }) : item.superseded ? t("plan.superseded") : null;
  return (
    <Fold
      open={view.status !== "finished" && !item.superseded}
      className="rounded-lg border border-line bg-surface px-3 py-1.5"
      summary={<span className="flex min-w-0 items-center gap-2"><ListChecks aria-hidden className="size-3.5 shrink-0" /><span className="shrink-0 font-medium text-ink-2">{t("planSteps", { count: work.length })}</span><span className="min-w-0 truncate">{state ?? work[0]?.thought}</span></span>}
    >
      <div className="flex flex-col gap-2 pt-1 pb-2 pl-5">
        {item.answer?.decision === "feedback" && <p className="text-sm text-ink-2">“{item.answer.text}”</p>}
        {item.answer?.decision === "deny" && item.answer.reason && <p className="text-sm text-ink-2">“{item.answer.reason}”</p>}
        {body}
        <Candidates item={item} />
      </div>
    </Fold>
  );
});

function WaitingPlan({ item, count, children }: { item: PlanItem; count: number; children: React.ReactNode }) {
  const t = useT("chat");
  const { data } = useApproval(item.approvalId ?? undefined);
  const ifDenied = useIfDenied();
  const worst = (item.subject?.previews ?? []).reduce<Risk>((risk, step) => (order.indexOf(step.risk) > order.indexOf(risk) ? step.risk : risk), "read");
  return (
    <WaitingCard title={<><ListChecks aria-hidden className="size-4.5 text-warn" />{t("planMayI", { count })}{worst !== "read" && <RiskBadge risk={worst} />}{data?.tainted && <Badge tone="warn">{t("tainted")}</Badge>}</>}>
      {children}
      {item.subject && <p className="text-sm text-ink-2"><span className="text-ink-3">{t("ifNo")}</span> {ifDenied(item.subject)}</p>}
      {item.approvalId && <DecideRow refine approvalId={item.approvalId} risk={worst} scope={null} scopeName="" approve={t("approvePlan")} />}
    </WaitingCard>
  );
}

const marks: Partial<Record<ToolItem["state"], React.ReactNode>> = {
  ok: <Check className="text-ok" />, dry: <Check className="text-accent-ink" />, error: <X className="text-bad" />, rejected: <Ban className="text-ink-3" />, running: <Spinner className="text-accent-ink" />,
};

function Steps({ item, steps, view }: { item: PlanItem; steps: PlanStep[]; view: RunView }) {
  const t = useT("chat");
  const done = (index: number) => view.items.find((other): other is ToolItem => other.kind === "tool" && other.callId === `plan-${item.generation}-${index + 1}`);
  return (
    <ol className="flex flex-col">
      {steps.filter((step) => step.tool !== FINAL).map((step, index) => {
        const preview = item.subject?.previews.find((entry) => entry.step === index);
        const risk = preview?.risk ?? view.risks[step.tool];
        const filled = item.filled[index];
        const mark = marks[done(index)?.state ?? "proposed"];
        return (
          <li key={index} className="grid grid-cols-[1.625rem_1fr] gap-x-1.5 border-t border-line py-2 first:border-t-0 first:pt-0.5 last:pb-0.5">
            <span className="pt-px text-sm text-ink-3 tabular [&>svg]:mt-0.5 [&>svg]:size-4">{mark ?? (item.live ? <CircleDashed /> : `${index + 1}.`)}</span>
            <div className="min-w-0">
              <p className="flex flex-wrap items-baseline gap-x-2 text-base">
                <span className="font-mono text-sm font-medium">{step.tool}</span>
                {risk && risk !== "read" && <RiskBadge risk={risk} />}
                <span className="min-w-0 text-ink-2 wrap-anywhere">{step.thought}</span>
              </p>
              {Object.keys(step.args).length > 0 && <p className="mt-0.5 font-mono text-xs text-ink-3 wrap-anywhere">{argsLine(step.args)}</p>}
              {filled && ("arguments" in filled ? <Fold summary={t("filled")}><JsonView value={filled.arguments} /></Fold> : <p className="text-sm text-bad">{filled.error}</p>)}
              {preview && <div className="mt-2"><PreviewView preview={preview.preview} /></div>}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

/** The other plans and why this one was preferred. */
function Candidates({ item }: { item: PlanItem }) {
  const t = useT("chat");
  if (item.candidates.length === 0) return null;
  const parts = ["fit", "valid_arguments", "known_tools", "length", "effects_late", "ends"] as const;
  return (
    <Fold summary={t("candidates", { count: item.candidates.length })}>
      <div className="mt-1 overflow-x-auto" tabIndex={0}>
        <table className="w-full text-xs tabular">
          <thead><tr className="text-left text-ink-3"><th className="py-1 pr-3 font-medium">{t("steps")}</th><th className="px-2 font-medium">{t("score.total")}</th>{parts.map((part) => <th key={part} className="px-2 font-medium whitespace-nowrap">{t(`score.${part}`)}</th>)}</tr></thead>
          <tbody>
            {item.candidates.map((candidate, index) => (
              <tr key={index} className={cx("border-t border-line align-top", index === 0 && "font-medium")}>
                <td className="max-w-72 py-1 pr-3 font-mono font-normal">{candidate.plan.map((step) => step.tool).join(" → ")}</td>
                <td className="px-2 py-1">{formatNumber(Math.round(candidate.score.total * 100) / 100)}</td>
                {parts.map((part) => <td key={part} className="px-2 py-1 text-ink-2">{formatNumber(Math.round(candidate.score[part] * 100) / 100)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="mt-1 text-xs text-ink-3">{t("plannedBy", { by: item.by === "intent" ? t("plannedBy.intent") : t("plannedBy.model") })}{item.notes.map((note) => ` · ${note}`)}</p>
    </Fold>
  );
}
