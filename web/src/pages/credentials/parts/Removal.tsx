import { useCredentialActions, useCredentialNamers } from "@/api/hooks";
import type { Credential } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, Skeleton, toast } from "@/ui";
import { NamedBy } from "./NamedBy";
import { isNamed, namedBy } from "./namers";

/** Asks before a credential goes for good, and says who will miss it. */
export function Removal({ credential, onClose, onRemoved }: { credential: Credential; onClose: () => void; onRemoved?: () => void }) {
  const t = useT("credentials");
  const { remove } = useCredentialActions();
  const namers = useCredentialNamers();
  const by = namers.data && namedBy(credential, namers.data);
  const end = () =>
    remove.mutate(credential.id, {
      onSuccess: () => {
        toast({ title: t("removed", { name: credential.name }) });
        onClose();
        onRemoved?.();
      },
    });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { name: credential.name })} description={t("remove_text")} confirm={t("remove_confirm")} danger busy={remove.isPending} onConfirm={end}>
      <div className="flex flex-col gap-2 pb-1">
        {remove.error && <ErrorState inline error={remove.error} />}
        {by ? (
          isNamed(by) || by.maySkills.length + by.mayServers.length > 0 ? <><p className="text-base font-medium">{t("remove_used")}</p><NamedBy by={by} /></> : <p className="text-base">{t("remove_unused")}</p>
        ) : namers.error ? <ErrorState inline error={namers.error} onRetry={() => void namers.refetch()} /> : <Skeleton rows={2} />}
      </div>
    </ConfirmDialog>
  );
}
