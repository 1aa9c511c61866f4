// How documents look and read, the same in the list, the sheet and the search.
import { CircleAlert, CircleCheck, Clock, Copy, Loader } from "lucide-react";
import type { DocumentProblem, StoredDocument } from "@/api/types";
import { type Key, useT } from "@/i18n";
import { cx, formatNumber } from "@/ui";
import type { Piece } from "./marks";

/** What there is to choose from; others are shown by their own name. */
export const KINDS = ["pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "html", "markdown", "text", "csv", "json", "code", "eml", "msg", "rtf", "xls"] as const;

export function useKindName(): (kind: string) => string {
  const t = useT("documents");
  return (kind) => {
    const text = t(`kind_${kind}` as Key<"documents">);
    return text === `kind_${kind}` ? kind.toUpperCase() : text;
  };
}

const looks = {
  waiting: { icon: Clock, className: "text-ink-3" },
  embedding: { icon: Loader, className: "text-accent-ink animate-spin" },
  ready: { icon: CircleCheck, className: "text-ok" },
  failed: { icon: CircleAlert, className: "text-bad" },
  duplicate: { icon: Copy, className: "text-ink-3" },
} as const;

/** How far it has come, as a sign and in words. */
export function StatusMark({ document }: { document: Pick<StoredDocument, "status" | "chunks" | "embedded"> }) {
  const t = useT("documents");
  const { icon: Icon, className } = looks[document.status] ?? looks.waiting;
  const text = document.status === "embedding" && document.chunks > 0 ? t("embedding_of", { done: formatNumber(document.embedded), of: formatNumber(document.chunks) }) : t(`status_${document.status}`);
  return (
    <span title={t(`means_${document.status}`)} data-status={document.status} className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap text-ink-2 tabular">
      <Icon aria-hidden className={cx("size-3.5 shrink-0", className)} />
      {text}
    </span>
  );
}

/** What is wrong, and what to do. */
export function Problem({ problem, waits, className }: { problem: DocumentProblem; waits?: boolean; className?: string }) {
  return (
    <span className={cx("block text-sm wrap-anywhere", className)}>
      <span className={waits ? "text-warn" : "text-bad"}>{problem.message}</span>
      <span className="text-ink-2"> · {problem.hint}</span>
    </span>
  );
}

/** A passage with the question's words marked. */
export function Marked({ pieces }: { pieces: readonly Piece[] }) {
  return <>{pieces.map((piece, index) => (piece.hit ? <mark key={index} className="rounded-xs bg-warn-soft font-medium text-ink">{piece.text}</mark> : <span key={index}>{piece.text}</span>))}</>;
}

/** `3` or `3–4`. */
export const pagesOf = (first: number, last: number): string => (last > first ? `${formatNumber(first)}–${formatNumber(last)}` : formatNumber(first));
