import { useSyncExternalStore } from "react";

type Overlay = "palette" | "shortcuts" | null;
let open: Overlay = null;
const listeners = new Set<() => void>();
/** Opens the palette or the list of shortcuts. */
export const openOverlay = (next: Overlay): void => {
  open = next;
  for (const listener of listeners) listener();
};
export const useOverlay = () => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => open);
