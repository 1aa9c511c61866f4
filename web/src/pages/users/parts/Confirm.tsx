import { useUserActions } from "@/api/hooks";
import type { User } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, toast } from "@/ui";

type Props = { user: User; onClose: () => void };

/** Asks before a user goes for good. */
export function Removal({ user, onClose }: Props) {
  const t = useT("users");
  const { remove } = useUserActions();
  const run = () => remove.mutate(user.id, { onSuccess: () => (toast({ title: t("removed", { email: user.email }) }), onClose()) });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { email: user.email })} description={t("remove_text")} confirm={t("remove_confirm")} danger busy={remove.isPending} onConfirm={run}>
      {remove.error && <ErrorState inline error={remove.error} />}
    </ConfirmDialog>
  );
}

/** Asks before somebody is logged out everywhere. */
export function Ending({ user, onClose }: Props) {
  const t = useT("users");
  const { endSessions } = useUserActions();
  const run = () => endSessions.mutate(user.id, { onSuccess: ({ ended }) => (toast({ title: t("sessions_ended", { count: ended }) }), onClose()) });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("end_title", { email: user.email })} description={t("end_text")} confirm={t("end_sessions")} busy={endSessions.isPending} onConfirm={run}>
      {endSessions.error && <ErrorState inline error={endSessions.error} />}
    </ConfirmDialog>
  );
}
