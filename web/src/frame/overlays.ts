import { useSyncExternalStore } from "react";

type Overlay = "palette" | "shortcuts" | "reminders" | null;
let open: Overlay = null;
const listeners = new Set<() => void>();
/** Opens the palette, the list of shortcuts or the reminders. */
export const openOverlay = (next: Overlay): void => {
  open = next;
  for (const listener of listeners) listener();
};
export const useOverlay = () => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => open);
