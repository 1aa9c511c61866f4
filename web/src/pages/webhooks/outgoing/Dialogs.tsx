import { useState } from "react";
import { useSubscriptionActions } from "@/api/hooks/subscriptions";
import type { Subscription } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ConfirmDialog, Dialog, ErrorState, Field, Textarea, toast } from "@/ui";
import { NOTE } from "../parts/form";
import { useMoves } from "./moves";

type Props = { subscription: Subscription; onClose: () => void; onRemoved?: () => void };

/** Has a subscription rest, with a note for whoever looks later. */
export function PauseDialog({ subscription, onClose }: Props) {
  const t = useT("subscriptions");
  const { pause } = useSubscriptionActions();
  const { resume } = useMoves();
  const [note, setNote] = useState("");
  const { id, name, may_change: mine } = subscription;
  const save = () => pause.mutate({ id, note: note.trim() }, { onSuccess: () => (toast({ title: t("paused", { name }), about: id, ...(mine && { undo: () => void resume(subscription) }) }), onClose()) });
  return (
    <Dialog open onOpenChange={onClose} title={t("pause_title", { name })} description={t("pause_text")} footer={<><Button onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={pause.isPending} onClick={save}>{t("pause")}</Button></>}>
      <form className="flex flex-col gap-4 pb-1" onSubmit={(event) => (event.preventDefault(), save())}>
        {pause.error && <ErrorState inline error={pause.error} />}
        <Field label={t("note")} hint={t("note_hint")}>{(p) => <Textarea {...p} autoFocus maxLength={NOTE.most} value={note} onChange={(event) => setNote(event.target.value)} />}</Field>
      </form>
    </Dialog>
  );
}

/** Asks before a subscription of somebody else goes: only they can bring it back. */
export function RemoveDialog({ subscription, onClose, onRemoved }: Props) {
  const t = useT("subscriptions");
  const { remove } = useMoves();
  const end = () => {
    onClose();
    onRemoved?.();
    void remove(subscription);
  };
  return <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { name: subscription.name })} description={t("remove_text", { owner: subscription.owner ?? t("owner_gone") })} confirm={t("delete")} danger onConfirm={end} />;
}
