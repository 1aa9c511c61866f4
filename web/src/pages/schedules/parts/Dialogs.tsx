import { useState } from "react";
import { useScheduleActions } from "@/api/hooks";
import type { Schedule } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ConfirmDialog, Dialog, ErrorState, Field, Textarea, toast } from "@/ui";
import { NOTE } from "./form";
import { useMoves } from "./moves";

type Props = { schedule: Schedule; onClose: () => void; onRemoved?: () => void };

/** Has a schedule rest, with a note for whoever looks later. */
export function PauseDialog({ schedule, onClose }: Props) {
  const t = useT("schedules");
  const { pause } = useScheduleActions();
  const { resume } = useMoves();
  const [note, setNote] = useState("");
  const save = () =>
    pause.mutate({ id: schedule.id, note: note.trim() }, { onSuccess: () => (toast({ title: t("paused", { name: schedule.name }), about: schedule.id, ...(schedule.may_change && { undo: () => void resume(schedule) }) }), onClose()) });
  return (
    <Dialog open onOpenChange={onClose} title={t("pause_title", { name: schedule.name })} description={t("pause_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={pause.isPending} onClick={save}>{t("pause")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {pause.error && <ErrorState inline error={pause.error} />}
        <Field label={t("note")} hint={t("note_hint")}>{(p) => <Textarea {...p} autoFocus maxLength={NOTE.most} value={note} onChange={(event) => setNote(event.target.value)} />}</Field>
      </form>
    </Dialog>
  );
}

/** Asks before a schedule of somebody else goes: only they can bring it back. */
export function RemoveDialog({ schedule, onClose, onRemoved }: Props) {
  const t = useT("schedules");
  const { remove } = useMoves();
  const end = () => {
    onClose();
    onRemoved?.();
    void remove(schedule);
  };
  return <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { name: schedule.name })} description={t("remove_text", { owner: schedule.owner ?? t("owner_gone") })} confirm={t("delete")} danger onConfirm={end} />;
}
