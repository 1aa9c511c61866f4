import { CircleAlert, FileText, Paperclip, X } from "lucide-react";
import { ApiError } from "@/api/client";
import { useDocument } from "@/api/hooks";
import type { GivenDocument } from "@/api/types";
import { useT } from "@/i18n";
import { PassageLink } from "@/run/cited";
import { cx, formatBytes, formatNumber, IconButton, Spinner, useErrorText } from "@/ui";
import { hasFailed, isOpen } from "./reading";
import type { Attached } from "./stored";

type Props = { file: Attached; onDetach: () => void };
const chip = "flex max-w-full items-center gap-1.5 rounded-md border py-0.5 pr-0.5 pl-2 text-sm";

/** A file of the draft. */
export function Attachment({ file, onDetach }: Props) {
  return file.document ? <Document id={file.document} file={file} onDetach={onDetach} /> : <Chip file={file} onDetach={onDetach} icon={<Paperclip aria-hidden className="size-3.5 shrink-0 text-ink-3" />} note={formatBytes(file.bytes)} />;
}

function Chip({ file, onDetach, icon, note, why }: Props & { icon: React.ReactNode; note: string; why?: string }) {
  const t = useT("chat");
  return (
    <li className={cx(chip, why ? "w-full border-bad/40 bg-bad-soft" : "border-line bg-bg")}>
      {icon}
      {why ? (
        <span className="min-w-0 flex-1 py-0.5">
          <span className="block truncate font-medium">{file.name}</span>
          <span role="alert" className="block text-xs text-bad wrap-anywhere">{why}</span>
        </span>
      ) : (
        <>
          <span className="max-w-56 truncate" title={file.path ?? file.name}>{file.name}</span>
          <span className="shrink-0 text-xs text-ink-3 tabular">{note}</span>
        </>
      )}
      <IconButton size="sm" className="size-6!" label={t("detach", { name: file.name })} onClick={onDetach}><X /></IconButton>
    </li>
  );
}

function Document({ id, file, onDetach }: Props & { id: string }) {
  const t = useT("chat");
  const errorText = useErrorText();
  const { data, error } = useDocument(id);
  const gone = error instanceof ApiError && error.status === 404;
  const failed = hasFailed(data);
  const problem = [data?.problem?.message, data?.problem?.hint].filter(Boolean).map((part) => `${part?.charAt(0).toUpperCase()}${part?.slice(1).replace(/\.$/, "")}.`).join(" ");
  const why = gone ? t("attach.removed") : error ? errorText(error).title : failed ? problem || t("attach.failed") : "";
  const note = isOpen(data) ? t("attach.reading") : data?.status === "embedding" ? t("attach.words") : data && data.facts.pages > 1 ? t("attach.pages", { count: data.facts.pages, pages: formatNumber(data.facts.pages) }) : t("attach.ready");
  const icon = why ? <CircleAlert aria-hidden className="size-3.5 shrink-0 text-bad" /> : isOpen(data) ? <Spinner className="text-ink-3" /> : <FileText aria-hidden className="size-3.5 shrink-0 text-accent-ink" />;
  return <Chip file={file} onDetach={onDetach} icon={icon} note={note} {...(why && { why })} />;
}

/** A document that was given with a message. It may be gone since. */
export function GivenChip({ document }: { document: GivenDocument }) {
  const t = useT("chat");
  const why = useT("documents")("document_gone_text");
  const { error } = useDocument(document.id);
  if (error instanceof ApiError && error.status === 404) return <span title={why} className="flex items-center gap-1.5 rounded-md border border-dashed border-line-2 px-2 py-0.5 text-sm text-ink-3"><FileText aria-hidden className="size-3.5" /><s className="wrap-anywhere">{document.name}</s> {t("attach.removed")}</span>;
  return <PassageLink document={document.id} className="flex items-center gap-1.5 rounded-md border border-line bg-surface px-2 py-0.5 text-sm text-ink-2 hover:border-line-2 hover:text-ink"><FileText aria-hidden className="size-3.5 shrink-0 text-ink-3" /><span className="wrap-anywhere">{document.name}</span></PassageLink>;
}
