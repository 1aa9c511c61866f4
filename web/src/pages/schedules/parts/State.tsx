import { Pause, TriangleAlert } from "lucide-react";
import type { Schedule } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Time } from "@/ui";
import { formatIn } from "./times";

/** That a schedule rests, and why. */
export function RestBadge({ schedule }: { schedule: Schedule }) {
  const t = useT("schedules");
  const { pause } = schedule;
  if (pause === null) return null;
  const person = pause.reason === "person";
  return <Badge tone={person ? "neutral" : "bad"} className="whitespace-normal!" icon={person ? <Pause aria-hidden /> : <TriangleAlert aria-hidden />} {...(pause.note && { title: pause.note })}>{t(`rests_${pause.reason}`)}</Badge>;
}

/** When it is due next: how long it is until then, and the exact time by the clock of its zone. */
export function NextAt({ schedule }: { schedule: Schedule }) {
  const t = useT("schedules");
  if (schedule.deleted_at !== null) return <>{t("next_deleted")}</>;
  if (schedule.next_at === null) return <>{t(schedule.pause ? "next_rests" : "next_none")}</>;
  return <><Time relative at={schedule.next_at} /> · <span className="tabular">{formatIn(schedule.next_at, schedule.when.zone)}</span></>;
}
