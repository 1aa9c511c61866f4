import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { KeptText, OwnDatabase, OwnRows } from "../types";
import { useFresh } from "./core";

/** Rows of a page. */
const PAGE = 25;
const of = (agent: string, what: string) => `/api/agents/${agent}/${what}`;

export const useAgentMemory = (agent: string) =>
  useQuery({ queryKey: ["agent-memory", agent], queryFn: ({ signal }) => api.get<KeptText>(of(agent, "memory"), { signal }) });
export const useAgentDatabase = (agent: string) =>
  useQuery({ queryKey: ["agent-database", agent], queryFn: ({ signal }) => api.get<OwnDatabase>(of(agent, "database"), { signal }) });

/** Rows of a table by pages. */
export function useAgentTable(agent: string, table: string) {
  const result = useInfiniteQuery({
    queryKey: ["agent-database", agent, table],
    queryFn: ({ pageParam, signal }) => api.get<OwnRows>(of(agent, `database/${encodeURIComponent(table)}`), { query: { limit: PAGE, after: pageParam }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last) => last.next,
  });
  return { ...result, columns: result.data?.pages[0]?.columns ?? [], rows: result.data?.pages.flatMap((page) => page.rows) ?? [] };
}

export function useOwnDataActions(agent: string) {
  const fresh = useFresh();
  const memory = () => fresh("agent-memory");
  const database = () => fresh("agent-database");
  return {
    saveMemory: useMutation({ mutationFn: (body: { text: string; version: number }) => api.put<KeptText>(of(agent, "memory"), { body }), onSuccess: memory }),
    clearMemory: useMutation({ mutationFn: () => api.delete(of(agent, "memory")), onSuccess: memory }),
    saveDocumentation: useMutation({ mutationFn: (body: { text: string; version: number }) => api.put<KeptText>(of(agent, "database/schema"), { body }), onSuccess: database }),
    clearDatabase: useMutation({ mutationFn: () => api.delete(of(agent, "database")), onSuccess: database }),
    restoreDatabase: useMutation({ mutationFn: () => api.post<OwnDatabase>(of(agent, "database/restore")), onSuccess: database }),
  };
}
