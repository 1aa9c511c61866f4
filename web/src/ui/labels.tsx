// How states, risks and verdicts look and read, the same on each page.
import { BadgeCheck, BadgeMinus, Lock, ShieldQuestion } from "lucide-react";
import type { ReactNode } from "react";
import type { Classification, Classified, Outcome, Risk, Run, Verdict } from "@/api/types";
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

const levels: Record<Classification, Tone> = { public: "neutral", internal: "neutral", confidential: "accent", restricted: "accent" };
/** How closely data is to be kept. */
export function ClassificationBadge({ level, title, children }: { level: Classification; title?: string; children?: ReactNode }) {
  const t = useT("common");
  return <Badge tone={levels[level] ?? "accent"} icon={(level === "confidential" || level === "restricted") && <Lock aria-hidden />} title={title} className="max-w-full">{t(`classification.${level}`)}{children}</Badge>;
}

/** The most confidential that a run has seen, and in what. */
export function ClassifiedBadge({ classified }: { classified: Classified }) {
  const t = useT("common");
  return (
    <ClassificationBadge level={classified.classification} title={t("classified", { label: classified.label, source: classified.source })}>
      <span className="max-w-48 truncate font-normal">· {classified.source}</span>
    </ClassificationBadge>
  );
}

type State = "running" | "parked" | Outcome["status"];
export const stateOf = (run: Pick<Run, "status" | "outcome">): State => (run.status === "finished" ? (run.outcome?.status ?? "completed") : run.status);
const states: Record<State, Tone> = { running: "accent", parked: "warn", completed: "ok", failed: "bad", stopped: "neutral", limited: "neutral", rejected: "neutral" };
/** Where a run stands. */
export function StateBadge({ state }: { state: State }) {
  const t = useT("common");
  return <span className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap text-ink-2"><Dot tone={states[state]} busy={state === "running"} />{t(`state.${state}`)}</span>;
}
