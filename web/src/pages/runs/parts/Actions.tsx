import { CornerDownRight, Download, Ellipsis, FlaskConical, GitFork, MessageSquare, Play, Rewind, Square, Undo2 } from "lucide-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { RunEvent } from "@/api/events";
import { mayWork, useMe, useRunActions } from "@/api/hooks";
import type { RunDetail } from "@/api/types";
import { useT } from "@/i18n";
import { Button, IconButton, Menu, MenuItem, MenuSeparator, toast, useErrorText } from "@/ui";
import { download } from "../trace/RawLog";
import { type DialogName, ForkDialog, KeepDialog, ReplayDialog, SteerDialog, UndoDialog } from "./Dialogs";

type Props = { run: RunDetail; ended: boolean; events: readonly RunEvent[]; actions: ReturnType<typeof useRunActions>; onUndone: () => void };

/** What can be done to this run now: the usual as buttons, the rest in a menu. */
export function Actions({ run, ended, events, actions, onUndone }: Props) {
  const t = useT("runs");
  const me = useMe();
  const navigate = useNavigate();
  const errorText = useErrorText();
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const { stop, resume } = actions;
  const works = mayWork(me.data);
  const failed = (error: unknown) => {
    const { title, hint } = errorText(error);
    toast({ title, ...(hint && { detail: hint }), tone: "bad" });
  };
  const props = { run, actions, onClose: () => setDialog(null) };
  const icon = "size-3.5";
  return (
    <>
      {works && !ended && <Button size="sm" icon={<CornerDownRight aria-hidden className={icon} />} onClick={() => setDialog("steer")}>{t("action_steer")}</Button>}
      {works && !ended && (
        <Button size="sm" variant="danger" loading={stop.isPending} icon={<Square aria-hidden className="size-3 fill-current" />} onClick={() => stop.mutate(undefined, { onSuccess: () => toast({ title: t("stopped_toast") }), onError: failed })}>{t("action_stop")}</Button>
      )}
      {works && ended && run.undoable > 0 && <Button size="sm" icon={<Undo2 aria-hidden className={icon} />} onClick={() => setDialog("undo")}>{t("action_undo_all")}</Button>}
      {works && ended && <Button size="sm" className="max-md:hidden" icon={<GitFork aria-hidden className={icon} />} onClick={() => setDialog("fork")}>{t("action_fork")}</Button>}
      <Menu trigger={<IconButton label={t("action_more")} size="sm"><Ellipsis /></IconButton>}>
        {works && !ended && <MenuItem icon={<Play />} onSelect={() => resume.mutate(undefined, { onSuccess: ({ resumed }) => toast({ title: resumed ? t("resumed_toast") : t("not_resumed_toast") }), onError: failed })}>{t("action_resume")}</MenuItem>}
        {works && <MenuItem icon={<GitFork />} onSelect={() => setDialog("fork")}>{t("action_fork")}</MenuItem>}
        {ended && <MenuItem icon={<Rewind />} onSelect={() => setDialog("replay")}>{t("action_replay")}</MenuItem>}
        {works && ended && <MenuItem icon={<FlaskConical />} onSelect={() => setDialog("keep")}>{t("action_keep")}</MenuItem>}
        <MenuSeparator />
        {run.conversation_id && (run.user_id === null || run.user_id === me.data?.id) && <MenuItem icon={<MessageSquare />} onSelect={() => void navigate({ to: "/chat/$conversationId", params: { conversationId: run.conversation_id as string } })}>{t("action_conversation")}</MenuItem>}
        <MenuItem icon={<Download />} onSelect={() => download(run.id, events)}>{t("action_download")}</MenuItem>
      </Menu>
      {dialog === "steer" && <SteerDialog {...props} />}
      {dialog === "undo" && <UndoDialog {...props} onUndone={onUndone} />}
      {dialog === "replay" && <ReplayDialog {...props} />}
      {dialog === "fork" && <ForkDialog {...props} />}
      {dialog === "keep" && <KeepDialog {...props} />}
    </>
  );
}
