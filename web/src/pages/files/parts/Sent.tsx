import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useFileActions, useSentFiles } from "@/api/hooks";
import type { SentFile } from "@/api/types";
import { useT } from "@/i18n";
import { FileLink } from "@/run/file-open";
import { Card, ConfirmDialog, ErrorState, formatBytes, IconButton, PagedList, Time, toast } from "@/ui";

/** What people sent: open it, download it, remove it. */
export function Sent() {
  const t = useT("files");
  const list = useSentFiles();
  const [removing, setRemoving] = useState<SentFile | null>(null);
  return (
    <Card title={t("sent")} pad={false}>
      <PagedList list={list} skeletonRows={4} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t("sent_none")}</p>}>
        <ul aria-label={t("sent")} className="divide-y divide-line">
          {list.items.map((file) => (
            <li key={file.path} className="flex items-start gap-2 py-2.5 pr-2 pl-4">
              <div className="min-w-0 flex-1">
                <p className="text-base font-medium"><FileLink path={file.path} className="wrap-anywhere hover:underline">{file.path}</FileLink></p>
                <p className="text-sm text-ink-3 wrap-anywhere">{formatBytes(file.bytes)} · {file.by ?? t("removed_user")} · <Time relative at={file.at} /></p>
              </div>
              <IconButton size="sm" label={t("remove", { path: file.path })} onClick={() => setRemoving(file)}><Trash2 /></IconButton>
            </li>
          ))}
        </ul>
      </PagedList>
      {removing && <Removal path={removing.path} onClose={() => setRemoving(null)} />}
    </Card>
  );
}

/** Asks before a file goes for good. */
function Removal({ path, onClose }: { path: string; onClose: () => void }) {
  const t = useT("files");
  const { remove } = useFileActions();
  const end = () => remove.mutate(path, { onSuccess: () => (toast({ title: t("removed", { path }) }), onClose()) });
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("remove_title", { path })} description={t("remove_text")} confirm={t("remove_confirm")} danger busy={remove.isPending} onConfirm={end}>
      {remove.error && <ErrorState inline error={remove.error} />}
    </ConfirmDialog>
  );
}
