import { Download, RotateCcw, Trash2, TriangleAlert } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { ApiError } from "@/api/client";
import { useDocument, useDocumentActions, useFresh, useReach } from "@/api/hooks";
import type { Collection, DocumentDetails } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ClassificationBadge, EmptyState, ErrorState, Facts, formatBytes, formatExact, formatNumber, Sheet, Skeleton, toast } from "@/ui";
import { previewOf } from "../preview/kinds";
import { AgentLinks } from "./AgentLinks";
import { Chunks } from "./Chunks";
import { useFailed } from "./failed";
import { StatusMark, useKindName } from "./labels";
import { removeLater } from "./removing";

type Props = { id: string; /** Which passage to show. */ chunk: number | null; /** Whose words are marked. */ question: string; collections: Collection[]; onChunk: (index: number | null) => void; onClose: () => void; onCollection: (id: string) => void };

const Preview = lazy(() => import("../preview/Preview"));

/** Gives the keyboard back to what opened a sheet, if nothing else has it by then: the row of a list, the passage that was found. */
function useReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () =>
      void setTimeout(() => {
        if (document.activeElement === document.body && before instanceof HTMLElement) before.focus({ preventScroll: true });
      }),
    [before],
  );
}

/** All of one document. */
export function DocumentSheet({ id, onClose, ...rest }: Props) {
  const t = useT("documents");
  useReturn();
  const found = useDocument(id);
  const gone = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Sheet side={found.data && previewOf(found.data) ? "wide" : "right"} open onOpenChange={(open) => !open && onClose()} title={found.data?.name ?? t("document")}>
      {found.data && !gone ? (
        <Shown document={found.data} onClose={onClose} {...rest} />
      ) : gone ? (
        <EmptyState title={t("document_gone")} action={<Button onClick={onClose}>{t("back")}</Button>}>{t("document_gone_text")}</EmptyState>
      ) : found.error ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Skeleton rows={8} className="p-4" />
      )}
    </Sheet>
  );
}

function Shown({ document, chunk, question, collections, onChunk, onClose, onCollection }: Omit<Props, "id"> & { document: DocumentDetails }) {
  const t = useT("documents");
  const kindName = useKindName();
  const failed = useFailed();
  const fresh = useFresh();
  const { process, download } = useDocumentActions();
  const edits = useReach("collection", document.collection, "edit") === true;
  const collection = collections.find((one) => one.id === document.collection);
  const { facts } = document;
  const again = () => process.mutate(document.id, { onSuccess: () => toast({ title: t("read_again_toast", { name: document.name }), about: document.id }), onError: failed });
  const remove = () => {
    removeLater(document, { done: () => void fresh("documents", "collections", "document-search"), failed });
    onClose();
  };
  const rows: [ReactNode, ReactNode][] = [
    [t("status"), <StatusMark key="status" document={document} />],
    ...(collection ? [[t("collection"), <button key="collection" type="button" className="text-left text-accent-ink hover:underline" onClick={() => onCollection(collection.id)}>{collection.name}</button>] as [ReactNode, ReactNode]] : []),
    ...(facts.doc_type ? [[t("kind"), kindName(facts.doc_type)] as [ReactNode, ReactNode]] : []),
    ...(facts.title ? [[t("own_title"), facts.title] as [ReactNode, ReactNode]] : []),
    ...(facts.pages > 0 ? [[t("pages"), facts.scans > 0 ? t("pages_scans", { pages: formatNumber(facts.pages), count: facts.scans }) : formatNumber(facts.pages)] as [ReactNode, ReactNode]] : []),
    [t("chunks"), document.embedded < document.chunks ? t("chunks_embedded", { chunks: formatNumber(document.chunks), embedded: formatNumber(document.embedded) }) : formatNumber(document.chunks)],
    [t("size"), formatBytes(document.bytes)],
    [t("origin"), t(`origin_${document.origin}`)],
    ...(document.origin !== "upload" ? [[t("path"), <span key="path" className="font-mono text-sm">{document.source}</span>] as [ReactNode, ReactNode]] : []),
    ...(document.classification ? [[t("classification"), <ClassificationBadge key="level" level={document.classification} />] as [ReactNode, ReactNode]] : []),
    [t("added"), formatExact(document.added_at)],
  ];
  const about = (
    <>
      {document.problem && (
        <div role="alert" className={document.status === "failed" ? "rounded-lg border border-bad/30 bg-bad-soft px-3 py-2.5" : "rounded-lg border border-warn-line/40 bg-warn-soft px-3 py-2.5"}>
          <p className="text-base font-medium wrap-anywhere">{document.problem.message}</p>
          <p className="text-sm text-ink-2 wrap-anywhere">{document.problem.hint}</p>
          {document.status !== "failed" && <p className="mt-1 text-sm text-ink-2">{t("tried", { count: document.attempts })}</p>}
        </div>
      )}
      {document.status === "duplicate" && <p className="rounded-lg bg-sunken px-3 py-2.5 text-base text-ink-2">{t("means_duplicate")}</p>}
      <Facts items={rows} />
      {facts.warnings.length > 0 && (
        <section>
          <h3 className="mb-1 flex items-center gap-1.5 text-sm font-medium"><TriangleAlert aria-hidden className="size-3.5 text-warn" />{t("warnings")}</h3>
          <ul className="list-disc pl-5 text-sm text-ink-2">{facts.warnings.map((warning) => <li key={warning} className="wrap-anywhere">{warning}</li>)}</ul>
        </section>
      )}
      <div className="flex flex-wrap gap-2">
        <Button size="sm" icon={<Download aria-hidden className="size-3.5" />} loading={download.isPending} onClick={() => download.mutate(document, { onError: failed })}>{t("download")}</Button>
        {edits && <Button size="sm" icon={<RotateCcw aria-hidden className="size-3.5" />} loading={process.isPending} onClick={again}>{t("read_again")}</Button>}
        {edits && <Button size="sm" variant="quiet" className="text-bad!" icon={<Trash2 aria-hidden className="size-3.5" />} onClick={remove}>{t("remove")}</Button>}
      </div>
      {edits && document.origin === "workspace" && <p className="-mt-3 text-xs text-ink-3">{t("workspace_removal")}</p>}
      <AgentLinks document={document} />
    </>
  );
  if (previewOf(document)) return <Suspense fallback={<Skeleton rows={10} className="p-4" />}><Preview document={document} chunk={chunk} question={question} onChunk={onChunk}>{about}</Preview></Suspense>;
  return (
    <div className="flex flex-col gap-5 p-4">
      {about}
      <Chunks document={document} chunk={chunk} question={question} />
    </div>
  );
}
