import { CircleCheck } from "lucide-react";
import { useCredentialActions } from "@/api/hooks";
import { useT } from "@/i18n";
import { Button, Dialog, ErrorState } from "@/ui";

/** Changes the vault's key: all credentials are sealed anew. */
export function Rotation({ onClose }: { onClose: () => void }) {
  const t = useT("credentials");
  const { rotate } = useCredentialActions();
  const done = rotate.data;
  return (
    <Dialog
      open
      locked={rotate.isPending}
      onOpenChange={onClose}
      title={t("rotate_title")}
      description={t("rotate_text")}
      footer={done ? <Button variant="primary" onClick={onClose}>{t("done")}</Button> : <><Button disabled={rotate.isPending} onClick={onClose}>{t("cancel")}</Button><Button variant="primary" loading={rotate.isPending} onClick={() => rotate.mutate()}>{t("rotate_confirm")}</Button></>}
    >
      <div role="status" className="flex flex-col gap-2 pb-1 text-base">
        {done && <p className="flex items-start gap-2"><CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />{done.resealed === 0 ? t("rotated_none") : t("rotated", { count: done.resealed })}</p>}
        {done && <p className="text-ink-2">{t("rotated_next")}</p>}
      </div>
      {rotate.error && <ErrorState inline error={rotate.error} />}
    </Dialog>
  );
}
