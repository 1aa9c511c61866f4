import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { RunEvent } from "../events";
import type { ChatStarted, KeptReport, KeptRun, Origin, Page, Replay, Run, RunDetail, RunStatus, StartedBy, Undone, Verdict } from "../types";
import { useFresh, usePaged } from "./core";

export type RunQuery = { status?: RunStatus | ""; outcome?: string; verdict?: Verdict | ""; origin?: Origin | ""; agent_id?: string; conversation_id?: string; q?: string; mine?: boolean };

export const useRuns = (query: RunQuery = {}) => usePaged<Run>(["runs"], "/api/runs", query);
export const useRun = (id: string | undefined) =>
  useQuery({ queryKey: ["run", id], queryFn: ({ signal }) => api.get<RunDetail>(`/api/runs/${id}`, { signal }), enabled: !!id });
/** What started a run without a person, for its name. */
export const useStarter = (by: StartedBy) => {
  const path = by.kind === "occurrence" ? `/api/schedules/${by.schedule}` : `/api/hooks/${by.hook}`;
  return useQuery({ queryKey: ["starter", path], queryFn: ({ signal }) => api.get<{ name: string }>(path, { signal }), staleTime: 60_000, retry: false });
};
/** Events by pages; for a run at work use `useRunStream` of `@/run/stream`. */
export const useRunLog = (id: string) => usePaged<RunEvent>(["run-log", id], `/api/runs/${id}/log`, {}, { limit: 100 });

export function useRunActions(id: string) {
  const fresh = useFresh();
  const after = () => fresh("runs", "run", "approvals", "conversations", "conversation", "kept");
  return {
    stop: useMutation({ mutationFn: () => api.post<{ run_id: string }>(`/api/runs/${id}/stop`), onSuccess: after }),
    steer: useMutation({ mutationFn: (text: string) => api.post<unknown>(`/api/runs/${id}/steer`, { body: { text } }) }),
    resume: useMutation({ mutationFn: () => api.post<{ resumed: boolean }>(`/api/runs/${id}/resume`), onSuccess: after }),
    fork: useMutation({ mutationFn: (body: { seq?: number; connection_id?: string; input?: string }) => api.post<ChatStarted>(`/api/runs/${id}/fork`, { body }), onSuccess: after }),
    replay: useMutation({ mutationFn: () => api.post<Replay>(`/api/runs/${id}/replay`) }),
    undo: useMutation({ mutationFn: (call_id?: string) => api.post<Page<Undone>>(`/api/runs/${id}/undo`, { body: call_id ? { call_id } : {} }), onSuccess: after }),
    keep: useMutation({ mutationFn: (name: string) => api.post<KeptRun>(`/api/runs/${id}/keep`, { body: { name } }), onSuccess: after }),
  };
}

export const useKept = () => usePaged<KeptRun>(["kept"], "/api/kept");
export function useKeptActions() {
  const fresh = useFresh();
  return {
    run: useMutation({ mutationFn: () => api.post<Page<KeptReport>>("/api/kept/run") }),
    remove: useMutation({ mutationFn: (name: string) => api.delete(`/api/kept/${encodeURIComponent(name)}`), onSuccess: () => fresh("kept", "run") }),
  };
}
