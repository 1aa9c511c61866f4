// Links from an answer to the passages that it cites, and the list of them below it.
import { Link } from "@tanstack/react-router";
import { FileText } from "lucide-react";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import type { Cited } from "@/api/types";
import { useT } from "@/i18n";
import { formatNumber } from "@/ui";
import { citedIn } from "./citations";

/** The passages that the texts below may cite. */
export const Passages = createContext<readonly Cited[]>([]);

/** Where a passage stands, for people: the document, the page, the last heading. */
export function usePlace(): (one: Cited) => string {
  const t = useT("chat");
  return (one) => [one.name, one.first_page > 1 ? t("cite.page", { page: formatNumber(one.first_page) }) : "", one.headings.at(-1) ?? ""].filter(Boolean).join(", ");
}

type PassageProps = { document: string; chunk?: number; children: ReactNode; className?: string; title?: string; label?: string };

/** Opens a document beside what is looked at, at its passage; the address leads there again. */
export function PassageLink({ document, chunk, children, className, title, label }: PassageProps) {
  const search = (old: Record<string, unknown>) => ({ ...old, document, chunk });
  return <Link to="." search={search as never} replace resetScroll={false} className={className} title={title} aria-label={label}>{children}</Link>;
}

/** `[1]` in an answer. */
export function Cite({ number }: { number: number }) {
  const t = useT("chat");
  const placeOf = usePlace();
  const one = useContext(Passages).find((other) => other.number === number);
  if (!one) return <>[{number}]</>;
  const place = placeOf(one);
  return <PassageLink document={one.document} chunk={one.chunk} className="cite" title={place} label={t("cite.label", { number, place })}>{number}</PassageLink>;
}

/** What an answer cites, by its numbers. */
export function CitedSources({ text, passages }: { text: string; passages: readonly Cited[] }) {
  const t = useT("chat");
  const cited = useMemo(() => citedIn(text, passages), [text, passages]);
  if (cited.length === 0) return null;
  return (
    <section aria-label={t("cite.sources")} className="text-sm">
      <h2 className="mb-1 text-xs text-ink-3">{t("cite.sources")}</h2>
      <ol className="overflow-hidden rounded-lg border border-line bg-surface">
        {cited.map((one) => (
          <li key={one.number} className="border-t border-line first:border-t-0">
            <PassageLink document={one.document} chunk={one.chunk} className="flex min-h-9 items-center gap-2.5 px-3 py-1.5 hover:bg-hover focus-visible:outline-offset-[-2px] max-md:min-h-11">
              <span className="cite-number shrink-0">{one.number}</span>
              <FileText aria-hidden className="size-3.5 shrink-0 text-ink-3" />
              <span className="max-w-full min-w-0 truncate font-medium text-ink">{one.name}</span>
              {one.first_page > 1 && <span className="shrink-0 text-ink-3 tabular">{t("cite.page", { page: formatNumber(one.first_page) })}</span>}
              {one.headings.length > 0 && <span className="min-w-0 flex-1 truncate text-ink-3 max-md:hidden">{one.headings.at(-1)}</span>}
            </PassageLink>
          </li>
        ))}
      </ol>
    </section>
  );
}
