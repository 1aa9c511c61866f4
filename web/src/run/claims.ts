// Claims of an answer: the server counts bytes of UTF-8, the browser UTF-16 units.
import type { Claim, Receipts } from "@/api/types";

export type Mark = { start: number; end: number; claim: Claim; number: number; proved: boolean };

/** Position in UTF-16 units of each byte position. */
export function unitsOf(text: string, bytes: readonly number[]): number[] {
  const wanted = [...bytes].map((byte, index) => ({ byte, index })).sort((a, b) => a.byte - b.byte);
  const found = new Array<number>(bytes.length).fill(text.length);
  let byte = 0;
  let next = 0;
  let unit = 0;
  for (const char of text) {
    while (next < wanted.length && wanted[next]!.byte <= byte) found[wanted[next++]!.index] = unit;
    if (next === wanted.length) return found;
    const code = char.codePointAt(0)!;
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    unit += char.length;
  }
  return found;
}

/** Where each claim stands in the answer, in order. */
export function marksOf(answer: string, receipts: Receipts | null): Mark[] {
  const claims = receipts?.claims ?? [];
  const units = unitsOf(answer, claims.flatMap((claim) => [claim.start, claim.end]));
  return claims.map((claim, index) => ({ start: units[index * 2]!, end: units[index * 2 + 1]!, claim, number: index + 1, proved: (claim.calls ?? []).length > 0 }));
}
