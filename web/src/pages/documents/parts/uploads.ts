// Sends files into collections. It goes on while other pages are looked at.
import { useSyncExternalStore } from "react";
import { ApiError, newKey, onAuth } from "@/api/client";
import type { Collection } from "@/api/types";
import { MAX_DOCUMENT, uploadDocument } from "@/api/upload";
import { translate } from "@/i18n";
import { formatBytes } from "@/ui";
import { keepAfterAll } from "./removing";
import { changed, cleared, settledAs, type Upload, upNext } from "./upload-list";

let list: readonly Upload[] = [];
const files = new Map<string, File>();
const stops = new Map<string, AbortController>();
const listeners = new Set<() => void>();
let told: () => void = () => {};

const set = (next: readonly Upload[]) => {
  list = next;
  for (const id of files.keys()) if (!next.some((one) => one.id === id)) files.delete(id);
  for (const listener of listeners) listener();
};
export const useUploads = (): readonly Upload[] => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => list);

// The next person sees no names of these files, and none is sent for them.
onAuth((state) => {
  if (state !== "out") return;
  for (const stop of stops.values()) stop.abort();
  set([]);
});

/** Why a file need not be sent to be refused. */
function refused(file: File): ApiError | null {
  if (file.size > MAX_DOCUMENT) return new ApiError({ title: translate("documents", "too_large", { size: formatBytes(file.size), most: formatBytes(MAX_DOCUMENT) }), hint: translate("documents", "too_large_hint"), status: 413 });
  if (file.size === 0) return new ApiError({ title: translate("documents", "empty_file"), hint: translate("documents", "empty_file_hint"), status: 422 });
  return null;
}

/** `onTaken` hears of each file that the server has. */
export function startUploads(given: Iterable<File>, collection: Pick<Collection, "id" | "name">, onTaken: () => void): void {
  told = onTaken;
  const added = [...given].map((file): Upload => {
    const id = newKey();
    files.set(id, file);
    const error = refused(file);
    return { id, name: file.name, bytes: file.size, collection: collection.id, collectionName: collection.name, state: error ? "failed" : "waiting", share: 0, ...(error && { error }) };
  });
  set([...list, ...added]);
  go();
}

function go(): void {
  for (const one of upNext(list)) void send(one);
}

async function send({ id, collection }: Upload): Promise<void> {
  const file = files.get(id);
  if (!file) return;
  const stop = new AbortController();
  stops.set(id, stop);
  set(changed(list, id, { state: "sending", share: 0, error: undefined }));
  try {
    const answer = await uploadDocument(file, collection, (share) => set(changed(list, id, { share })), stop.signal);
    keepAfterAll(answer.document.id);
    set(changed(list, id, settledAs(answer)));
    told();
  } catch (error) {
    if (!stop.signal.aborted) set(changed(list, id, { state: "failed", error }));
  } finally {
    stops.delete(id);
    go();
  }
}

export function cancelUpload(id: string): void {
  stops.get(id)?.abort();
  set(list.filter((one) => one.id !== id));
}

export function retryUpload(id: string): void {
  set(changed(list, id, { state: "waiting", share: 0, error: undefined }));
  go();
}

/** Puts away what has ended. */
export const clearUploads = (): void => set(cleared(list));
