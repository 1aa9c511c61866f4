import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { ToolRules, ToolRulesView } from "../types";
import { useFresh } from "./core";

export const useToolRules = () => useQuery({ queryKey: ["tool-rules"], queryFn: ({ signal }) => api.get<ToolRulesView>("/api/policies/tools", { signal }) });
export function useReplaceToolRules() {
  const fresh = useFresh();
  return useMutation({ mutationFn: (body: ToolRules) => api.put<ToolRulesView>("/api/policies/tools", { body }), onSettled: () => fresh("tool-rules") });
}
