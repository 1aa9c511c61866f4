// What is typed but not sent: drafts and queues, by conversation, in localStorage, so that a reload,
// a crash or an ended session loses nothing.
import { useSyncExternalStore } from "react";
import type { Mode } from "@/api/types";

/** A file of the workspace by its path, or a document by its id. */
export type Attached = { path: string; document?: undefined; name: string; bytes: number } | { path?: undefined; document: string; name: string; bytes: number };
export type Draft = { text: string; attachments: Attached[] };
export type Queued = { id: string; text: string; attachments: Attached[]; mode: Mode; connection: string | null };

const memory = new Map<string, unknown>();
const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};
window.addEventListener("storage", (event) => {
  if (event.key?.startsWith("steward.")) {
    memory.delete(event.key);
    tell();
  }
});

function read<T>(key: string, fallback: T): T {
  if (!memory.has(key)) {
    let value: unknown = fallback;
    try {
      value = JSON.parse(localStorage.getItem(key) ?? "null") ?? fallback;
    } catch {
      // Blocked or broken: as if nothing were there.
    }
    memory.set(key, value);
  }
  return memory.get(key) as T;
}

function write<T>(key: string, value: T, empty: boolean): void {
  memory.set(key, value);
  try {
    if (empty) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Full or blocked: it lives as long as the page.
  }
  tell();
}

function useStored<T>(key: string, fallback: T): T {
  return useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => read(key, fallback));
}

const NO_DRAFT: Draft = { text: "", attachments: [] };
const NO_QUEUE: Queued[] = [];
const draftKey = (conversation: string) => `steward.draft.${conversation}`;
const queueKey = (conversation: string) => `steward.queue.${conversation}`;

export const useDraft = (conversation: string) => useStored(draftKey(conversation), NO_DRAFT);
export const setDraft = (conversation: string, draft: Draft) => write(draftKey(conversation), draft, draft.text === "" && draft.attachments.length === 0);
export const readDraft = (conversation: string) => read(draftKey(conversation), NO_DRAFT);
/** Changes a draft as it is now: an upload may end after more was typed. */
export const editDraft = (conversation: string, change: (draft: Draft) => Draft) => setDraft(conversation, change(readDraft(conversation)));

export const useQueue = (conversation: string) => useStored(queueKey(conversation), NO_QUEUE);
export const readQueue = (conversation: string) => read(queueKey(conversation), NO_QUEUE);
export const setQueue = (conversation: string, queue: Queued[]) => write(queueKey(conversation), queue, queue.length === 0);

/** What the user chose last, for the next conversation. */
export type Choice = { agent: string | null; mode: Mode; connection: string | null };
const CHOICE: Choice = { agent: null, mode: "loop", connection: null };
export const useChoice = () => useStored("steward.choice", CHOICE);
export const setChoice = (choice: Partial<Choice>) => write("steward.choice", { ...read("steward.choice", CHOICE), ...choice }, false);
