import { Link } from "@tanstack/react-router";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useDocumentActions, useDocuments } from "@/api/hooks";
import type { Agent, StoredDocument } from "@/api/types";
import { useT } from "@/i18n";
import { Badge, Button, ErrorState, IconButton, SearchInput, Skeleton, toast } from "@/ui";
import { useFailed } from "../../documents/parts/failed";
import { StatusMark } from "../../documents/parts/labels";

/** How many matches are listed; a search finds the others. */
const SHOWN = 8;

/** The documents that are linked to an agent, and others to link. A change counts at once, without saving. */
export function AgentDocuments({ agent, disabled }: { agent: Agent; disabled: boolean }) {
  const t = useT("agents");
  const failed = useFailed();
  const linked = useDocuments({ agent_id: agent.id });
  const { link } = useDocumentActions();
  const [adding, setAdding] = useState(false);
  const set = (document: StoredDocument, add: boolean, back = false): Promise<void> =>
    link
      .mutateAsync({ document_id: document.id, agent_id: agent.id, linked: add })
      .then(() => toast({ title: t(add ? "document_linked" : "document_unlinked", { name: document.name }), about: `${document.id}${agent.id}`, ...(!back && { undo: () => void set(document, !add, true) }) }), failed);
  if (linked.error) return <ErrorState inline error={linked.error} onRetry={linked.retry} />;
  if (linked.isLoading) return <Skeleton rows={2} />;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm text-ink-2">{t("documents_text")}</p>
      {linked.items.length === 0 ? (
        <p className="text-sm text-ink-3">{t("documents_none")}</p>
      ) : (
        <ul aria-label={t("documents_of")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {linked.items.map((document) => (
            <li key={document.id} className="flex items-center gap-2 py-1.5 pr-1.5 pl-3">
              <Line document={document} />
              {!disabled && <IconButton size="sm" label={t("document_remove", { name: document.name })} disabled={link.isPending} onClick={() => void set(document, false)}><X /></IconButton>}
            </li>
          ))}
        </ul>
      )}
      {linked.hasMore && <Button size="sm" variant="quiet" className="self-start" loading={linked.loadingMore} onClick={linked.more}>{t("documents_more")}</Button>}
      {!disabled && <Button size="sm" className="self-start" aria-expanded={adding} icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setAdding(!adding)}>{t("document_add")}</Button>}
      {adding && !disabled && <Others known={linked.items} busy={link.isPending} onAdd={(document) => void set(document, true)} />}
    </div>
  );
}

function Others({ known, busy, onAdd }: { known: StoredDocument[]; busy: boolean; onAdd: (document: StoredDocument) => void }) {
  const t = useT("agents");
  const [words, setWords] = useState("");
  const all = useDocuments(words.trim() ? { search: words.trim() } : {});
  const found = all.items.filter((one) => !known.some(({ id }) => id === one.id));
  return (
    <div className="flex flex-col gap-2">
      <SearchInput label={t("documents_search")} value={words} onChange={setWords} />
      {all.error ? (
        <ErrorState inline error={all.error} onRetry={all.retry} />
      ) : (
        <ul aria-label={t("documents_others")} className="divide-y divide-line rounded-lg border border-line bg-surface">
          {found.slice(0, SHOWN).map((document) => (
            <li key={document.id} className="flex items-center gap-2 py-1.5 pr-2 pl-3"><Line document={document} /><Button size="sm" disabled={busy} aria-label={t("document_add_name", { name: document.name })} onClick={() => onAdd(document)}>{t("skill_add_short")}</Button></li>
          ))}
          {found.length === 0 && !all.isLoading && <li className="px-3 py-5 text-center text-base text-ink-3">{t("documents_no_match")}</li>}
        </ul>
      )}
    </div>
  );
}

function Line({ document }: { document: StoredDocument }) {
  const t = useT("agents");
  return (
    <>
      <span className="min-w-0 flex-1">
        <Link to="/documents" search={{ document: document.id }} className="block truncate text-base text-accent-ink hover:underline">{document.name}</Link>
      </span>
      {document.origin === "package" && <Badge>{t("document_of_package", { name: document.source.split("/")[0] ?? "" })}</Badge>}
      {document.status !== "ready" && <StatusMark document={document} />}
    </>
  );
}
