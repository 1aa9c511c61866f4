// Removing a document for good waits for as long as it can be taken back: until its toast ends, or the page is left.
import { useEffect, useSyncExternalStore } from "react";
import { onAuth } from "@/api/client";
import { removeDocument } from "@/api/hooks";
import type { StoredDocument } from "@/api/types";
import { translate } from "@/i18n";
import { endToast, toast } from "@/ui";

let hidden: ReadonlySet<string> = new Set();
const waiting = new Set<string>();
const listeners = new Set<() => void>();
const set = (next: Iterable<string>) => {
  hidden = new Set(next);
  for (const listener of listeners) listener();
};
const show = (id: string) => set([...hidden].filter((one) => one !== id));

/** Documents that are removed, or will be in a moment. */
export const useRemoved = (): ReadonlySet<string> => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => hidden);

// Nobody's removal is sent by somebody else.
onAuth((state) => {
  if (state !== "out") return;
  waiting.clear();
  set([]);
});

type Ends = { done: () => void; failed: (error: unknown) => void };

export function removeLater({ id, name }: Pick<StoredDocument, "id" | "name">, { done, failed }: Ends): void {
  set([...hidden, id]);
  waiting.add(id);
  const send = () => {
    if (!waiting.delete(id)) return;
    // It stays hidden: a list that was asked for before may come after.
    void removeDocument(id).then(done, (error: unknown) => (show(id), failed(error)));
  };
  toast({ title: translate("documents", "removed", { name }), about: id, undo: () => (waiting.delete(id), show(id)), gone: send });
}

/** Somebody wants it after all, by adding the same file again. */
export function keepAfterAll(id: string): void {
  if (!waiting.delete(id)) return;
  endToast(id);
  show(id);
}

/** Sends what waits when the page is left. */
export function useSendRemovals(): void {
  useEffect(() => {
    const send = () => {
      for (const id of [...waiting]) endToast(id);
    };
    window.addEventListener("pagehide", send);
    return () => {
      window.removeEventListener("pagehide", send);
      send();
    };
  }, []);
}
