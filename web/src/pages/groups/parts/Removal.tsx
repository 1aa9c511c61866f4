import { useGroupActions } from "@/api/hooks";
import type { Group } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, toast } from "@/ui";

/** Asks before a group goes for good, with its grants. */
export function Removal({ group, onClose, onRemoved }: { group: Group; onClose: () => void; onRemoved: () => void }) {
  const t = useT("groups");
  const { remove } = useGroupActions();
  const end = () =>
    remove.mutate(group.id, {
      onSuccess: () => {
        toast({ title: t("removed", { name: group.name }) });
        onClose();
        onRemoved();
      },
    });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { name: group.name })} description={t(group.source === null ? "remove_text" : "remove_kept")} confirm={t("remove_confirm")} danger busy={remove.isPending} onConfirm={end}>
      {remove.error && <ErrorState inline error={remove.error} />}
    </ConfirmDialog>
  );
}
