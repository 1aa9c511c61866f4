import { X } from "lucide-react";
import { useFolderActions, useWatchedPaths } from "@/api/hooks";
import type { WatchedPath } from "@/api/types";
import { useT } from "@/i18n";
import { ErrorState, IconButton, Skeleton, Time, toast } from "@/ui";
import { useFailed } from "./failed";
import { Problem } from "./labels";

/** Folders that are watched; ending that is done at once. */
export function Watched({ nameOf }: { nameOf: (collection: string) => string }) {
  const t = useT("documents");
  const list = useWatchedPaths();
  const failed = useFailed();
  const { watch, unwatch } = useFolderActions();
  const back = ({ path, collection }: WatchedPath) => watch.mutateAsync({ path, collection }).then(() => toast({ title: t("watch_begun", { path }) }), failed);
  const end = (one: WatchedPath) => unwatch.mutateAsync(one.id).then(() => toast({ title: t("unwatched", { path: one.path }), undo: () => void back(one) }), failed);
  if (list.error) return <ErrorState inline className="m-3" error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton rows={3} className="p-4" />;
  if (list.data.length === 0) return <p className="px-4 py-6 text-center text-base text-ink-3">{t("watched_none")}</p>;
  return (
    <ul aria-label={t("watched")} className="divide-y divide-line">
      {list.data.map((one) => (
        <li key={one.id} className="flex items-start gap-2 py-2.5 pr-2 pl-4">
          <div className="min-w-0 flex-1">
            <p className="font-mono text-sm wrap-anywhere">{one.path}</p>
            <p className="text-sm text-ink-3">{nameOf(one.collection)} · {one.scanned_at === undefined ? t("not_scanned") : <>{t("scanned")} <Time relative at={one.scanned_at} /></>}</p>
            {one.problem && <Problem problem={one.problem} />}
          </div>
          <IconButton size="sm" label={t("unwatch", { path: one.path })} disabled={unwatch.isPending} onClick={() => void end(one)}><X /></IconButton>
        </li>
      ))}
    </ul>
  );
}
