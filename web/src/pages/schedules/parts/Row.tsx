import { Link } from "@tanstack/react-router";
import { Ellipsis, Pause, Pencil, Play, RotateCcw, Trash2, Zap } from "lucide-react";
import type { Schedule } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, IconButton, Menu, MenuItem, MenuSeparator, Time } from "@/ui";
import { Fate, RunLink } from "./Fate";
import { useMoves } from "./moves";
import { NextAt, RestBadge } from "./State";

export type Doing = "edit" | "pause" | "remove";
type Props = { schedule: Schedule; others: boolean; onDo: (what: Doing) => void };

/** A schedule in the list. `others`: it may be somebody else's, which is said. */
export function Row({ schedule, others, onDo }: Props) {
  const t = useT("schedules");
  const { last } = schedule;
  return (
    <li className="relative flex items-start gap-3 px-4 py-3 transition-colors first:rounded-t-lg last:rounded-b-lg hover:bg-hover">
      <div className="flex min-w-0 flex-1 flex-col gap-0.5">
        <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
          {/* The whole row opens the schedule. */}
          <Link to="/schedules/$scheduleId" params={{ scheduleId: schedule.id }} className="wrap-anywhere after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus">{schedule.name}</Link>
          <RestBadge schedule={schedule} />
          {schedule.deleted_at !== null && <Badge>{t("is_deleted")}</Badge>}
        </h2>
        <p className="text-base text-ink-2 wrap-anywhere">{schedule.description}</p>
        {schedule.pause?.note && <p className="text-sm text-ink-2 wrap-anywhere">{t("note_said", { note: schedule.pause.note })}</p>}
        <p className="text-sm text-ink-3 wrap-anywhere">{schedule.agent ?? t("agent_gone")}{others && <> · {schedule.owner ?? t("owner_gone")}</>}{schedule.pause === null && schedule.deleted_at === null && <> · {t("next")} <NextAt schedule={schedule} /></>}</p>
        {last && <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-ink-3"><span>{t("last")} <Time relative at={last.nominal} /></span><Fate occurrence={last} /><RunLink occurrence={last} /></p>}
      </div>
      <div className="relative z-1 -mr-1.5"><RowMenu schedule={schedule} onDo={onDo} /></div>
    </li>
  );
}

function RowMenu({ schedule, onDo }: { schedule: Schedule; onDo: (what: Doing) => void }) {
  const t = useT("schedules");
  const moves = useMoves();
  const mine = schedule.may_change;
  const gone = schedule.deleted_at !== null;
  if (gone && !mine) return null;
  return (
    <Menu trigger={<IconButton size="sm" label={t("actions", { name: schedule.name })}><Ellipsis /></IconButton>}>
      {gone && <MenuItem icon={<RotateCcw />} onSelect={() => void moves.bringBack(schedule)}>{t("restore")}</MenuItem>}
      {!gone && mine && <MenuItem icon={<Zap />} onSelect={() => void moves.runNow(schedule)}>{t("run_now")}</MenuItem>}
      {!gone && schedule.pause === null && <MenuItem icon={<Pause />} onSelect={() => onDo("pause")}>{t("pause")}</MenuItem>}
      {!gone && schedule.pause !== null && mine && <MenuItem icon={<Play />} onSelect={() => void moves.resume(schedule)}>{t("resume")}</MenuItem>}
      {!gone && mine && <MenuItem icon={<Pencil />} onSelect={() => onDo("edit")}>{t("edit")}</MenuItem>}
      {!gone && (mine || schedule.pause === null) && <MenuSeparator />}
      {!gone && <MenuItem icon={<Trash2 />} danger onSelect={() => (mine ? void moves.remove(schedule) : onDo("remove"))}>{t("delete")}</MenuItem>}
    </Menu>
  );
}
