// Sends a file. `fetch` tells nothing of an upload's progress, so this is the old way.
import { bearer, newKey, pathOf, problemFrom, refresh } from "./client";
import type { AddedDocument, Uploaded } from "./types";

/** Greatest size the server takes, bytes; a test of `crates/api/src/guard.rs` compares these. */
export const MAX_UPLOAD = 20_000_000;
/** The same for a document. */
export const MAX_DOCUMENT = 268_435_456;

/** Into the workspace. */
export const uploadFile = (file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<Uploaded> => sendFile<Uploaded>(pathOf("/api/files", { name: file.name || "pasted.txt" }), file, onProgress, signal);

/** Into a collection of documents. */
export const uploadDocument = (file: File, collection: string, onProgress: (share: number) => void, signal: AbortSignal): Promise<AddedDocument> =>
  sendFile<AddedDocument>(pathOf("/api/documents/upload", { collection, name: file.name || "pasted.txt" }), file, onProgress, signal);

/** As the body of a POST. */
export async function sendFile<R>(path: string, file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<R> {
  const key = newKey();
  const first = await attempt(path, file, key, onProgress, signal);
  if (first.status === 401 && (await refresh())) return result<R>(await attempt(path, file, key, onProgress, signal));
  return result<R>(first);
}

type Answer = { status: number; text: string };

function result<R>({ status, text }: Answer): R {
  let value: unknown = {};
  try {
    value = JSON.parse(text);
  } catch {
    // A proxy's page, perhaps; the status says it.
  }
  if (status === 201 || status === 200) return value as R;
  throw problemFrom(status, value);
}

const attempt = (path: string, file: File, key: string, onProgress: (share: number) => void, signal: AbortSignal) =>
  new Promise<Answer>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    const token = bearer();
    if (token) request.setRequestHeader("authorization", `Bearer ${token}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.setRequestHeader("idempotency-key", key);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onload = () => resolve({ status: request.status, text: request.responseText });
    request.onerror = () => reject(problemFrom(0, {}));
    request.onabort = () => reject(new DOMException("aborted", "AbortError"));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
