// Opens PDFs in the browser. The library and its worker come with the first one, from this server only. Nothing in a document is
// run: no scripts, no forms, no WebAssembly (which the content security policy forbids).
import type { PDFDocumentProxy } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";

export type { PDFDocumentProxy };
/** It opens with a password only, is broken, or the code that shows it could not be had. */
export type PdfProblem = "password" | "broken" | "code";

export class PdfError extends Error {
  constructor(readonly problem: PdfProblem) {
    super(problem);
  }
}

export async function openPdf(data: ArrayBuffer, signal: AbortSignal): Promise<PDFDocumentProxy> {
  const pdfjs = await import("pdfjs-dist").catch(() => {
    throw new PdfError("code");
  });
  pdfjs.GlobalWorkerOptions.workerSrc = workerUrl;
  // Fonts and character maps that documents name and don't bring; the build puts them there.
  const beside = `${location.origin}/assets/pdfjs-${pdfjs.version}/`;
  const task = pdfjs.getDocument({ data, isEvalSupported: false, enableXfa: false, useWasm: false, cMapUrl: `${beside}cmaps/`, cMapPacked: true, standardFontDataUrl: `${beside}standard_fonts/`, wasmUrl: `${beside}wasm/`, verbosity: 0 });
  signal.addEventListener("abort", () => void task.destroy(), { once: true });
  try {
    return await task.promise;
  } catch (error) {
    throw new PdfError((error as Error).name === "PasswordException" ? "password" : "broken");
  }
}
