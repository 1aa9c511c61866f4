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

/** `engine`: null where none found a text. `sure`: percent. */
export type Ocr = { engine: string | null; sure: number };

type Facts = { pages?: unknown; done?: unknown; read?: unknown } | null | undefined;
const factsOf = (facts: object): Facts => {
  const { ocr } = facts as { ocr?: unknown };
  return typeof ocr === "object" ? (ocr as Facts) : null;
};

/** Who read the characters of a page that is a picture, and how sure that is; null: nobody did, or the server does not say. */
export function ocrOf(facts: object, page: number): Ocr | null {
  const read = factsOf(facts)?.read;
  if (!Array.isArray(read)) return null;
  const found = (read as ({ page?: unknown; engine?: unknown; confidence?: unknown } | null)[]).find((one) => one?.page === page);
  if (typeof found?.confidence !== "number") return null;
  return { engine: typeof found.engine === "string" ? found.engine : null, sure: Math.round(Math.min(100, Math.max(0, found.confidence))) };
}

/** How many pages that are pictures are still to be read. */
export function ocrLeft(facts: object): number {
  const { pages, done } = factsOf(facts) ?? {};
  return typeof pages === "number" && typeof done === "number" ? Math.max(0, pages - done) : 0;
}
