import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../client";
import type { DataCheck, DataChecked, DataRules, DataRulesView, Standard } from "../types";

export const useDataRules = () => useQuery({ queryKey: ["data-rules"], queryFn: ({ signal }) => api.get<DataRulesView>("/api/data-governance/policies", { signal }) });
/** They change with the program only. */
export const useStandards = () => useQuery({ queryKey: ["standards"], queryFn: ({ signal }) => api.get<Standard[]>("/api/data-governance/references", { signal }), staleTime: Infinity });
export function useReplaceDataRules() {
  const client = useQueryClient();
  return useMutation({ mutationFn: (body: DataRules) => api.put<DataRulesView>("/api/data-governance/policies", { body }), onSuccess: (now) => client.setQueryData(["data-rules"], now) });
}
export const useCheckData = () => useMutation({ mutationFn: (body: DataCheck) => api.post<DataChecked>("/api/data-governance/check", { body }) });
