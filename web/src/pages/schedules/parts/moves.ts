import { useNavigate } from "@tanstack/react-router";
import { useScheduleActions } from "@/api/hooks";
import type { Schedule } from "@/api/types";
import { useT } from "@/i18n";
import { toast, useErrorText } from "@/ui";

/** What can be done to a schedule at once, with what is said of it. */
export function useMoves() {
  const t = useT("schedules");
  const navigate = useNavigate();
  const errorText = useErrorText();
  const { remove, restore, resume, run } = useScheduleActions();
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  // By promises: the page may be gone when the answer comes.
  const bringBack = (schedule: Schedule) => restore.mutateAsync(schedule.id).then(() => toast({ title: t("restored", { name: schedule.name }), about: schedule.id }), failed);
  return {
    /** Others can't bring one back: they are asked before. */
    remove: (schedule: Schedule) => remove.mutateAsync(schedule.id).then(() => toast({ title: t("deleted", { name: schedule.name }), about: schedule.id, ...(schedule.may_change && { undo: () => void bringBack(schedule) }) }), failed),
    bringBack,
    resume: (schedule: Schedule) => resume.mutateAsync(schedule.id).then(() => toast({ title: t("resumed", { name: schedule.name }), about: schedule.id }), failed),
    runNow: (schedule: Schedule) => run.mutateAsync(schedule.id).then(({ run_id }) => navigate({ to: "/runs/$runId", params: { runId: run_id } }), failed),
    busy: resume.isPending || restore.isPending || run.isPending,
  };
}
