import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../client";
import type { Connection, ConnectionAuth, ConnectionHealth, ConnectionInput, ConnectionTest, ExamReport, Page, Recognised, Routing, RoutingPreview } from "../types";
import { useFresh, usePaged } from "./core";

export const useConnections = () => usePaged<Connection>(["connections"], "/api/connections", {}, { limit: 100, unsettled: (all) => all.some((one) => one.exam_state?.state === "running") });
/** How each connection has fared, by its id. */
export const useConnectionHealth = () =>
  useQuery({
    queryKey: ["connection-health"],
    queryFn: async ({ signal }) => new Map((await api.get<Page<ConnectionHealth>>("/api/connections/health", { query: { limit: 100 }, signal })).items.map((entry) => [entry.connection, entry])),
    refetchInterval: 10_000,
  });

/** The report of a connection's last exam. */
export const useExamReport = (id: string, there: boolean) =>
  useQuery({ queryKey: ["exam", id], queryFn: ({ signal }) => api.get<ExamReport>(`/api/connections/${id}/exam`, { signal }), enabled: there });

export function useConnectionActions() {
  const fresh = useFresh();
  const after = () => fresh("connections", "connection-health", "route");
  return {
    create: useMutation({ mutationFn: (body: ConnectionInput) => api.post<Connection>("/api/connections", { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/connections/${id}`), onSuccess: after }),
    makeDefault: useMutation({ mutationFn: (id: string) => api.post<void>(`/api/connections/${id}/default`), onSuccess: after }),
    test: useMutation({ mutationFn: (id: string) => api.post<ConnectionTest>(`/api/connections/${id}/test`), onSettled: () => fresh("connection-health") }),
  };
}

/** What carries a key. No mutation: the query cache would hold on to it. `null`: it failed, see `error`. */
function useKeyed<A extends unknown[], T>(send: (...args: A) => Promise<T>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (...args: A): Promise<T | null> => {
    setBusy(true);
    setError(null);
    try {
      return await send(...args);
    } catch (problem) {
      setError(problem);
      return null;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run };
}

/** Saves a connection: a new one, or the one of the id. */
export function useConnectionWriter() {
  const fresh = useFresh();
  return useKeyed(async (id: string | null, body: ConnectionInput) => {
    const idempotencyKey = newKey();
    const saved = id ? await api.put<Connection>(`/api/connections/${id}`, { body, idempotencyKey }) : await api.post<Connection>("/api/connections", { body, idempotencyKey });
    void fresh("connections", "connection-health", "route", "credentials");
    return saved;
  });
}

/** Asks what answers at an address. */
export const useRecogniser = () => useKeyed((body: { base_url: string; auth?: ConnectionAuth }) => api.post<Recognised>("/api/connections/recognise", { body }));

/** The routing of an agent that has none of its own. */
export const NO_ROUTING: Routing = { task_routing: {}, planner: null, executor: null, redirects: {}, fallback_chain: [], max_fallback_attempts: 3, cost_aware: false, hedge_after_ms: null, balance: "fixed" };
type Question = { connection: string | null; routing: Routing; tools: string[]; message: string };
/** Which connections a message would go to; pass debounced input. */
export const useRoutingPreview = (question: Question) =>
  useQuery({ queryKey: ["route", question], queryFn: ({ signal }) => api.post<RoutingPreview>("/api/routing/preview", { body: question, signal }), enabled: question.message.trim() !== "", placeholderData: (previous) => previous, retry: false });
