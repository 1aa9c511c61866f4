// Where dropped files go.
import type { Collection } from "@/api/types";

/** What a first collection is called. */
export const FIRST = "Documents";
/** Reserved, the same in every organisation (`reserved.rs`). */
export const WORKSPACE = "e4f20cf0-146c-0e49-0b26-7f066a48acd6";
/** It follows the files of the workspace by itself. */
export const isWorkspace = ({ id }: Pick<Collection, "id">) => id === WORKSPACE;

export type Target = { kind: "known"; collection: Collection } | { kind: "make"; name: string } | { kind: "ask"; first?: Collection };

/** The chosen collection; without one the only one, a new one if there is none, else somebody has to say, the usual one (`first`) being offered. `mine`: those that one may add to. */
export function targetOf(mine: readonly Collection[], chosen: string | null): Target {
  const open = mine.filter((one) => !isWorkspace(one));
  const shown = open.find((one) => one.id === chosen);
  if (shown) return { kind: "known", collection: shown };
  // Shown is one that takes no files from here.
  if (chosen) return open.length > 0 ? { kind: "ask" } : { kind: "make", name: FIRST };
  const [only] = open;
  if (!only) return { kind: "make", name: FIRST };
  if (open.length === 1) return { kind: "known", collection: only };
  const usual = open.find((one) => one.name.toLowerCase() === FIRST.toLowerCase());
  return { kind: "ask", ...(usual && { first: usual }) };
}

/** Names to try: the first may be that of a collection one may not see. */
export const namesFor = (name: string, person: string): string[] => [name, `${name} (${person})`, ...[2, 3, 4, 5].map((n) => `${name} (${person}, ${n})`)].map((one) => one.slice(0, 100));
