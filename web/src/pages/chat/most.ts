// What a message may hold at most.
import { charactersOf, limits } from "@/api/limits";
import type { Attached } from "./stored";

export const MOST = { text: limits.Chat.message.maxLength, files: limits.Chat.attachments.maxItems, documents: limits.Chat.documents.maxItems };
/** Documents and files of the workspace are counted apart. */
export type Sort = "files" | "documents";
export const countOf = (attached: readonly Attached[], sort: Sort): number => attached.filter((one) => (one.document !== undefined) === (sort === "documents")).length;

/** What is too much of a message; `null`: nothing. */
export function tooMuch(text: string, attached: readonly Attached[]): keyof typeof MOST | null {
  // Counted only where it may matter: a text has at least as many units as characters.
  if (text.length > MOST.text && charactersOf(text) > MOST.text) return "text";
  return (["documents", "files"] as const).find((sort) => countOf(attached, sort) > MOST[sort]) ?? null;
}
