import { type ReactNode, useEffect, useRef, useState } from "react";
import { useT } from "@/i18n";
import { Spinner } from "@/ui";
import type { PDFDocumentProxy } from "./pdf";

/** Most pixels of a canvas: phones refuse larger ones. */
const MOST_PIXELS = 16_000_000;

type Props = { pdf: PDFDocumentProxy; number: number; /** In CSS pixels. */ width: number; label: string; children: (drawn: string) => ReactNode };

/** A page as it is printed; `children` is drawn over it. */
export function PdfPage({ pdf, number, width, label, children }: Props) {
  const t = useT("documents");
  const canvas = useRef<HTMLCanvasElement>(null);
  const [ratio, setRatio] = useState(Math.SQRT2);
  const [drawn, setDrawn] = useState("");
  const [broken, setBroken] = useState(false);
  const key = `${number} ${width}`;
  useEffect(() => {
    let stop = () => {};
    let gone = false;
    setBroken(false);
    const draw = async () => {
      const page = await pdf.getPage(number);
      const paper = page.getViewport({ scale: 1 });
      if (gone || !canvas.current) return;
      setRatio(paper.height / paper.width);
      const sharp = Math.min(window.devicePixelRatio || 1, 2) * (width / paper.width);
      const scale = Math.min(sharp, Math.sqrt(MOST_PIXELS / (paper.width * paper.height)));
      const viewport = page.getViewport({ scale });
      canvas.current.width = Math.floor(viewport.width);
      canvas.current.height = Math.floor(viewport.height);
      const task = page.render({ canvas: canvas.current, viewport });
      stop = () => task.cancel();
      await task.promise;
      if (!gone) setDrawn(key);
    };
    draw().catch(() => !gone && setBroken(true));
    return () => {
      gone = true;
      stop();
    };
  }, [pdf, number, width, key]);
  return (
    <div className="relative mx-auto bg-white shadow-1 ring-1 ring-line" style={{ width, height: Math.round(width * ratio) }} data-drawn={drawn === key || undefined}>
      <canvas key={key} ref={canvas} role="img" aria-label={label} className="size-full" />
      {broken ? <p role="alert" className="absolute inset-x-4 top-4 rounded-md bg-bad-soft px-3 py-2 text-base text-bad">{t("page_broken")}</p> : drawn !== key && <span className="absolute top-3 right-3 text-accent"><Spinner label={t("page_drawing")} /></span>}
      {children(drawn)}
    </div>
  );
}
