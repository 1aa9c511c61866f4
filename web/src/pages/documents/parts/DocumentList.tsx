import { FileSearch, SlidersHorizontal, Upload } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { isUnsettled, useCollections, useDocuments, useFresh } from "@/api/hooks";
import type { Collection, DocumentStatus, StoredDocument } from "@/api/types";
import { useT } from "@/i18n";
import { Button, EmptyState, ErrorState, formatNumber, PagedList, SearchInput, Select, Skeleton, Table, Time } from "@/ui";
import { useFilters, useTyped } from "../../runs/parts/filters";
import { CollectionHead } from "./CollectionHead";
import { Collections } from "./Collections";
import { Problem, StatusMark, useKindName } from "./labels";
import { useRemoved } from "./removing";
import { isWorkspace } from "./target";
import { Uploads } from "./Uploads";

const STATES = ["waiting", "embedding", "ready", "failed", "duplicate"] as const satisfies readonly DocumentStatus[];

type Props = { collections: ReturnType<typeof useCollections>; chosen: string; mine: Collection[]; onOpen: (document: string) => void; onNew: () => void; onAdd: () => void };

/** The collections and their documents. */
export function DocumentList({ collections, chosen, mine, onOpen, onNew, onAdd }: Props) {
  const t = useT("documents");
  const [, set] = useFilters(["collection"] as const);
  if (!collections.data) return collections.error ? <ErrorState error={collections.error} onRetry={() => void collections.refetch()} /> : <Skeleton rows={6} />;
  const all = collections.data;
  const collection = all.find((one) => one.id === chosen) ?? null;
  return (
    <div className="md:grid md:grid-cols-[13.5rem_minmax(0,1fr)] md:gap-6">
      <div><Collections all={all} chosen={collection?.id ?? ""} set={(id) => set({ collection: id })} onNew={onNew} /></div>
      <div className="min-w-0">
        {chosen && !collection && <div role="status" className="mb-4 flex flex-wrap items-center gap-3 rounded-lg bg-sunken px-4 py-2.5 text-base text-ink-2"><span className="flex-1">{t("collection_gone")}</span><Button size="sm" onClick={() => set({ collection: "" })}>{t("show_all")}</Button></div>}
        {collection && <CollectionHead key={`head ${collection.id}`} collection={collection} onRemoved={() => set({ collection: "" })} />}
        <Uploads onOpen={onOpen} />
        <Listed key={`list ${chosen}`} all={all} collection={collection} mine={mine} onOpen={onOpen} onAdd={onAdd} />
      </div>
    </div>
  );
}

/** Keeps the counts of collections up while documents are worked on, and once more when all are done. */
function useCounts(busy: boolean): void {
  useCollections(busy);
  const fresh = useFresh();
  const was = useRef(busy);
  useEffect(() => {
    if (was.current && !busy) void fresh("collections", "document-search", "vector-store");
    was.current = busy;
  }, [busy]);
}

const Small = ({ children }: { children: ReactNode }) => <span className="text-sm text-ink-2">{children}</span>;

function Listed({ all, collection, mine, onOpen, onAdd }: { all: Collection[]; collection: Collection | null; mine: Collection[]; onOpen: (document: string) => void; onAdd: () => void }) {
  const t = useT("documents");
  const kindName = useKindName();
  const [{ name, status }, set] = useFilters(["name", "status"] as const);
  const [typed, type] = useTyped(name, (value) => set({ name: value }));
  const wanted = STATES.find((one) => one === status);
  const list = useDocuments({ ...(collection && { collection: collection.id }), ...(wanted && { status: wanted }), ...(name.trim() && { search: name.trim() }) });
  const removed = useRemoved();
  const rows = list.items.filter((one) => !removed.has(one.id));
  useCounts(list.items.some(isUnsettled));
  const filtered = name !== "" || wanted !== undefined;
  const nameOf = (id: string) => all.find((one) => one.id === id)?.name ?? "";
  const clear = () => set({ name: "", status: "" });
  const follows = collection !== null && isWorkspace(collection);
  const adds = collection === null || mine.some((one) => one.id === collection.id);
  const below = (one: StoredDocument) => (
    <>
      {!collection && <span className="block truncate text-sm font-normal text-ink-3">{nameOf(one.collection)}</span>}
      {one.problem && <Problem problem={one.problem} waits={one.status !== "failed"} />}
    </>
  );
  return (
    <>
      {(filtered || list.items.length > 0) && (
        <div role="search" className="mb-3 flex flex-wrap items-center gap-2">
          <SearchInput className="min-w-44 flex-1 md:max-w-72" label={t("search_name")} maxLength={200} value={typed} onChange={type} />
          <Select small aria-label={t("status")} value={wanted ?? ""} onChange={(event) => set({ status: event.target.value })} className="[&>select]:max-md:h-10">
            <option value="">{t("any_status")}</option>
            {STATES.map((one) => <option key={one} value={one}>{t(`status_${one}`)}</option>)}
          </Select>
          {filtered && <Button size="sm" variant="quiet" onClick={clear}>{t("clear")}</Button>}
        </div>
      )}
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <PagedList
          list={{ ...list, items: rows }}
          empty={
            filtered ? (
              <EmptyState icon={<SlidersHorizontal />} title={t("none_title")} action={<Button onClick={clear}>{t("clear")}</Button>}>{t("none_text")}</EmptyState>
            ) : (
              <EmptyState icon={<FileSearch />} title={t(follows ? "workspace_empty" : "empty_title")} action={adds && !follows && <Button icon={<Upload aria-hidden className="size-3.5" />} onClick={onAdd}>{t("choose_files")}</Button>}>{t(follows ? "workspace_text" : adds ? "empty_text" : "empty_reader")}</EmptyState>
            )
          }
        >
          <div className="max-md:hidden">
            <Table<StoredDocument>
              caption={t("title")}
              rows={rows}
              rowKey={(one) => one.id}
              onRow={(one) => onOpen(one.id)}
              columns={[
                { key: "name", head: t("name"), className: "w-full max-w-0", cell: (one) => <><button type="button" title={one.name} className="block max-w-full truncate text-left font-medium hover:underline" onClick={(event) => (event.stopPropagation(), onOpen(one.id))}>{one.name}</button>{below(one)}</> },
                { key: "kind", head: t("kind"), className: "whitespace-nowrap", cell: (one) => <Small>{one.facts.doc_type && kindName(one.facts.doc_type)}</Small> },
                { key: "pages", head: t("pages"), className: "text-right", cell: (one) => <Small>{one.facts.pages > 0 && formatNumber(one.facts.pages)}</Small> },
                { key: "chunks", head: t("chunks"), className: "text-right", cell: (one) => <Small>{one.chunks > 0 && formatNumber(one.chunks)}</Small> },
                { key: "status", head: t("status"), cell: (one) => <StatusMark document={one} /> },
                { key: "added", head: t("added"), className: "whitespace-nowrap text-right", cell: (one) => <Small><Time at={one.added_at} /></Small> },
              ]}
            />
          </div>
          <ul className="divide-y divide-line md:hidden" aria-label={t("title")}>
            {rows.map((one) => (
              <li key={one.id}>
                <button type="button" onClick={() => onOpen(one.id)} className="flex w-full flex-col gap-1 px-4 py-3 text-left active:bg-hover">
                  <span className="w-full truncate text-base font-medium">{one.name}</span>
                  {below(one)}
                  <span className="flex w-full flex-wrap items-center gap-x-3 text-sm text-ink-3"><StatusMark document={one} />{one.facts.doc_type && <span>{kindName(one.facts.doc_type)}</span>}{one.facts.pages > 0 && <span>{t("count_pages", { count: one.facts.pages })}</span>}<Time at={one.added_at} className="ml-auto" /></span>
                </button>
              </li>
            ))}
          </ul>
        </PagedList>
      </div>
    </>
  );
}
