// Where passages stand on a page: the blocks they are made of, joined where they follow each other in a column.
import type { Chunk } from "@/api/types";

/** In fractions of the page, from its upper left corner. */
export type Box = { x: number; y: number; width: number; height: number };

/** Blocks of a column that are no further apart than this are one box. */
const GAP = 0.025;
/** So much of the narrower one stands below or above the other. */
const SHARED = 0.6;

const right = (box: Box) => box.x + box.width;
const bottom = (box: Box) => box.y + box.height;

function follows(above: Box, below: Box): boolean {
  const shared = Math.min(right(above), right(below)) - Math.max(above.x, below.x);
  return shared >= SHARED * Math.min(above.width, below.width) && below.y - bottom(above) <= GAP;
}

function joined(one: Box, other: Box): Box {
  const x = Math.min(one.x, other.x);
  const y = Math.min(one.y, other.y);
  return { x, y, width: Math.max(right(one), right(other)) - x, height: Math.max(bottom(one), bottom(other)) - y };
}

/** The boxes of a passage on a page, none if the format does not say where it stands. */
export function boxesOn(chunk: Pick<Chunk, "areas">, page: number): Box[] {
  const blocks = chunk.areas.filter((area) => area.page === page && area.width > 0 && area.height > 0).sort((a, b) => a.y - b.y);
  const boxes: Box[] = [];
  for (const { x, y, width, height } of blocks) {
    const block = { x, y, width, height };
    const at = boxes.findIndex((box) => follows(box, block));
    const box = boxes[at];
    if (box) boxes[at] = joined(box, block);
    else boxes.push(block);
  }
  return boxes;
}

/** The page to show for a passage: the first on which it has a place. */
export const pageOf = (chunk: Pick<Chunk, "areas" | "first_page">): number => chunk.areas[0]?.page ?? Math.max(1, chunk.first_page);
export const isOn = (chunk: Pick<Chunk, "areas" | "first_page" | "last_page">, page: number): boolean => (chunk.areas.length > 0 ? chunk.areas.some((area) => area.page === page) : chunk.first_page <= page && page <= chunk.last_page);
