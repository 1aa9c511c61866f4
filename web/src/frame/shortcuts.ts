// Keyboard shortcuts: one listener, a list that `?` shows. `Mod` is Ctrl or Command; `g c` is one key after the other.
import { useEffect, useRef, useSyncExternalStore } from "react";

export type Shortcut = { keys: string; label: string; group: string; run: (event: KeyboardEvent) => void; inFields: boolean; repeats: boolean; when: (event: KeyboardEvent) => boolean };

let shortcuts: Shortcut[] = [];
const listeners = new Set<() => void>();
const set = (next: Shortcut[]) => {
  shortcuts = next;
  for (const listener of listeners) listener();
};

/** All that are active now. */
export const useShortcuts = () => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => shortcuts);

type Options = { group?: string; inFields?: boolean; enabled?: boolean; repeats?: boolean; when?: (event: KeyboardEvent) => boolean };

/** Registers a shortcut while the component is mounted. `inFields`: also while typing in a field. `repeats`: a held key
 *  counts again and again; only for what may be done without looking. `when`: whether this key press is meant. */
export function useShortcut(keys: string, run: (event: KeyboardEvent) => void, label: string, options: Options = {}): void {
  const { group = "page", inFields = false, enabled = true, repeats = false, when } = options;
  const latest = useRef({ run, when });
  latest.current = { run, when };
  useEffect(() => {
    if (!enabled) return;
    const entry: Shortcut = { keys, label, group, inFields, repeats, run: (event) => latest.current.run(event), when: (event) => latest.current.when?.(event) ?? true };
    set([...shortcuts, entry]);
    return () => set(shortcuts.filter((other) => other !== entry));
  }, [keys, label, group, inFields, enabled, repeats]);
}

const typing = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
const overlay = () => document.querySelector('[role="dialog"][data-state="open"],[role="alertdialog"][data-state="open"],[role="menu"][data-state="open"]') !== null;

const nameOf = (event: KeyboardEvent) => {
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("Mod");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && event.key.length > 1) parts.push("Shift");
  if (event.shiftKey && event.key.length === 1 && parts.length > 0) parts.push("Shift");
  parts.push(event.key.length === 1 ? event.key.toLowerCase() : event.key === "Escape" ? "Esc" : event.key);
  return parts.join("+");
};

let first: { key: string; at: number } | null = null;

/** Starts listening; called once. */
export function listenForShortcuts(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.key === "Shift" || event.key === "Control") return;
    const name = nameOf(event);
    const pair = first && event.timeStamp - first.at < 1200 ? `${first.key} ${name}` : null;
    first = null;
    const usable = shortcuts.filter((shortcut) => (shortcut.inFields || !typing(event.target)) && (shortcut.keys === "Mod+k" || !overlay()) && shortcut.when(event));
    const found = (pair && usable.findLast((shortcut) => shortcut.keys === pair)) || usable.findLast((shortcut) => shortcut.keys === name);
    if (found) {
      event.preventDefault();
      if (!event.repeat || found.repeats) found.run(event);
    } else if (usable.some((shortcut) => shortcut.keys.startsWith(`${name} `))) {
      first = { key: name, at: event.timeStamp };
    }
  };
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}
