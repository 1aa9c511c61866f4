import { useErase, useErasure } from "@/api/hooks";
import type { User } from "@/api/types";
import { useT } from "@/i18n";
import { ConfirmDialog, ErrorState, Skeleton, toast } from "@/ui";

type Counts = readonly { kind: string; count: number }[];

/** Shows what there is of a person before it goes for good. */
export function Erase({ user, onClose }: { user: User; onClose: () => void }) {
  const t = useT("users");
  const erasure = useErasure(user.id);
  const erase = useErase();
  const preview = erasure.data?.preview;
  const run = () => preview && erase.mutate({ id: user.id, confirmation: preview.confirmation }, { onSuccess: () => (toast({ title: t("erase_begun", { email: user.email }) }), onClose()) });
  const list = (title: string, counts: Counts) => counts.length > 0 && (
    <div>
      <p className="text-sm font-medium">{title}</p>
      <p className="text-sm text-ink-2">{counts.map((one) => `${one.kind.replaceAll("_", " ")}: ${one.count}`).join(", ")}</p>
    </div>
  );
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("erase_title", { email: user.email })} description={t("erase_text")} confirm={t("erase_confirm")} danger busy={erase.isPending} onConfirm={run}>
      <div className="flex flex-col gap-3">
        {erasure.isPending && <Skeleton rows={2} />}
        {erasure.error && <ErrorState inline error={erasure.error} />}
        {preview && (
          <>
            {list(t("erase_goes"), preview.goes)}
            {list(t("erase_renamed"), preview.renamed)}
            {list(t("erase_stays"), preview.stays)}
            {preview.obstacles.map((text) => <p key={text} role="alert" className="text-sm text-bad first-letter:uppercase">{text}.</p>)}
          </>
        )}
        {erasure.data?.erasure?.waits_for && <p role="status" className="text-sm text-bad first-letter:uppercase">{erasure.data.erasure.waits_for}.</p>}
        {erase.error && <ErrorState inline error={erase.error} />}
      </div>
    </ConfirmDialog>
  );
}
