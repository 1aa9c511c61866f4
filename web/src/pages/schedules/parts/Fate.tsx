import { Link } from "@tanstack/react-router";
import type { Outcome, ScheduleOccurrence } from "@/api/types";
import { type Key, useT } from "@/i18n";
import { Badge, formatExact, StateBadge } from "@/ui";

/** What became of an occurrence, and why. */
export function Fate({ occurrence }: { occurrence: ScheduleOccurrence }) {
  const t = useT("schedules");
  const { status, reason, joined, outcome } = occurrence;
  if (status === "ran") return <StateBadge state={(outcome as Outcome["status"] | null) ?? "running"} />;
  const key = `reason_${reason}` as Key<"schedules">;
  const why = reason === null ? null : t(key) === key ? reason : t(key);
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2 text-sm text-ink-2">
      <Badge className="whitespace-normal!" {...(status === "missed" && { tone: "bad" as const })}>{t(`status_${status}`)}</Badge>
      {why && <span>{why}</span>}
      {joined !== null && <span>{t("joined_at", { time: formatExact(joined) })}</span>}
    </span>
  );
}

/** To the run of an occurrence; nothing where it has none. */
export function RunLink({ occurrence }: { occurrence: ScheduleOccurrence }) {
  const t = useT("schedules");
  if (occurrence.run_id === null) return null;
  return <Link to="/runs/$runId" params={{ runId: occurrence.run_id }} className="relative z-1 text-accent-ink underline underline-offset-2">{t("run_link")}</Link>;
}
