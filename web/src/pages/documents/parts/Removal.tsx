import { useCollectionActions } from "@/api/hooks";
import type { Collection } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, toast } from "@/ui";
import { isWorkspace } from "./target";

/** Asks before a collection goes for good, with its documents. */
export function Removal({ collection, onClose, onRemoved }: { collection: Collection; onClose: () => void; onRemoved: () => void }) {
  const t = useT("documents");
  const { remove } = useCollectionActions();
  const end = () =>
    remove.mutate(collection.id, {
      onSuccess: () => {
        toast({ title: t("collection_removed", { name: collection.name }) });
        onClose();
        onRemoved();
      },
    });
  const what = collection.documents === 0 ? t("collection_remove_empty") : t("collection_remove_text", { count: collection.documents });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("collection_remove_title", { name: collection.name })} description={isWorkspace(collection) ? `${what} ${t("collection_remove_workspace")}` : what} confirm={t("collection_remove_confirm")} danger busy={remove.isPending} onConfirm={end}>
      {remove.error && <ErrorState inline error={remove.error} />}
    </ConfirmDialog>
  );
}
