import { useState } from "react";
import { useHookActions } from "@/api/hooks";
import type { Hook } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ConfirmDialog, Dialog, ErrorState, Field, Textarea, toast } from "@/ui";
import { NOTE } from "./form";
import { useMoves } from "./moves";

type Props = { hook: Hook; onClose: () => void; onRemoved?: () => void };

/** Has a webhook rest, with a note for whoever looks later. */
export function PauseDialog({ hook, onClose }: Props) {
  const t = useT("webhooks");
  const { pause } = useHookActions();
  const { resume } = useMoves();
  const [note, setNote] = useState("");
  const save = () =>
    pause.mutate({ id: hook.id, note: note.trim() }, { onSuccess: () => (toast({ title: t("paused", { name: hook.name }), about: hook.id, ...(hook.may_change && { undo: () => void resume(hook) }) }), onClose()) });
  return (
    <Dialog open onOpenChange={onClose} title={t("pause_title", { name: hook.name })} description={t("pause_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={pause.isPending} onClick={save}>{t("pause")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {pause.error && <ErrorState inline error={pause.error} />}
        <Field label={t("note")} hint={t("note_hint")}>{(p) => <Textarea {...p} autoFocus maxLength={NOTE.most} value={note} onChange={(event) => setNote(event.target.value)} />}</Field>
      </form>
    </Dialog>
  );
}

/** Asks before a webhook of somebody else goes: only they can bring it back. */
export function RemoveDialog({ hook, onClose, onRemoved }: Props) {
  const t = useT("webhooks");
  const { remove } = useMoves();
  const end = () => {
    onClose();
    onRemoved?.();
    void remove(hook);
  };
  return <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { name: hook.name })} description={t("remove_text", { owner: hook.owner ?? t("owner_gone") })} confirm={t("delete")} danger onConfirm={end} />;
}
