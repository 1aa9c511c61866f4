import { useSyncExternalStore } from "react";

export const THEMES = ["light", "dark", "system"] as const;
export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();
const read = (): Theme => (document.documentElement.dataset.theme as Theme | undefined) ?? "system";

/** Sets and remembers the theme (public/theme.js applies it before the first paint). */
export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem("steward.theme");
    else localStorage.setItem("steward.theme", theme);
  } catch {
    // Not remembered then.
  }
  for (const listener of listeners) listener();
}
export const useTheme = (): Theme => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), read);
