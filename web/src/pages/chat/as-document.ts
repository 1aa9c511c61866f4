// Which attached files become documents, and the collection that they go to.
import { ApiError, api } from "@/api/client";
import type { Collection, Me, Page } from "@/api/types";
import { namesFor } from "../documents/parts/target";

/** What is read for its passages. Tables, pictures and code stay files: the agent's tools work on those. */
const READ = new Set(["pdf", "docx", "doc", "pptx", "ppt", "odt", "odp", "rtf", "epub", "html", "htm", "eml", "msg", "xlsx", "xls", "ods"]);
export const ATTACHMENTS = "Attachments";

export const isDocument = (name: string): boolean => name.includes(".") && READ.has(name.split(".").at(-1)?.toLowerCase() ?? "");

/** One's own, by the name that it was made with. */
export const ownOf = (all: readonly Pick<Collection, "id" | "name" | "created_by">[], me: string): string | undefined => all.find((one) => one.created_by === me && (one.name === ATTACHMENTS || one.name.startsWith(`${ATTACHMENTS} (`)))?.id;

let making: Promise<string> | null = null;

/** The collection of what one attaches: private, since only who made it and whom they let in may search it. Made on first use. */
export function attachmentsOf(me: Pick<Me, "id" | "name" | "email">, description: string): Promise<string> {
  // Two files at once make one.
  making ??= find(me, description).finally(() => (making = null));
  return making;
}

async function find(me: Pick<Me, "id" | "name" | "email">, description: string): Promise<string> {
  const known = async () => ownOf((await api.get<Page<Collection>>("/api/collections")).items, me.id);
  const found = await known();
  if (found) return found;
  const names = namesFor(ATTACHMENTS, me.name || me.email);
  for (const [index, name] of names.entries()) {
    try {
      return (await api.post<Collection>("/api/collections", { body: { name, description } })).id;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409) || index === names.length - 1) throw error;
      // Another tab may have made it meanwhile; else it is somebody else's.
      const meanwhile = await known();
      if (meanwhile) return meanwhile;
    }
  }
  throw new Error(ATTACHMENTS);
}
