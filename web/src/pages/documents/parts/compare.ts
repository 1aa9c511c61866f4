// Two rankings side by side: what stands in both, and by how many places it moved.
import type { FoundChunk, SearchMode } from "@/api/types";

export const MODES = ["hybrid", "text", "vectors"] as const satisfies readonly SearchMode[];
/** How much the meaning counts where nothing is said, in percent. */
export const USUAL = 70;

export type Setting = { mode: (typeof MODES)[number]; /** How much the meaning counts, in percent. */ meaning: number };

/** As the address has it. */
export function settingOf(mode: string, meaning: string, usual: Setting): Setting {
  const share = /^\d{1,3}$/.test(meaning) ? Number(meaning) : Number.NaN;
  return { mode: MODES.find((one) => one === mode) ?? usual.mode, meaning: share >= 0 && share <= 100 ? share : usual.meaning };
}

export const sameSetting = (one: Setting, other: Setting): boolean => one.mode === other.mode && (one.mode !== "hybrid" || one.meaning === other.meaning);

type Found = Pick<FoundChunk, "document"> & { chunk: Pick<FoundChunk["chunk"], "index"> };
const keyOf = (one: Found) => `${one.document} ${one.chunk.index}`;

/** Where the same passage stands in the other ranking. */
export type Moved = { kind: "same" } | { kind: "up" | "down"; places: number } | { kind: "alone" };

/** For each of `one`, how it stands compared with `other`: further up or down, at the same place, or there alone. */
export function movesOf<F extends Found>(one: readonly F[], other: readonly F[]): Moved[] {
  const places = new Map(other.map((found, place) => [keyOf(found), place]));
  return one.map((found, place): Moved => {
    const there = places.get(keyOf(found));
    if (there === undefined) return { kind: "alone" };
    if (there === place) return { kind: "same" };
    return { kind: place < there ? "up" : "down", places: Math.abs(place - there) };
  });
}

/** How many passages stand in both. */
export const shared = (moves: readonly Moved[]): number => moves.filter((move) => move.kind !== "alone").length;
