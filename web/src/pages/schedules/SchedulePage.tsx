import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, CalendarClock, Pause, Pencil, Play, RotateCcw, Trash2, Zap } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiError } from "@/api/client";
import { previewOptions, useSchedule } from "@/api/hooks";
import type { Schedule } from "@/api/types";
import { useLanguage, useT } from "@/i18n";
import { Badge, Button, Card, EmptyState, ErrorState, Facts, IconButton, Page, Skeleton, Time } from "@/ui";
import { PauseDialog, RemoveDialog } from "./parts/Dialogs";
import { OVERLAPS } from "./parts/form";
import { History } from "./parts/History";
import { useMoves } from "./parts/moves";
import { NextTimes } from "./parts/Reading";
import type { Doing } from "./parts/Row";
import { ScheduleDialog } from "./parts/ScheduleDialog";
import { NextAt, RestBadge } from "./parts/State";
import { formatIn, formatSpan } from "./parts/times";

/** One schedule: what it says, when it is due, and what became of it. */
export function SchedulePage() {
  const t = useT("schedules");
  const { scheduleId } = useParams({ strict: false }) as { scheduleId: string };
  const found = useSchedule(scheduleId);
  const back = <Link to="/schedules" tabIndex={-1}><IconButton label={t("back")} className="-ml-2"><ArrowLeft /></IconButton></Link>;
  if (found.data) return <One key={scheduleId} schedule={found.data} back={back} />;
  const gone = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Page title={t("title")} back={back} width="text">
      {gone ? <EmptyState icon={<CalendarClock />} title={t("gone_title")}>{t("gone_text")}</EmptyState> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : <Skeleton rows={6} />}
    </Page>
  );
}

function One({ schedule, back }: { schedule: Schedule; back: ReactNode }) {
  const t = useT("schedules");
  const navigate = useNavigate();
  const moves = useMoves();
  const [doing, setDoing] = useState<Doing | null>(null);
  const mine = schedule.may_change;
  const gone = schedule.deleted_at !== null;
  const leave = () => void navigate({ to: "/schedules" });
  const icon = "size-3.5";
  return (
    <Page
      title={schedule.name}
      back={back}
      width="text"
      actions={
        gone ? (
          mine && <Button size="sm" variant="primary" loading={moves.busy} icon={<RotateCcw aria-hidden className={icon} />} onClick={() => void moves.bringBack(schedule)}>{t("restore")}</Button>
        ) : (
          <>
            {mine && schedule.pause !== null && <Button size="sm" variant="primary" loading={moves.busy} icon={<Play aria-hidden className={icon} />} onClick={() => void moves.resume(schedule)}>{t("resume")}</Button>}
            {mine && <Button size="sm" {...(schedule.pause === null && { variant: "primary" as const })} loading={moves.busy} icon={<Zap aria-hidden className={icon} />} onClick={() => void moves.runNow(schedule)}>{t("run_now")}</Button>}
            {schedule.pause === null && <Button size="sm" icon={<Pause aria-hidden className={icon} />} onClick={() => setDoing("pause")}>{t("pause")}</Button>}
            {mine && <Button size="sm" icon={<Pencil aria-hidden className={icon} />} onClick={() => setDoing("edit")}>{t("edit")}</Button>}
            <IconButton size="sm" label={t("delete")} onClick={() => (mine ? (leave(), void moves.remove(schedule)) : setDoing("remove"))}><Trash2 /></IconButton>
          </>
        )
      }
    >
      <div className="flex flex-col gap-5">
        <Notices schedule={schedule} />
        <Card title={t("what")}><What schedule={schedule} /></Card>
        {!gone && <Card title={t("next_times")}><Coming schedule={schedule} /></Card>}
        <Card title={t("history")} pad={false}><History id={schedule.id} zone={schedule.when.zone} /></Card>
        <Card title={t("settings")}><Settings schedule={schedule} /></Card>
      </div>
      {doing === "edit" && <ScheduleDialog schedule={schedule} onClose={() => setDoing(null)} />}
      {doing === "pause" && <PauseDialog schedule={schedule} onClose={() => setDoing(null)} />}
      {doing === "remove" && <RemoveDialog schedule={schedule} onClose={() => setDoing(null)} onRemoved={leave} />}
    </Page>
  );
}

/** What whoever opens it is to know first: that it rests or is deleted, and whose it is. */
function Notices({ schedule }: { schedule: Schedule }) {
  const t = useT("schedules");
  const { pause } = schedule;
  const box = "rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2";
  return (
    <>
      {schedule.deleted_at !== null && <p className={box}>{t("deleted_since")} <Time at={schedule.deleted_at} />. {t("deleted_text")}</p>}
      {pause && schedule.deleted_at === null && (
        <div className={box}>
          <p className="flex flex-wrap items-center gap-2"><RestBadge schedule={schedule} /><span>{t("rests_since")} <Time at={pause.since} /></span></p>
          {pause.note && <p className="mt-1 wrap-anywhere whitespace-pre-wrap">{pause.note}</p>}
          <p className="mt-1 text-sm text-ink-3">{t(`rests_${pause.reason}_text`)}</p>
        </div>
      )}
      {!schedule.may_change && <p className={box}>{t("not_yours", { owner: schedule.owner ?? t("owner_gone") })}</p>}
    </>
  );
}

function What({ schedule }: { schedule: Schedule }) {
  const t = useT("schedules");
  return (
    <Facts
      items={[
        [t("when"), schedule.description],
        [t("agent"), schedule.agent === null ? t("agent_gone") : <Link key="agent" to="/agents/$agentId" params={{ agentId: schedule.agent_id }} className="text-accent-ink underline underline-offset-2">{schedule.agent}</Link>],
        [t("request"), <span key="request" className="whitespace-pre-wrap">{schedule.request}</span>],
        [t("next_short"), <NextAt key="next" schedule={schedule} />],
        [t("owner"), schedule.owner ?? t("owner_gone")],
      ]}
    />
  );
}

/** When it is due next, or would be if it did not rest, and what the clocks have to do with it. */
function Coming({ schedule }: { schedule: Schedule }) {
  const t = useT("schedules");
  const language = useLanguage();
  const preview = useQuery({ ...previewOptions({ when: schedule.when, language }), refetchInterval: 10_000 });
  if (preview.error && !preview.data) return <ErrorState inline error={preview.error} onRetry={() => void preview.refetch()} />;
  if (!preview.data) return <Skeleton rows={5} />;
  const jitter = schedule.when.jitter_seconds;
  return (
    <div className="flex flex-col gap-3">
      {schedule.pause && <p className="text-base text-ink-2">{t("next_would")}</p>}
      <NextTimes next={preview.data.next} />
      {jitter > 0 && <p className="text-sm text-ink-2">{t("jitter_said", { span: formatSpan(jitter) })}</p>}
      {preview.data.clock_changes && <p className="text-sm text-ink-2">{preview.data.clock_changes}</p>}
    </div>
  );
}

function Settings({ schedule }: { schedule: Schedule }) {
  const t = useT("schedules");
  const { missed, when } = schedule;
  const failures = schedule.pause_after_failures;
  return (
    <Facts
      items={[
        [t("overlap"), t(OVERLAPS[schedule.overlap])],
        [t("missed"), missed.kind === "all" ? t("missed_all_within", { span: formatSpan(missed.within_seconds) }) : t(`missed_${missed.kind}`)],
        [t("failures_short"), <span key="failures">{failures === null ? t("failures_never") : t("failures_after", { count: failures })}{schedule.failures > 0 && <> <Badge tone="warn">{t("failures_now", { count: schedule.failures })}</Badge></>}</span>],
        [t("grace_short"), formatSpan(schedule.grace_seconds)],
        ...(when.start == null ? [] : [[t("start"), formatIn(when.start, when.zone)] as [ReactNode, ReactNode]]),
        ...(when.end == null ? [] : [[t("end"), formatIn(when.end, when.zone)] as [ReactNode, ReactNode]]),
        [t("made"), <Time key="made" at={schedule.created_at} />],
        [t("changed"), <Time key="changed" at={schedule.updated_at} />],
      ]}
    />
  );
}
