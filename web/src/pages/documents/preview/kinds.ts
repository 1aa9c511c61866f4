// What of an original a browser can show as it is, without running anything of it.
import type { StoredDocument } from "@/api/types";

export type PreviewKind = "pdf" | "picture";

const PICTURES: Record<string, string> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", bmp: "image/bmp" };

type Named = { name: string; facts: Pick<StoredDocument["facts"], "doc_type"> };

/** What was read decides; the name where nothing was. */
const kindOf = ({ name, facts }: Named): string => (facts.doc_type || name.split(".").at(-1) || "").toLowerCase();

export function previewOf(document: Named): PreviewKind | null {
  const kind = kindOf(document);
  if (kind === "pdf") return "pdf";
  return kind in PICTURES ? "picture" : null;
}

/** The type that a browser shows it by: never one that it would run. */
export const typeOf = (document: Named): string => PICTURES[kindOf(document)] ?? "application/octet-stream";

export type Ocr = { engine: string; confidence: number };

/** How sure the recognition of a page's characters was, from 0 to 1; null: they were not recognised, or the server does not say. */
export function ocrOf(document: object, page: number): Ocr | null {
  const facts = (document as { facts?: unknown }).facts;
  for (const holder of [document, facts]) {
    if (typeof holder !== "object" || holder === null) continue;
    for (const list of Object.values(holder)) {
      if (!Array.isArray(list)) continue;
      for (const item of list as { page?: unknown; number?: unknown; ocr?: unknown }[]) {
        if (typeof item !== "object" || item === null || (item.page ?? item.number) !== page) continue;
        const ocr = (item.ocr ?? item) as { engine?: unknown; confidence?: unknown };
        if (typeof ocr.confidence === "number") return { engine: typeof ocr.engine === "string" ? ocr.engine : "", confidence: ocr.confidence > 1 ? ocr.confidence / 100 : ocr.confidence };
      }
    }
  }
  return null;
}
