import { useT } from "@/i18n";
import { Badge, cx, formatNumber } from "@/ui";
import { Bar, Part } from "../parts/Fold";
import { brief } from "./describe";
import type { FilterNode, PlanNode } from "./nodes";
import type { Candidate, Score } from "./types";

const scores = ["length", "known_tools", "valid_arguments", "effects_late", "ends", "fit"] as const satisfies (keyof Score)[];
const two = (score: number) => formatNumber(Math.round(score * 100) / 100);

function CandidateCard({ candidate, first }: { candidate: Candidate; first: boolean }) {
  const t = useT("runs");
  return (
    <li className={cx("rounded-lg border p-3", first ? "border-accent/50 bg-surface" : "border-line")}>
      <p className="mb-2 flex items-center gap-2 text-base">
        <strong className="font-semibold tabular">{two(candidate.score.total)}</strong>
        <span className="w-24"><Bar share={candidate.score.total} label={t("score_total")} tone={first ? "accent" : "neutral"} /></span>
        {first && <Badge tone="accent">{t("chosen")}</Badge>}
      </p>
      <ol className="flex flex-col gap-1 text-sm">
        {candidate.plan.map((step, index) => (
          <li key={index} className="flex gap-2">
            <span className="w-4 shrink-0 text-right text-ink-3 tabular">{index + 1}</span>
            <span className="min-w-0 wrap-anywhere"><code className="font-mono font-medium">{step.tool}</code> <span className="text-ink-3">{brief(step.args)}</span>{step.thought && <span className="block text-ink-2">{step.thought}</span>}</span>
          </li>
        ))}
      </ol>
      <dl className="mt-3 grid grid-cols-2 gap-x-5 gap-y-1 text-xs sm:grid-cols-3">
        {scores.map((name) => (
          <div key={name} className="flex items-center gap-2">
            <dt className="min-w-0 flex-1 truncate text-ink-3">{t(`score_${name}`)}</dt>
            <dd className="flex items-center gap-1.5 tabular"><Bar className="w-10" share={candidate.score[name]} label={t(`score_${name}`)} tone={candidate.score[name] < 0.5 ? "warn" : "neutral"} />{two(candidate.score[name])}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

export function PlanDetail({ node }: { node: PlanNode }) {
  const t = useT("runs");
  return (
    <>
      <Part title={t("sec_candidates", { count: node.candidates.length })}>
        <ol className="flex flex-col gap-2">{node.candidates.map((candidate, index) => <CandidateCard key={index} candidate={candidate} first={index === 0} />)}</ol>
      </Part>
      {node.notes.length > 0 && <Part title={t("sec_notes")}><ul className="flex flex-col gap-1 rounded-md bg-warn-soft px-3 py-2 text-sm">{node.notes.map((line, index) => <li key={index} className="wrap-anywhere">{line}</li>)}</ul></Part>}
    </>
  );
}

/** How well each tool fits the request. */
export function FilterDetail({ node }: { node: FilterNode }) {
  const t = useT("runs");
  return (
    <Part title={t("sec_ranking")} note={node.wantsTool ? t("wants_tool") : t("wants_no_tool")}>
      <ol className="grid max-w-md gap-1.5">
        {node.kept.map((ranked) => (
          <li key={ranked.tool} className="grid grid-cols-[10rem_1fr_3rem] items-center gap-3 text-sm">
            <code className="truncate font-mono">{ranked.tool}</code>
            <Bar share={ranked.score} label={ranked.tool} />
            <span className="text-right text-ink-2 tabular">{two(ranked.score)}</span>
          </li>
        ))}
      </ol>
    </Part>
  );
}
