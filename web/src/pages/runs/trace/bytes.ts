// Claims are marked by byte offsets of the UTF-8 answer; JavaScript counts UTF-16 units.

import type { Claim } from "@/api/types";

export type Piece = { text: string; claim: number | null };

/** Offset in UTF-16 units for each wanted byte offset; offsets inside a character go to its beginning. */
export function unitsOf(text: string, bytes: readonly number[]): number[] {
  const wanted = [...new Set(bytes)].sort((a, b) => a - b);
  const found = new Map<number, number>();
  let at = 0;
  let unit = 0;
  let next = 0;
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0;
    const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    while (next < wanted.length && (wanted[next] ?? 0) < at + size) {
      found.set(wanted[next] ?? 0, unit);
      next += 1;
    }
    at += size;
    unit += char.length;
  }
  return bytes.map((byte) => found.get(byte) ?? text.length);
}

/** Cuts an answer into what is claimed and what is not; overlapping claims: the earlier one wins. */
export function pieces(answer: string, claims: readonly Claim[]): Piece[] {
  const spans = claims
    .map((claim, index) => {
      const [start = 0, end = 0] = unitsOf(answer, [claim.start, claim.end]);
      return { start, end, index };
    })
    .filter((span) => span.end > span.start)
    .sort((a, b) => a.start - b.start);
  const out: Piece[] = [];
  let at = 0;
  for (const span of spans) {
    const start = Math.max(span.start, at);
    if (span.end <= start) continue;
    if (start > at) out.push({ text: answer.slice(at, start), claim: null });
    out.push({ text: answer.slice(start, span.end), claim: span.index });
    at = span.end;
  }
  if (at < answer.length) out.push({ text: answer.slice(at), claim: null });
  return out;
}
