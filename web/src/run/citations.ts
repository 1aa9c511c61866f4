// The passages of documents that a run was given or found, and which of them a text cites as `[1]`.
import type { RunEvent } from "@/api/events";
import type { Cited, Reference } from "@/api/types";

/** `[1]` or `[1, 2]`, as models are told to write them. */
const CITATION = /\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]/g;

const isText = (value: unknown): value is string => typeof value === "string";
const isReference = (value: unknown): value is Reference => {
  const one = value as Partial<Reference> | null;
  return typeof one === "object" && one !== null && typeof one.number === "number" && typeof one.chunk === "number" && isText(one.document) && isText(one.name) && isText(one.text) && Array.isArray(one.headings);
};

/** The passages in the data of a tool's result; what is none is left out. */
export function referencesOf(data: unknown): Reference[] {
  const found = typeof data === "object" && data !== null ? (data as { references?: unknown }).references : undefined;
  return Array.isArray(found) ? found.filter(isReference) : [];
}

/** The passages that an event brings. */
export function passagesIn(event: RunEvent): Reference[] {
  if (event.type === "run.started") return event.setup.references ?? [];
  return event.type === "tool.result" && event.outcome === "ok" ? referencesOf(event.data) : [];
}

export type Piece = { text: string; from: number; numbers: number[] };

/** A text in pieces, those with numbers cite passages that there are. Together they are the text. */
export function cutCitations(text: string, known: ReadonlySet<number>): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(CITATION)) {
    const numbers = [...new Set((match[1] ?? "").split(",").map((part) => Number(part.trim())))];
    if (!numbers.every((number) => known.has(number))) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), from: end, numbers: [] });
    pieces.push({ text: match[0], from: match.index, numbers });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), from: end, numbers: [] });
  return pieces;
}

/** Those that a text cites, by their numbers. */
export function citedIn<P extends Cited>(text: string, passages: readonly P[]): P[] {
  const known = new Set(passages.map((one) => one.number));
  const named = new Set(cutCitations(text, known).flatMap((piece) => piece.numbers));
  return passages.filter((one) => named.has(one.number)).sort((a, b) => a.number - b.number);
}
