import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newKey } from "@/api/client";
import { useMe } from "@/api/hooks";
import { MAX_DOCUMENT, MAX_UPLOAD, uploadDocument, uploadFile } from "@/api/upload";
import { translate } from "@/i18n";
import { formatBytes, toast } from "@/ui";
import { attachmentsOf, isDocument } from "./as-document";
import { type Attached, editDraft } from "./stored";

export type Uploading = { id: string; name: string; share: number };

/** Uploads files, as documents or into the workspace, and puts them into the draft. */
export function useUploads(conversation: string) {
  const { data: me } = useMe();
  const client = useQueryClient();
  const [uploading, setUploading] = useState<Uploading[]>([]);
  const stops = useRef(new Map<string, AbortController>());
  const start = (files: Iterable<File>) => {
    for (const file of files) void one(file);
  };
  const send = async (file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<Attached> => {
    if (!me || !isDocument(file.name)) {
      const done = await uploadFile(file, onProgress, signal);
      return { path: done.path, name: file.name, bytes: done.bytes };
    }
    const collection = await attachmentsOf(me, translate("chat", "attach.collection"));
    const { document } = await uploadDocument(file, collection, onProgress, signal);
    for (const name of ["documents", "collections", "held-grants"]) void client.invalidateQueries({ queryKey: [name] });
    return { document: document.id, name: file.name, bytes: document.bytes };
  };
  const one = async (file: File) => {
    const most = isDocument(file.name) ? MAX_DOCUMENT : MAX_UPLOAD;
    if (file.size > most) {
      toast({ tone: "bad", title: translate("chat", "tooBig", { name: file.name, limit: formatBytes(most) }) });
      return;
    }
    const id = newKey();
    const stop = new AbortController();
    stops.current.set(id, stop);
    setUploading((all) => [...all, { id, name: file.name, share: 0 }]);
    try {
      const done = await send(file, (share) => setUploading((all) => all.map((entry) => (entry.id === id ? { ...entry, share } : entry))), stop.signal);
      // The same file again is the same document.
      editDraft(conversation, (draft) => ({ ...draft, attachments: [...draft.attachments.filter((other) => !done.document || other.document !== done.document), done] }));
    } catch (error) {
      if (!stop.signal.aborted) toast({ tone: "bad", title: translate("chat", "uploadFailed", { name: file.name }), detail: error instanceof Error ? [error.message, (error as { hint?: string }).hint].filter(Boolean).join(" ") : "" });
    } finally {
      stops.current.delete(id);
      setUploading((all) => all.filter((entry) => entry.id !== id));
    }
  };
  return { uploading, start, cancel: (id: string) => stops.current.get(id)?.abort() };
}
