import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { CHUNKS, useChunks } from "@/api/hooks";
import type { Chunk, DocumentDetails } from "@/api/types";
import { useT } from "@/i18n";
import { cx, ErrorState, formatNumber, IconButton, Skeleton } from "@/ui";
import { Marked, pagesOf } from "./labels";
import { marked } from "./marks";

type Props = { document: DocumentDetails; chunk: number | null; question: string };

/** What was made of a document, in order, a few passages at a time; begins where `chunk` is. */
export function Chunks({ document, chunk, question }: Props) {
  const t = useT("documents");
  const pageOf = (index: number | null) => Math.max(0, Math.floor((index ?? 0) / CHUNKS));
  const [page, setPage] = useState(pageOf(chunk));
  useEffect(() => setPage(pageOf(chunk)), [chunk]);
  const last = Math.max(0, Math.ceil(document.chunks / CHUNKS) - 1);
  const shown = Math.min(page, last);
  const found = useChunks(document.id, shown, `${document.chunks} ${document.status}`, document.chunks > 0);
  const items = found.data?.items ?? [];
  const top = useRef<HTMLElement>(null);
  const turn = (to: number) => {
    setPage(to);
    top.current?.scrollIntoView({ block: "start" });
  };
  const first = shown * CHUNKS;
  return (
    <section ref={top} className="flex flex-col gap-2">
      <header className="flex items-center gap-2">
        <h3 className="flex-1 text-sm font-medium">{t("chunks")}{document.chunks > CHUNKS && <span className="font-normal text-ink-3 tabular"> · {t("chunks_range", { from: formatNumber(first + 1), to: formatNumber(Math.min(first + CHUNKS, document.chunks)), of: formatNumber(document.chunks) })}</span>}</h3>
        {last > 0 && <><IconButton size="sm" label={t("chunks_before")} disabled={shown === 0} onClick={() => turn(shown - 1)}><ChevronLeft /></IconButton><IconButton size="sm" label={t("chunks_after")} disabled={shown === last} onClick={() => turn(shown + 1)}><ChevronRight /></IconButton></>}
      </header>
      {document.chunks === 0 ? (
        <p className="text-sm text-ink-3">{t(document.status === "waiting" ? "chunks_later" : "chunks_none")}</p>
      ) : found.error ? (
        <ErrorState inline error={found.error} onRetry={() => void found.refetch()} />
      ) : found.isLoading ? (
        <Skeleton rows={5} />
      ) : (
        <ol className={cx("flex flex-col gap-2", found.isPlaceholderData && "opacity-60")}>{items.map((one) => <Passage key={one.index} chunk={one} here={one.index === chunk} question={question} />)}</ol>
      )}
    </section>
  );
}

type PassageProps = { chunk: Chunk; here: boolean; question: string; /** It is one of a list from which one is chosen, and leaves the keyboard where it is. */ onChoose?: () => void };

export function Passage({ chunk, here, question, onChoose }: PassageProps) {
  const t = useT("documents");
  const self = useRef<HTMLLIElement>(null);
  const choosing = onChoose !== undefined;
  useEffect(() => {
    if (!here) return;
    // After the sheet has taken the focus and come to rest.
    const timer = setTimeout(() => {
      const list = choosing ? self.current?.closest("[data-list]") : null;
      // Only the list is moved: below the page, on a phone, it would take the page out of sight.
      if (list && self.current) list.scrollTo({ top: self.current.offsetTop - (list as HTMLElement).offsetTop - 48 });
      if (choosing) return;
      self.current?.scrollIntoView({ block: "center" });
      self.current?.focus({ preventScroll: true });
    }, 250);
    return () => clearTimeout(timer);
  }, [here, choosing]);
  return (
    <li ref={self} tabIndex={here ? -1 : undefined} data-passage={chunk.index} aria-current={here ? "true" : undefined} onClick={onChoose} className={cx("rounded-lg border px-3 py-2", choosing && "cursor-pointer", here ? "border-accent bg-accent-soft/40" : "border-line bg-surface")}>
      <p className="mb-1 flex flex-wrap gap-x-2 text-xs text-ink-3 tabular">
        {onChoose ? <button type="button" aria-pressed={here} className="font-medium text-accent-ink hover:underline max-md:py-1" onClick={(event) => (event.stopPropagation(), onChoose())}>{t("passage", { n: formatNumber(chunk.index + 1) })}</button> : <span>{t("passage", { n: formatNumber(chunk.index + 1) })}</span>}
        {chunk.first_page > 0 && <span>{t("page", { pages: pagesOf(chunk.first_page, chunk.last_page) })}</span>}
        {chunk.headings.length > 0 && <span className="wrap-anywhere">{chunk.headings.join(" › ")}</span>}
      </p>
      <p className="text-base whitespace-pre-wrap wrap-anywhere"><Marked pieces={question ? marked(chunk.text, question) : [{ text: chunk.text, hit: false }]} /></p>
    </li>
  );
}
