// Which groups of the navigation are folded away, and whether it is narrow; remembered in this browser.
import { useMemo, useSyncExternalStore } from "react";
import type { Group } from "./pages";

type Key = Group["key"];
export type Folding = { narrow?: boolean; open?: Partial<Record<Key, boolean>> };

const KEY = "steward.navigation";
/** Below that the page needs the room. */
const WIDE = "(min-width: 64rem)";
/** Open on low screens too. */
const FIRST: readonly Key[] = ["knowledge", "tools"];
/** Heights in rem: all but the groups, a heading, a page. */
const REST = 16;
const HEADING = 2;
const ROW = 1.75;

/** What was remembered; nothing where that can't be read. */
export function readFolding(text: string | null): Folding {
  try {
    const read: unknown = JSON.parse(text ?? "{}");
    if (typeof read !== "object" || read === null) return {};
    const { narrow, open } = read as Record<string, unknown>;
    return { ...(typeof narrow === "boolean" && { narrow }), ...(typeof open === "object" && open !== null && { open: open as NonNullable<Folding["open"]> }) };
  } catch {
    return {};
  }
}

/** Those that are open without anybody's choice: the first ones, and of the others as many as fit below each other at this height in rem. */
export function roomy(groups: readonly { key: Key; pages: readonly unknown[] }[], height: number): ReadonlySet<Key> {
  const open = new Set<Key>(FIRST);
  let left = height - REST - groups.reduce((sum, { key, pages }) => sum + HEADING + (open.has(key) ? pages.length * ROW : 0), 0);
  for (const { key, pages } of groups) {
    if (open.has(key)) continue;
    left -= pages.length * ROW;
    if (left >= 0) open.add(key);
  }
  return open;
}

/** What somebody chose stays; otherwise a group is open if it holds the page, or if there is room. */
export const isGroupOpen = (folding: Folding, key: Key, holdsPage: boolean, room: ReadonlySet<Key>): boolean => folding.open?.[key] ?? (holdsPage || room.has(key));

const useMedia = (query: string) =>
  useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => window.matchMedia(query).matches,
  );

/** The window's height in rem. */
const useHeight = () =>
  useSyncExternalStore(
    (listener) => (window.addEventListener("resize", listener), () => window.removeEventListener("resize", listener)),
    () => Math.floor(window.innerHeight / (Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16)),
  );

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

let current: Folding | undefined;
const listeners = new Set<() => void>();
const read = (): Folding => (current ??= readFolding(remembered()));
function write(next: Folding): void {
  current = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Not remembered then.
  }
  for (const listener of listeners) listener();
}

export function useFolding(groups: readonly { key: Key; pages: readonly unknown[] }[] = []) {
  const folding = useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), read);
  const height = useHeight();
  const room = useMemo(() => roomy(groups, height), [groups, height]);
  const wide = useMedia(WIDE);
  return {
    narrow: folding.narrow ?? !wide,
    setNarrow: (narrow: boolean) => write({ ...folding, narrow }),
    isOpen: (key: Key, holdsPage: boolean) => isGroupOpen(folding, key, holdsPage, room),
    setOpen: (key: Key, open: boolean) => write({ ...folding, open: { ...folding.open, [key]: open } }),
  };
}
