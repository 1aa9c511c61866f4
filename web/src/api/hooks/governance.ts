import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, authorized, pathOf, problemOf } from "../client";
import type { DataCheck, DataChecked, DataRules, DataRulesView, Erasure, ErasureView, RetentionPreview, RetentionRules, RetentionView, Standard } from "../types";
import { useFresh } from "./core";

export const useDataRules = () => useQuery({ queryKey: ["data-rules"], queryFn: ({ signal }) => api.get<DataRulesView>("/api/data-governance/policies", { signal }) });
/** They change with the program only. */
export const useStandards = () => useQuery({ queryKey: ["standards"], queryFn: ({ signal }) => api.get<Standard[]>("/api/data-governance/references", { signal }), staleTime: Infinity });
export function useReplaceDataRules() {
  const client = useQueryClient();
  return useMutation({ mutationFn: (body: DataRules) => api.put<DataRulesView>("/api/data-governance/policies", { body }), onSuccess: (now) => client.setQueryData(["data-rules"], now) });
}
export const useCheckData = () => useMutation({ mutationFn: (body: DataCheck) => api.post<DataChecked>("/api/data-governance/check", { body }) });

/** What a policy has done so far, as a table for the user. */
export const usePolicyReport = () => useMutation({ mutationFn: (name: string) => downloadTable(`/api/data-governance/policies/${encodeURIComponent(name)}/report`, "policy.csv") });

async function downloadTable(path: string, file: string): Promise<void> {
  const answer = await authorized(pathOf(path, { format: "csv" }));
  if (!answer.ok) throw await problemOf(answer);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const useRetention = () => useQuery({ queryKey: ["retention"], queryFn: ({ signal }) => api.get<RetentionView>("/api/data-governance/retention", { signal }) });
export const usePreviewRetention = () => useMutation({ mutationFn: (body: RetentionRules) => api.post<RetentionPreview>("/api/data-governance/retention/preview", { body }) });
export function useReplaceRetention() {
  const fresh = useFresh();
  return useMutation({ mutationFn: (body: { rules: RetentionRules; confirmation: string }) => api.put<RetentionView>("/api/data-governance/retention", { body }), onSuccess: () => fresh("retention") });
}
export function useAgreeToDeletions() {
  const fresh = useFresh();
  return useMutation({ mutationFn: (body: { confirmation: string }) => api.post<RetentionView>("/api/data-governance/retention/agree", { body }), onSuccess: () => fresh("retention") });
}
export const useErasure = (id: string) => useQuery({ queryKey: ["erasure", id], queryFn: ({ signal }) => api.get<ErasureView>(`/api/users/${id}/erasure`, { signal }), staleTime: 0 });
export function useErase() {
  const fresh = useFresh();
  return useMutation({ mutationFn: ({ id, confirmation }: { id: string; confirmation: string }) => api.post<Erasure>(`/api/users/${id}/erasure`, { body: { confirmation } }), onSuccess: () => fresh("users", "erasure") });
}
