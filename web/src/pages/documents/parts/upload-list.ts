// Files on their way into a collection, as a list that each change makes anew.
import type { AddedDocument } from "@/api/types";

/** Files that are sent at the same time. */
export const AT_ONCE = 2;

export type UploadState =
  /** Its turn comes. */
  | "waiting"
  | "sending"
  /** It is read now; the list of documents says the rest. */
  | "taken"
  /** The collection has a document of the same content. */
  | "known"
  | "failed";
export type Upload = { id: string; name: string; bytes: number; collection: string; collectionName: string; state: UploadState; share: number; document?: string; error?: unknown };
type Change = Partial<Pick<Upload, "state" | "share" | "document" | "error">>;

/** Takes a change in. What was cancelled meanwhile stays away. */
export const changed = (list: readonly Upload[], id: string, change: Change): Upload[] => list.map((one) => (one.id === id ? { ...one, ...change } : one));

/** What the server's answer makes of an upload. */
export const settledAs = ({ added, document }: Pick<AddedDocument, "added"> & { document: { id: string } }): Change => ({ state: added === "unchanged" || added === "duplicate" ? "known" : "taken", share: 1, document: document.id });

/** Those whose turn it is. */
export function upNext(list: readonly Upload[]): Upload[] {
  const free = AT_ONCE - list.filter((one) => one.state === "sending").length;
  return list.filter((one) => one.state === "waiting").slice(0, Math.max(0, free));
}

/** How far all are: by bytes, since files differ. */
export function progressOf(list: readonly Upload[]): { share: number; open: number; taken: number; known: number; failed: number } {
  const count = (state: UploadState) => list.filter((one) => one.state === state).length;
  const counted = list.filter((one) => one.state !== "failed");
  const bytes = counted.reduce((sum, one) => sum + Math.max(one.bytes, 1), 0);
  const sent = counted.reduce((sum, one) => sum + Math.max(one.bytes, 1) * one.share, 0);
  return { share: bytes === 0 ? 1 : sent / bytes, open: count("waiting") + count("sending"), taken: count("taken"), known: count("known"), failed: count("failed") };
}

/** Only what is under way. */
export const cleared = (list: readonly Upload[]): Upload[] => list.filter((one) => one.state === "waiting" || one.state === "sending");
