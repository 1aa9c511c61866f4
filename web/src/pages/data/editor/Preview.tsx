import { useEffect, useMemo, useState } from "react";
import { useDomains, useRows, useViews } from "@/api/hooks";
import type { View } from "@/api/types";
import { useT } from "@/i18n";
import { EmptyState, ErrorState, Skeleton } from "@/ui";
import { type At, keyOf, rowOf } from "../view/render";
import { ViewPane } from "../view/ViewPane";
import { previewOf } from "./view-text";

/** The view that the text describes, on real rows of the domains that are kept. Nothing is written from here. */
export function Preview({ text, cursor }: { text: string; cursor: number }) {
  const t = useT("data");
  const domains = useDomains();
  const views = useViews();
  const view = useMemo(() => previewOf(text, cursor), [text, cursor]);
  const [at, setAt] = useState<At>(null);
  useEffect(() => setAt(null), [view?.name, view?.domain]);
  const domain = domains.data?.find((one) => one.name === view?.domain);
  // A view of one record, which nothing in it chooses, is shown with the first one.
  const alone = !!view && !!domain && domain.key.length > 0 && !view.tables.some((part) => part.domain === view.domain);
  const first = useRows(alone ? { domain: domain.name, fields: domain.key, limit: 1 } : null).data;
  const key = alone && first?.domain === domain.name && first.rows[0] ? keyOf(domain, rowOf(first.columns, first.rows[0])) : null;
  const shown: At = at ?? (key && { kind: "row", where: key });
  if (!view) return <EmptyState title={t("preview_none")}>{t("preview_none_text")}</EmptyState>;
  if (domains.error && !domains.data) return <ErrorState inline error={domains.error} onRetry={() => void domains.refetch()} />;
  if (!domains.data) return <Skeleton rows={6} />;
  if (!domain) return <EmptyState title={t("preview_unsaved", { domain: view.domain || "?" })}>{t("preview_unsaved_text")}</EmptyState>;
  return (
    <div className="flex flex-col gap-3">
      <h3 className="text-base font-semibold">{view.title || view.name}</h3>
      <ViewPane key={`${view.name}/${view.domain}`} preview view={selectable(view)} at={shown} domains={domains.data} viewDomain={(name) => views.data?.find((one) => one.name === name)?.domain} every={0} onOpen={() => undefined} onAt={setAt} />
    </div>
  );
}

/** Where the view has a form of its own, a row fills it: other views are not opened from a preview. */
const selectable = (view: View): View => (view.sections.length === 0 ? view : { ...view, tables: view.tables.map((part) => (part.domain === view.domain ? { ...part, on_select: null } : part)) });
