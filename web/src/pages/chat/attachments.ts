import { useRef, useState } from "react";
import { newKey } from "@/api/client";
import { MAX_UPLOAD, uploadFile } from "@/api/upload";
import { translate } from "@/i18n";
import { formatBytes, toast } from "@/ui";
import { editDraft } from "./stored";

export type Uploading = { id: string; name: string; share: number };

/** Uploads files and puts their paths into the draft. */
export function useUploads(conversation: string) {
  const [uploading, setUploading] = useState<Uploading[]>([]);
  const stops = useRef(new Map<string, AbortController>());
  const start = (files: Iterable<File>) => {
    for (const file of files) void one(file);
  };
  const one = async (file: File) => {
    if (file.size > MAX_UPLOAD) {
      toast({ tone: "bad", title: translate("chat", "tooBig", { name: file.name, limit: formatBytes(MAX_UPLOAD) }) });
      return;
    }
    const id = newKey();
    const stop = new AbortController();
    stops.current.set(id, stop);
    setUploading((all) => [...all, { id, name: file.name, share: 0 }]);
    try {
      const done = await uploadFile(file, (share) => setUploading((all) => all.map((entry) => (entry.id === id ? { ...entry, share } : entry))), stop.signal);
      editDraft(conversation, (draft) => ({ ...draft, attachments: [...draft.attachments, { path: done.path, name: file.name, bytes: done.bytes }] }));
    } catch (error) {
      if (!stop.signal.aborted) toast({ tone: "bad", title: translate("chat", "uploadFailed", { name: file.name }), detail: error instanceof Error ? [error.message, (error as { hint?: string }).hint].filter(Boolean).join(" ") : "" });
    } finally {
      stops.current.delete(id);
      setUploading((all) => all.filter((entry) => entry.id !== id));
    }
  };
  return { uploading, start, cancel: (id: string) => stops.current.get(id)?.abort() };
}
