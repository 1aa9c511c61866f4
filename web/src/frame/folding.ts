// Which groups of the navigation are folded away, and whether it is narrow; remembered in this browser.
import { useSyncExternalStore } from "react";
import type { Group } from "./pages";

type Key = Group["key"];
export type Folding = { narrow?: boolean; open?: Partial<Record<Key, boolean>> };

const KEY = "steward.navigation";
/** All groups fit below each other. */
const TALL = "(min-height: 54rem)";
/** Below that the page needs the room. */
const WIDE = "(min-width: 64rem)";
/** Open on low screens too. */
const FIRST: readonly Key[] = ["knowledge", "tools"];

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

/** What somebody chose stays; otherwise a group is open if it holds the page, or if there is room. */
export const isGroupOpen = (folding: Folding, key: Key, holdsPage: boolean, tall: boolean): boolean => folding.open?.[key] ?? (holdsPage || tall || FIRST.includes(key));

const useMedia = (query: string) =>
  useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => window.matchMedia(query).matches,
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

export function useFolding() {
  const folding = useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), read);
  const tall = useMedia(TALL);
  const wide = useMedia(WIDE);
  return {
    narrow: folding.narrow ?? !wide,
    setNarrow: (narrow: boolean) => write({ ...folding, narrow }),
    isOpen: (key: Key, holdsPage: boolean) => isGroupOpen(folding, key, holdsPage, tall),
    setOpen: (key: Key, open: boolean) => write({ ...folding, open: { ...folding.open, [key]: open } }),
  };
}
