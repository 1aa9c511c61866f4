// How states, risks and verdicts look and read, the same on each page.
import { BadgeCheck, BadgeMinus, ShieldQuestion } from "lucide-react";
import type { Outcome, Risk, Run, Verdict } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Dot, type Tone } from "./surface";

const risks: Record<Risk, Tone> = { read: "neutral", write: "warn", external: "warn", destructive: "bad" };
export function RiskBadge({ risk }: { risk: Risk }) {
  const t = useT("common");
  return <Badge tone={risks[risk]}>{t(`risk.${risk}`)}</Badge>;
}

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const t = useT("common");
  if (verdict === "verified") return <Badge tone="ok" icon={<BadgeCheck aria-hidden />}>{t("verdict.verified")}</Badge>;
  if (verdict === "unverified") return <Badge tone="warn" icon={<ShieldQuestion aria-hidden />}>{t("verdict.unverified")}</Badge>;
  return <Badge icon={<BadgeMinus aria-hidden />}>{t("verdict.no-claims")}</Badge>;
}

type State = "running" | "parked" | Outcome["status"];
export const stateOf = (run: Pick<Run, "status" | "outcome">): State => (run.status === "finished" ? (run.outcome?.status ?? "completed") : run.status);
const states: Record<State, Tone> = { running: "accent", parked: "warn", completed: "ok", failed: "bad", stopped: "neutral", limited: "neutral", rejected: "neutral" };
/** Where a run stands. */
export function StateBadge({ state }: { state: State }) {
  const t = useT("common");
  return <span className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap text-ink-2"><Dot tone={states[state]} busy={state === "running"} />{t(`state.${state}`)}</span>;
}
