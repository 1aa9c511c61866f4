import { useDomainTextVersions } from "@/api/hooks";
import type { DomainTextKind } from "@/api/types";
import { Fold } from "@/run/cards/text";
import { useT } from "@/i18n";
import { Badge, Button, DiffView, ErrorState, Sheet, Skeleton, Time } from "@/ui";
import { textDiff } from "./SaveDialog";

/** All versions of a text, what each changed, and a way back to one. */
export function Versions({ kind, name, current, onRestore, onClose }: { kind: DomainTextKind; name: string; current: number | null; onRestore: (text: string) => void; onClose: () => void }) {
  const t = useT("data");
  const list = useDomainTextVersions(kind, name);
  return (
    <Sheet open onOpenChange={onClose} title={t("versions_of", { name })}>
      <div className="p-4">
        {list.error ? <ErrorState inline error={list.error} onRetry={() => void list.refetch()} /> : !list.data ? <Skeleton rows={5} /> : (
          <ol aria-label={t("versions")} className="flex flex-col gap-3">
            {list.data.map((one, at) => {
              const before = list.data[at + 1];
              const diff = textDiff(before?.text ?? "", one.text);
              return (
                <li key={`${one.version}-${one.changed_at}`} className="rounded-lg border border-line bg-surface px-4 py-3">
                  <div className="flex flex-wrap items-center gap-2">
                    <h2 className="text-base font-semibold tabular">{t("version_n", { n: one.version })}</h2>
                    {one.version === current && <Badge tone="ok">{t("version_current")}</Badge>}
                    <span className="min-w-0 flex-1 text-sm text-ink-3"><Time relative at={one.changed_at} /></span>
                    {one.version !== current && <Button size="sm" onClick={() => (onRestore(one.text), onClose())}>{t("restore")}</Button>}
                  </div>
                  {diff === "" ? <p className="mt-1 text-sm text-ink-3">{t("nothing_changed")}</p> : <Fold className="mt-1" open={at === 0} summary={t(before ? "what_changed" : "whole_text")}><DiffView diff={diff} className="mt-1" /></Fold>}
                </li>
              );
            })}
          </ol>
        )}
      </div>
    </Sheet>
  );
}
