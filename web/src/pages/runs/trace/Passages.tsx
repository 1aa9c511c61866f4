import type { Setup } from "@/api/events";
import type { Reference } from "@/api/types";
import { currentLanguage, useT } from "@/i18n";
import { PassageLink, usePlace } from "@/run/cited";
import { Badge } from "@/ui";
import { Part, Text } from "../parts/Fold";

const score = (value: number) => new Intl.NumberFormat(currentLanguage(), { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value);

/** Passages of documents that a run was given or found, with what they were chosen by. */
export function PassageList({ passages }: { passages: readonly Reference[] }) {
  const t = useT("runs");
  const placeOf = usePlace();
  return (
    <ol className="flex flex-col gap-2">
      {passages.map((one) => (
        <li key={one.number} className="rounded-md border border-line px-3 py-2">
          <div className="flex flex-wrap items-baseline gap-x-2.5 gap-y-1 text-sm">
            <span className="cite-number">{one.number}</span>
            <PassageLink document={one.document} chunk={one.chunk} className="min-w-0 font-medium text-accent-ink wrap-anywhere hover:underline">{placeOf(one)}</PassageLink>
            <span className="text-ink-3 tabular" title={t("nearest_hint")}>{t("nearest", { score: score(one.nearest) })}</span>
            {one.cosine !== undefined && <span className="text-ink-3 tabular" title={t("cosine_hint")}>{t("cosine", { score: score(one.cosine) })}</span>}
            {one.outside && <Badge tone="warn" title={t("tainted_hint")}>{t("tainted")}</Badge>}
          </div>
          <div className="mt-1.5"><Text plain text={one.quote || one.text} /></div>
        </li>
      ))}
    </ol>
  );
}

/** The documents that were given with a request, and the passages that its run was given. */
export function Given({ setup }: { setup: Setup }) {
  const t = useT("runs");
  const { documents = [], references = [], looked_through: looked } = setup;
  const kept = looked?.kept_back ?? 0;
  return (
    <>
      {documents.length > 0 && (
        <Part title={t("sec_documents")} note={documents.length}>
          <ul className="flex flex-wrap gap-x-3 gap-y-1 text-base">{documents.map((one) => <li key={one.id}><PassageLink document={one.id} className="text-accent-ink wrap-anywhere hover:underline">{one.name}</PassageLink></li>)}</ul>
        </Part>
      )}
      {(references.length > 0 || (looked?.documents ?? 0) > 0) && (
        <Part title={t("sec_passages")} note={t("looked_through", { count: looked?.documents ?? 0 })}>
          {references.length > 0 ? <PassageList passages={references} /> : <p className="text-sm text-ink-3">{t("passages_none")}</p>}
        </Part>
      )}
      {kept > 0 && <p className="text-sm text-warn">{t("kept_back", { count: kept, policy: looked?.policy ?? "" })}</p>}
      {looked?.problem && <p className="text-sm text-warn wrap-anywhere">{looked.problem}</p>}
    </>
  );
}
