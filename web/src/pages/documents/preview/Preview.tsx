// The original with its passages drawn over it, and beside it the list of those of the page.
import { ScanText } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useChunkAt, useChunksOnPage } from "@/api/hooks";
import type { Chunk, DocumentDetails } from "@/api/types";
import { type Key, useT } from "@/i18n";
import { cx, ErrorState, formatBytes, formatNumber, Skeleton } from "@/ui";
import { Passage } from "../parts/Chunks";
import { Areas } from "./Areas";
import { isOn, pageOf } from "./areas";
import { ocrLeft, ocrOf, previewOf, typeOf } from "./kinds";
import { useOriginal } from "./original";
import { openPdf, PdfError, type PDFDocumentProxy, type PdfProblem } from "./pdf";
import { PdfPage } from "./PdfPage";
import { Toolbar, ZOOMS } from "./Toolbar";

type Props = { document: DocumentDetails; chunk: number | null; question: string; onChunk: (index: number | null) => void; /** What stands below the list. */ children: ReactNode };
const NONE: Chunk[] = [];

export default function Preview({ document, chunk, question, onChunk, children }: Props) {
  const t = useT("documents");
  const version = `${document.chunks} ${document.status}`;
  const original = useOriginal(document.id, document.sha256);
  const asked = useChunkAt(document.id, chunk, version);
  const [page, setPage] = useState(1);
  const [zoom, setZoom] = useState<number>(1);
  const [pdf, setPdf] = useState<PDFDocumentProxy | null>(null);
  const [problem, setProblem] = useState<PdfProblem | null>(null);
  const kind = previewOf(document);
  const blob = original.data && "blob" in original.data ? original.data.blob : null;
  const picture = usePicture(kind === "picture" ? blob : null, typeOf(document));
  const pages = pdf?.numPages ?? 1;
  const shown = Math.min(Math.max(1, page), pages);
  const found = useChunksOnPage(document.id, shown, version, document.chunks > 0);
  const chunks = found.data?.items ?? NONE;

  // A passage that is asked for turns to its page, unless a part of it is shown.
  const place = asked.data;
  useEffect(() => {
    if (place) setPage((now) => (isOn(place, now) && now > 1 ? now : pageOf(place)));
  }, [place]);
  useEffect(() => {
    if (kind !== "pdf" || !blob) return;
    const stop = new AbortController();
    setProblem(null);
    blob.arrayBuffer().then((data) => openPdf(data, stop.signal)).then((opened) => !stop.signal.aborted && setPdf(opened), (error) => !stop.signal.aborted && setProblem(error instanceof PdfError ? error.problem : "broken"));
    return () => {
      stop.abort();
      setPdf(null);
    };
  }, [kind, blob]);

  const turn = useCallback((to: number) => setPage(Math.min(Math.max(1, to), pages)), [pages]);
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as HTMLElement).tagName === "INPUT") return;
    const step = (by: number) => setZoom(ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, ZOOMS.findIndex((one) => one >= zoom) + by))] ?? zoom);
    const does: Record<string, () => void> = { PageDown: () => turn(shown + 1), PageUp: () => turn(shown - 1), "+": () => step(1), "-": () => step(-1), "0": () => setZoom(1) };
    const run = does[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  };
  const [box, width] = useWidth();
  const ocr = ocrOf(document.facts, shown);
  const left = ocrLeft(document.facts);
  const engine = ocr?.engine ? t(`ocr_${ocr.engine}` as Key<"documents">) : "";
  const recognised = !ocr ? "" : !ocr.engine ? t("ocr_none") : t("ocr", { engine: engine === `ocr_${ocr.engine}` ? ocr.engine : engine, sure: ocr.sure });
  const label = t("page_label", { page: formatNumber(shown), name: document.name });
  const overlay = (rest: unknown) => <Areas chunks={chunks} page={shown} chosen={chunk} onChoose={onChunk} rest={rest} />;
  const trouble = original.error ? <ErrorState inline error={original.error} onRetry={() => void original.refetch()} /> : original.data && "tooLarge" in original.data ? <Told>{t("preview_large", { size: formatBytes(original.data.tooLarge) })}</Told> : problem ? <Told>{t(`preview_${problem}`)}</Told> : null;
  const at = Math.round(width * zoom);
  return (
    <div className="lg:grid lg:h-full lg:grid-cols-[minmax(0,1fr)_23rem] lg:grid-rows-[minmax(0,1fr)] lg:overflow-hidden">
      <section aria-label={t("original")} className="flex min-h-0 min-w-0 flex-col bg-sunken lg:border-r lg:border-line">
        <div className="border-b border-line bg-surface px-3 py-1.5"><Toolbar page={shown} pages={pages} zoom={zoom} onPage={turn} onZoom={setZoom} /></div>
        <div ref={box} tabIndex={0} role="group" aria-label={label} onKeyDown={onKey} data-preview className="min-h-0 flex-1 overflow-auto p-3 [scrollbar-gutter:stable] focus-visible:outline-offset-[-2px] max-lg:max-h-[62dvh]">
          {trouble ?? (chunk !== null && asked.isLoading ? <Skeleton rows={10} /> : kind === "picture" && picture && width > 0 ? (
            <div className="relative mx-auto w-fit bg-white shadow-1 ring-1 ring-line"><img src={picture} alt={document.name} className="block max-w-none" style={{ width: at }} />{overlay(at)}</div>
          ) : pdf && width > 0 ? <PdfPage pdf={pdf} number={shown} width={at} label={label}>{overlay}</PdfPage> : <Skeleton rows={10} />)}
        </div>
        {(recognised || left > 0) && <p className="flex items-center gap-1.5 border-t border-line bg-surface px-3 py-1.5 text-xs text-ink-2 tabular"><ScanText aria-hidden className="size-3.5 shrink-0" />{[recognised, left > 0 ? t("ocr_left", { count: left }) : ""].filter(Boolean).join(" · ")}</p>}
      </section>
      <div className="flex min-h-0 min-w-0 flex-col gap-5 p-4 focus-visible:outline-offset-[-2px] lg:overflow-y-auto" data-list tabIndex={0} role="group" aria-label={t("chunks")}>
        <section className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">{pages > 1 ? t("chunks_on", { page: formatNumber(shown) }) : t("chunks")}</h3>
          {found.error ? <ErrorState inline error={found.error} onRetry={() => void found.refetch()} /> : document.chunks === 0 ? <p className="text-sm text-ink-3">{t(document.status === "waiting" ? "chunks_later" : "chunks_none")}</p> : found.isLoading ? <Skeleton rows={4} /> : chunks.length === 0 ? <p className="text-sm text-ink-3">{t("chunks_not_here")}</p> : (
            <ol className={cx("flex flex-col gap-2", found.isPlaceholderData && "opacity-60")}>{chunks.map((one) => <Passage key={one.index} chunk={one} here={one.index === chunk} question={question} onChoose={() => onChunk(one.index)} />)}</ol>
          )}
        </section>
        {children}
      </div>
    </div>
  );
}

const Told = ({ children }: { children: ReactNode }) => <p role="status" className="rounded-lg border border-line bg-surface px-3 py-2.5 text-base text-ink-2">{children}</p>;

/** The inner width of an element, in steps so that a scroll bar does not draw the page anew for ever. */
function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!box.current) return;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.max(200, Math.floor((entry?.contentRect.width ?? 0) / 8) * 8)));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  return [box, width];
}

function usePicture(blob: Blob | null, type: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!blob) return;
    const made = URL.createObjectURL(new Blob([blob], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob, type]);
  return url;
}
