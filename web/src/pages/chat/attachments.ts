import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newKey } from "@/api/client";
import { fetchMe } from "@/api/hooks";
import { MAX_DOCUMENT, MAX_UPLOAD, uploadDocument, uploadFile } from "@/api/upload";
import { translate } from "@/i18n";
import { formatBytes, formatRange, toast } from "@/ui";
import { attachmentsOf, isDocument } from "./as-document";
import { keyOf, markOf, withAttached } from "./attach-once";
import { countOf, MOST, type Sort } from "./most";
import { type Attached, editDraft, readDraft } from "./stored";

export type Uploading = { id: string; name: string; share: number };

/** Uploads files, as documents or into the workspace, and puts them into the draft. */
export function useUploads(conversation: string) {
  const client = useQueryClient();
  const [uploading, setUploading] = useState<Uploading[]>([]);
  const stops = useRef(new Map<string, { stop: AbortController; sort: Sort; mark: string }>());
  // What became of the files chosen here.
  const sent = useRef(new Map<string, string>());
  const isThere = (mark: string) => [...stops.current.values()].some((other) => other.mark === mark) || readDraft(conversation).attachments.some((one) => keyOf(one) === sent.current.get(mark));
  const sortOf = (file: File): Sort => (isDocument(file.name) ? "documents" : "files");
  const isFull = (sort: Sort) => countOf(readDraft(conversation).attachments, sort) + [...stops.current.values()].filter((other) => other.sort === sort).length >= MOST[sort];
  const start = (files: Iterable<File>) => {
    for (const file of files) {
      const sort = sortOf(file);
      if (isThere(markOf(file))) toast({ about: "attached", title: translate("chat", "attach.already", { name: file.name }) });
      else if (isFull(sort)) toast({ about: `full-${sort}`, tone: "bad", title: translate("chat", `most.${sort}`, formatRange({ least: 0, most: MOST[sort] })), detail: translate("chat", "most.rest") });
      else void one(file, sort);
    }
  };
  const send = async (file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<Attached> => {
    if (sortOf(file) === "files") {
      const done = await uploadFile(file, onProgress, signal);
      return { path: done.path, name: file.name, bytes: done.bytes };
    }
    const collection = await attachmentsOf(await fetchMe(client), translate("chat", "attach.collection"));
    const { document } = await uploadDocument(file, collection, onProgress, signal);
    for (const name of ["documents", "collections", "held-grants"]) void client.invalidateQueries({ queryKey: [name] });
    return { document: document.id, name: file.name, bytes: document.bytes };
  };
  const one = async (file: File, sort: Sort) => {
    const most = isDocument(file.name) ? MAX_DOCUMENT : MAX_UPLOAD;
    if (file.size > most) {
      toast({ tone: "bad", title: translate("chat", "tooBig", { name: file.name, limit: formatBytes(most) }) });
      return;
    }
    const id = newKey();
    const stop = new AbortController();
    const mark = markOf(file);
    stops.current.set(id, { stop, sort, mark });
    setUploading((all) => [...all, { id, name: file.name, share: 0 }]);
    try {
      const done = await send(file, (share) => setUploading((all) => all.map((entry) => (entry.id === id ? { ...entry, share } : entry))), stop.signal);
      sent.current.set(mark, keyOf(done));
      editDraft(conversation, (draft) => ({ ...draft, attachments: withAttached(draft.attachments, done) }));
    } catch (error) {
      if (!stop.signal.aborted) toast({ tone: "bad", title: translate("chat", "uploadFailed", { name: file.name }), detail: error instanceof Error ? [error.message, (error as { hint?: string }).hint].filter(Boolean).join(" ") : "" });
    } finally {
      stops.current.delete(id);
      setUploading((all) => all.filter((entry) => entry.id !== id));
    }
  };
  return { uploading, start, cancel: (id: string) => stops.current.get(id)?.stop.abort() };
}
