import { CircleCheck, CircleDashed, CircleMinus, CircleX } from "lucide-react";
import type { Check } from "@/api/types";
import { type Key, useT } from "@/i18n";
import { formatDuration } from "@/ui";

const icons = { passed: <CircleCheck className="text-ok" />, partly: <CircleMinus className="text-ink-2" />, failed: <CircleX className="text-bad" />, skipped: <CircleDashed className="text-ink-3" /> };

/** What an exam tried, in order. */
export function Checks({ checks, label }: { checks: Check[]; label: string }) {
  const t = useT("connections");
  const name = (check: string) => {
    const key = `check_${check}`;
    const text = t(key as Key<"connections">);
    return text === key ? check.replaceAll("_", " ") : text;
  };
  return (
    <ol aria-label={label} className="flex flex-col divide-y divide-line">
      {checks.map((check) => (
        <li key={check.name} className="grid grid-cols-[1.25rem_1fr_auto] gap-x-2.5 py-2 text-base">
          <span className="mt-0.5 [&>svg]:size-4.5" aria-hidden>{icons[check.outcome]}</span>
          <div className="min-w-0">
            <p className="font-medium">{name(check.name)} <span className="text-sm font-normal text-ink-3">{t(`outcome_${check.outcome}`)}</span></p>
            {check.detail && <p className="text-sm text-ink-2 wrap-anywhere">{check.detail}</p>}
          </div>
          <p className="text-right text-sm whitespace-nowrap text-ink-3 tabular">{check.of > 0 && t("points", { points: check.points, of: check.of })}<br />{check.outcome !== "skipped" && formatDuration(check.ms)}</p>
        </li>
      ))}
    </ol>
  );
}
