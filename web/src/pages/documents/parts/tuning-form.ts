// What the server takes as lengths and weights.
import { limits, numbersOf, within } from "@/api/limits";
import type { Collection } from "@/api/types";

export const LENGTH = numbersOf(limits.Chunking.max_chars);

const whole = (text: string): number | null => (/^\d+$/.test(text.trim()) ? Number(text) : null);
/** Passages share at most half of their characters. */
export const overlapMost = (length: string): number => Math.floor((whole(length) ?? LENGTH.most) / 2);

export function problemsOf(length: string, overlap: string): { length: boolean; overlap: boolean } {
  const [max, shared] = [whole(length), whole(overlap)];
  const long = max === null || !within(max, LENGTH);
  return { length: long, overlap: shared === null || (!long && shared > overlapMost(length)) };
}

type Shares = Pick<Collection["weights"], "text" | "vectors">;
/** How much the meaning counts, in percent; only how the two stand to each other matters. */
export const shareOf = ({ text, vectors }: Shares): number => (text + vectors > 0 ? Math.round((100 * vectors) / (text + vectors)) : 70);
export const weightsOf = (meaning: number): Shares => ({ text: (100 - meaning) / 100, vectors: meaning / 100 });
