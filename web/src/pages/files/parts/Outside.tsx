import { Eraser } from "lucide-react";
import { useState } from "react";
import { useFileActions, useFileOrigins } from "@/api/hooks";
import type { FileOrigin } from "@/api/types";
import { useT } from "@/i18n";
import { Card, ClassifiedBadge, ConfirmDialog, ErrorState, IconButton, PagedList, SearchInput, Time, toast } from "@/ui";

/** How many entries are shown at first, and how many more each time; beyond that there is a filter. */
const PAGE = 30;

/** Files and folders that runs read as from outside, for operators, who may clear an entry; `admin`: a confidential one too. */
export function Outside({ admin }: { admin: boolean }) {
  const t = useT("files");
  const list = useFileOrigins();
  const [typed, type] = useState("");
  const [shown, setShown] = useState(PAGE);
  const [clearing, setClearing] = useState<FileOrigin | null>(null);
  const all = list.data ?? [];
  const fitting = all.filter(({ path }) => path.toLowerCase().includes(typed.trim().toLowerCase()));
  const paged = { items: fitting.slice(0, shown), isLoading: list.isLoading, error: list.error, hasMore: fitting.length > shown, loadingMore: false, more: () => setShown(shown + PAGE), retry: () => void list.refetch() };
  return (
    <Card title={t("outside")} pad={false}>
      <p className="max-w-prose px-4 py-3 text-base text-ink-2">{t("outside_text")}</p>
      {all.length > PAGE && <div role="search" className="px-4 pb-3"><SearchInput label={t("search")} maxLength={200} value={typed} onChange={type} /></div>}
      <PagedList list={paged} skeletonRows={4} empty={<p className="px-4 py-6 text-center text-base text-ink-3">{t(typed.trim() ? "outside_not_found" : "outside_none")}</p>}>
        <ul aria-label={t("outside")} className="divide-y divide-line border-t border-line">
          {paged.items.map((entry) => <Entry key={entry.path} entry={entry} {...((admin || !entry.level) && { onClear: () => setClearing(entry) })} />)}
        </ul>
      </PagedList>
      {clearing && <Clearing entry={clearing} onClose={() => setClearing(null)} />}
    </Card>
  );
}

function Entry({ entry, onClear }: { entry: FileOrigin; onClear?: () => void }) {
  const t = useT("files");
  const name = entry.path || t("whole");
  return (
    <li className="flex items-start gap-2 py-2.5 pr-2 pl-4">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2"><span className="text-base font-medium wrap-anywhere">{name}</span>{entry.level && <ClassifiedBadge classified={entry.level} />}</p>
        {entry.origins.length > 0 && <p className="text-sm text-ink-2 wrap-anywhere">{t("origins", { origins: entry.origins.join(", ") })}</p>}
        <p className="text-sm text-ink-3">{t("since")} <Time relative at={entry.at} />{!onClear && <> · {t("clear_admin")}</>}</p>
      </div>
      {onClear && <IconButton size="sm" label={t("clear", { path: name })} onClick={onClear}><Eraser /></IconButton>}
    </li>
  );
}

/** Says what clearing means before it is done. */
function Clearing({ entry, onClose }: { entry: FileOrigin; onClose: () => void }) {
  const t = useT("files");
  const { clearOrigin } = useFileActions();
  const name = entry.path || t("whole");
  const end = () => clearOrigin.mutate(entry.path, { onSuccess: () => (toast({ title: t("cleared", { path: name }) }), onClose()) });
  const sentences = [t("clear_text"), ...(entry.level ? [t("clear_level")] : []), ...(/^uploads(\/|$)/.test(entry.path) ? [t("clear_uploads")] : [])];
  return (
    <ConfirmDialog open onOpenChange={onClose} title={t("clear_title", { path: name })} description={sentences.join(" ")} confirm={t("clear_confirm")} busy={clearOrigin.isPending} onConfirm={end}>
      {clearOrigin.error && <ErrorState inline error={clearOrigin.error} />}
    </ConfirmDialog>
  );
}
