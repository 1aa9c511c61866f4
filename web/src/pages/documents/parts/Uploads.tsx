import { CircleAlert, Copy, RotateCcw, X } from "lucide-react";
import { useT } from "@/i18n";
import { Button, cx, formatBytes, IconButton, Meter, useErrorText } from "@/ui";
import { progressOf, type Upload, type UploadState } from "./upload-list";
import { cancelUpload, clearUploads, retryUpload, useUploads } from "./uploads";

/** So many are shown one by one. */
const SHOWN = 8;
/** What needs somebody comes first. What was taken is in the list of documents. */
const ORDER: UploadState[] = ["failed", "sending", "known", "waiting"];

/** Files on their way, each with its progress. */
export function Uploads({ onOpen }: { onOpen: (document: string) => void }) {
  const t = useT("documents");
  const list = useUploads();
  if (list.length === 0) return null;
  const { share, open, taken, known, failed } = progressOf(list);
  const sorted = list.filter((one) => ORDER.includes(one.state)).sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  const shown = sorted.slice(0, SHOWN);
  const told = [taken > 0 && t("count_taken", { count: taken }), known > 0 && t("count_known", { count: known }), failed > 0 && t("count_failed", { count: failed })].filter(Boolean).join(" · ");
  return (
    <section aria-label={t("uploads")} className="mb-4 rounded-lg border border-line bg-surface">
      <header className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-1.5">
        <p role="status" className="min-w-0 flex-1 text-base"><span className="font-semibold">{open > 0 ? t("uploading", { count: open }) : t("uploaded")}</span>{told && <span className="text-sm text-ink-3"> · {told}</span>}</p>
        {open > 0 && <span className="w-24 max-md:hidden"><Meter label={t("uploads")} text={`${Math.round(share * 100)} %`} parts={[{ share, tone: "accent" }]} /></span>}
        {open < list.length && <Button size="sm" variant="quiet" onClick={clearUploads}>{t("uploads_clear")}</Button>}
      </header>
      {shown.length > 0 && <ul className="divide-y divide-line border-t border-line">{shown.map((one) => <Row key={one.id} one={one} onOpen={onOpen} />)}</ul>}
      {sorted.length > shown.length && <p className="border-t border-line px-4 py-2 text-sm text-ink-3">{t("uploads_more", { count: sorted.length - shown.length })}</p>}
    </section>
  );
}

function Row({ one, onOpen }: { one: Upload; onOpen: (document: string) => void }) {
  const t = useT("documents");
  const errorText = useErrorText();
  const error = one.state === "failed" ? errorText(one.error) : null;
  const percent = Math.round(one.share * 100);
  const words = one.state === "sending" ? (one.share < 1 ? `${percent} %` : t("upload_received")) : t(`upload_${one.state}`);
  return (
    <li className="flex items-center gap-3 py-2 pr-2 pl-4">
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-2 text-base">
          {one.state === "known" && <Copy aria-hidden className="size-4 shrink-0 text-ink-3" />}
          {one.state === "failed" && <CircleAlert aria-hidden className="size-4 shrink-0 text-bad" />}
          <span className="min-w-0 truncate">{one.name}</span>
          <span className="ml-auto shrink-0 text-sm text-ink-3 tabular">{formatBytes(one.bytes)}</span>
        </p>
        {error ? <p role="alert" className="text-sm wrap-anywhere"><span className="text-bad">{error.title}</span>{error.hint && <span className="text-ink-2"> · {error.hint}</span>}</p> : <p className={cx("text-sm", one.state === "known" ? "text-ink-2" : "text-ink-3")}>{words} · {one.collectionName}</p>}
        {one.state === "sending" && <Meter className="mt-1" label={t("upload_progress", { name: one.name })} text={`${percent} %`} parts={[{ share: one.share, tone: "accent" }]} />}
      </div>
      {one.state === "failed" && <IconButton size="sm" label={t("upload_again", { name: one.name })} onClick={() => retryUpload(one.id)}><RotateCcw /></IconButton>}
      {one.document && <Button size="sm" variant="quiet" onClick={() => onOpen(one.document ?? "")}>{t("open")}<span className="sr-only"> {one.name}</span></Button>}
      {(one.state === "waiting" || one.state === "sending" || one.state === "failed") && <IconButton size="sm" label={t(one.state === "failed" ? "upload_forget" : "upload_cancel", { name: one.name })} onClick={() => cancelUpload(one.id)}><X /></IconButton>}
    </li>
  );
}
