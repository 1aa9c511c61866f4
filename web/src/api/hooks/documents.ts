import { queryOptions, useMutation, useQueries, useQuery } from "@tanstack/react-query";
import { api, authorized, newKey, problemOf } from "../client";
import type { Chunk, Collection, CollectionInput, CollectionPatch, DocumentDetails, DocumentSearch, DocumentStatus, IngestJob, Page, ResourceAccess, SearchResult, StoredDocument, VectorStoreStats, WatchedPath } from "../types";
import { allOf, POLL, useFresh, usePaged } from "./core";

/** How many chunks a page of them has. */
export const CHUNKS = 20;
/** How soon one is asked for again whose turn is about to come, ms. */
const SOON = 700;
/** Documents that are sent off again at the same time. */
const AT_ONCE = 4;

/** Whether something still happens to it. */
export const isUnsettled = ({ status }: Pick<StoredDocument, "status">) => status === "waiting" || status === "embedding";
/** Whether something still happens to one of its documents. */
export const isAtWork = ({ state, progress }: IngestJob) => state === "scanning" || (state === "running" && progress.waiting + progress.embedding > 0);

/** All that one may search, by name. `poll`: their counts change at the moment. */
export const useCollections = (poll = false, enabled = true) =>
  useQuery({ queryKey: ["collections"], queryFn: async ({ signal }) => (await api.get<Page<Collection>>("/api/collections", { signal })).items, enabled, refetchInterval: poll ? POLL : false });
/** Which of them are for those with a grant only, as far as one may know. */
export function useRestricted(ids: string[]): Map<string, boolean> {
  return useQueries({
    queries: ids.map((id) => ({ queryKey: ["access", "collection", id], queryFn: ({ signal }: { signal: AbortSignal }) => api.get<ResourceAccess>(`/api/access/collection/${id}`, { signal }), staleTime: 60_000, retry: false })),
    combine: (all) => new Map(all.flatMap(({ data }) => (data ? [[data.id, data.restricted] as const] : []))),
  });
}

export type DocumentFilter = { collection?: string; status?: DocumentStatus; search?: string; agent_id?: string };
export const useDocuments = (filter: DocumentFilter) => usePaged<StoredDocument>(["documents"], "/api/documents", filter, { unsettled: (items) => items.some(isUnsettled) });
export const documentQuery = (id: string) =>
  queryOptions({ queryKey: ["document", id], queryFn: ({ signal }) => api.get<DocumentDetails>(`/api/documents/${id}`, { signal }), refetchInterval: ({ state }) => (state.data ? (state.data.status === "waiting" ? SOON : isUnsettled(state.data) ? POLL : false) : false) });
export const useDocument = (id: string) => useQuery(documentQuery(id));
/** A page of its chunks, from 0. `version`: what was made of it, so that it is asked for again after it was read again. */
export const useChunks = (id: string, page: number, version: string, enabled: boolean) =>
  useQuery({
    queryKey: ["document", id, "chunks", page, version],
    queryFn: ({ signal }) => api.get<Page<Chunk>>(`/api/documents/${id}/chunks`, { query: { limit: CHUNKS, cursor: page > 0 ? cursorAfter(page * CHUNKS - 1) : null }, signal }),
    enabled,
    placeholderData: (before) => before,
  });

/** One of its chunks; none if `index` is null. */
export const useChunkAt = (id: string, index: number | null, version: string) =>
  useQuery({
    queryKey: ["document", id, "chunk", index, version],
    queryFn: async ({ signal }) => (await api.get<Page<Chunk>>(`/api/documents/${id}/chunks`, { query: { limit: 1, cursor: index ? cursorAfter(index - 1) : null }, signal })).items[0] ?? null,
    enabled: index !== null,
  });
/** Those that have a part on a page, from 1. */
export const useChunksOnPage = (id: string, page: number, version: string, enabled: boolean) =>
  useQuery({
    queryKey: ["document", id, "page", page, version],
    queryFn: ({ signal }) => api.get<Page<Chunk>>(`/api/documents/${id}/chunks`, { query: { limit: 100, page }, signal }),
    enabled,
    placeholderData: (before) => before,
  });
// A cursor is the last place before, written as the server writes it: pages in between need not be loaded.
const cursorAfter = (index: number) => btoa(String(index)).replace(/=+$/, "");

/** What a question finds. */
export const useDocumentSearch = (search: DocumentSearch) =>
  useQuery({ queryKey: ["document-search", search], queryFn: ({ signal }) => api.post<SearchResult>("/api/documents/search", { body: search, signal }), enabled: !!search.query, staleTime: 30_000, placeholderData: (before) => before });

export const useVectorStore = () => useQuery({ queryKey: ["vector-store"], queryFn: ({ signal }) => api.get<VectorStoreStats>("/api/documents/vector-store/stats", { signal }) });
export const useIngestJobs = () => usePaged<IngestJob>(["ingest-jobs"], "/api/documents/jobs", {}, { unsettled: (items) => items.some(isAtWork) });
/** Folders are looked through every 30 s. */
export const useWatchedPaths = () => useQuery({ queryKey: ["watched-paths"], queryFn: async ({ signal }) => (await api.get<Page<WatchedPath>>("/api/documents/watched-paths", { signal })).items, refetchInterval: 15_000 });

export function useCollectionActions() {
  const fresh = useFresh();
  return {
    create: useMutation({ mutationFn: (body: CollectionInput) => api.post<Collection>("/api/collections", { body }), onSuccess: () => fresh("collections", "held-grants", "access") }),
    update: useMutation({ mutationFn: ({ id, ...body }: CollectionPatch & { id: string }) => api.patch<Collection>(`/api/collections/${id}`, { body }), onSuccess: () => fresh("collections", "document-search") }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/collections/${id}`), onSettled: () => fresh("collections", "documents", "document-search", "ingest-jobs", "watched-paths", "held-grants") }),
    /** Has all its documents read, cut and embedded again. */
    reread: useMutation({ mutationFn: rereadAll, onSettled: () => fresh("collections", "documents", "document") }),
  };
}

async function rereadAll({ collection, onProgress, signal }: { collection: string; onProgress: (done: number, of: number) => void; signal: AbortSignal }): Promise<number> {
  const all = (await allOf<StoredDocument>("/api/documents", { collection }, signal, Number.POSITIVE_INFINITY)).filter((one) => one.status !== "duplicate");
  let next = 0;
  let done = 0;
  onProgress(0, all.length);
  const worker = async () => {
    for (let one = all[next++]; one && !signal.aborted; one = all[next++]) {
      await api.post(`/api/documents/${one.id}/process`, { signal });
      onProgress(++done, all.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return done;
}

export function useDocumentActions() {
  const fresh = useFresh();
  const after = () => fresh("documents", "document", "collections");
  return {
    process: useMutation({ mutationFn: (id: string) => api.post<StoredDocument>(`/api/documents/${id}/process`), onSuccess: after }),
    /** Those that failed, or lack vectors. */
    pending: useMutation({ mutationFn: () => api.post<{ documents: number }>("/api/documents/embed-pending"), onSuccess: () => fresh("documents", "document", "collections", "ingest-jobs", "vector-store") }),
    link: useMutation({ mutationFn: (body: { document_id: string; agent_id: string; linked: boolean }) => api.post<DocumentDetails>("/api/documents/links", { body }), onSuccess: () => fresh("document", "documents") }),
    download: useMutation({ mutationFn: download }),
  };
}

/** Sent even while the page goes away. */
export async function removeDocument(id: string): Promise<void> {
  const answer = await authorized(`/api/documents/${id}`, { method: "DELETE", keepalive: true, headers: { "idempotency-key": newKey() } });
  if (!answer.ok && answer.status !== 404) throw await problemOf(answer);
}

async function download({ id, name }: { id: string; name: string }): Promise<void> {
  const answer = await authorized(`/api/documents/${id}/content`);
  if (!answer.ok) throw await problemOf(answer);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

type Folder = { path: string; collection: string };
export function useFolderActions() {
  const fresh = useFresh();
  const after = () => fresh("ingest-jobs", "documents", "collections");
  return {
    scan: useMutation({ mutationFn: (body: Folder) => api.post<IngestJob>("/api/documents/batch-scan", { body }), onSuccess: after }),
    watch: useMutation({ mutationFn: (body: Folder) => api.post<WatchedPath>("/api/documents/register-path", { body }), onSuccess: () => fresh("watched-paths") }),
    unwatch: useMutation({ mutationFn: (id: string) => api.delete(`/api/documents/watched-paths/${id}`), onSuccess: () => fresh("watched-paths") }),
    steer: useMutation({ mutationFn: ({ id, how }: { id: string; how: "pause" | "resume" | "cancel" | "retry" }) => api.post<unknown>(`/api/documents/jobs/${id}/${how}`), onSuccess: after }),
  };
}
