// A file of the workspace, looked at beside the conversation. The server hands it out as bytes to an authorized
// request only, so it is fetched and shown here: as text, as a picture, or to be kept.
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { authorized, pathOf, problemOf } from "@/api/client";
import { useT } from "@/i18n";
import { Button, CodeBlock, ErrorState, formatBytes, Sheet, Skeleton } from "@/ui";
import { Highlight } from "./lazy";

/** Greatest file that a page holds in memory, and the greatest that is shown as text, bytes. */
const MOST = 100 << 20;
const MOST_TEXT = 512 << 10;
const PICTURES: Record<string, string> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };

type Content = { blob: Blob; text: string | null; picture: boolean };

async function contentOf(path: string, signal: AbortSignal): Promise<Content | number> {
  const response = await authorized(pathOf("/api/files", { path }), { signal });
  if (!response.ok) throw await problemOf(response);
  const bytes = Number(response.headers.get("content-length"));
  if (bytes > MOST) {
    await response.body?.cancel();
    return bytes;
  }
  const type = PICTURES[path.split(".").at(-1)?.toLowerCase() ?? ""];
  const blob = new Blob([await response.arrayBuffer()], { type: type ?? "application/octet-stream" });
  const text = !type && blob.size <= MOST_TEXT ? await blob.text() : null;
  return { blob, text: text?.includes("\0") || text?.includes("\ufffd") ? null : text, picture: type !== undefined };
}

export default function FileSheet({ path, onClose }: { path: string; onClose: () => void }) {
  const t = useT("chat");
  const { data, error, refetch } = useQuery({ queryKey: ["file", path], queryFn: ({ signal }) => contentOf(path, signal), gcTime: 0, retry: false });
  const [url, setUrl] = useState<string>();
  const content = typeof data === "object" ? data : undefined;
  useEffect(() => {
    if (!content) return;
    const made = URL.createObjectURL(content.blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  const name = path.split("/").at(-1) ?? path;
  const save = () => {
    const link = Object.assign(document.createElement("a"), { href: url, download: name });
    link.click();
  };
  const language = name.includes(".") ? name.split(".").at(-1) : undefined;
  return (
    <Sheet open onOpenChange={(open) => !open && onClose()} title={name} description={<span className="font-mono text-xs wrap-anywhere">{path}</span>}>
      <div className="flex flex-col gap-3 p-4">
        {error ? <ErrorState inline error={error} onRetry={() => void refetch()} /> : data === undefined && <Skeleton rows={6} />}
        {typeof data === "number" && <p className="text-base text-ink-2">{t("fileHuge", { size: formatBytes(data) })}</p>}
        {content && <Button size="sm" className="self-start" disabled={!url} icon={<Download aria-hidden className="size-3.5" />} onClick={save}>{t("fileSave", { size: formatBytes(content.blob.size) })}</Button>}
        {content?.picture && url && <img src={url} alt={name} className="max-w-full rounded-md border border-line" />}
        {content?.text && <CodeBlock text={content.text} {...(language && { language })}>{language ? <Suspense fallback={content.text}><Highlight text={content.text} language={language} /></Suspense> : content.text}</CodeBlock>}
        {content && !content.picture && !content.text && <p className="text-base text-ink-2">{t(content.blob.size === 0 ? "fileEmpty" : "fileBinary")}</p>}
      </div>
    </Sheet>
  );
}
