import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { Agent, AgentInput, Page, PromptPreview, Tool } from "../types";
import { useFresh, usePaged } from "./core";

export const useAgents = (query: { q?: string } = {}) => usePaged<Agent>(["agents"], "/api/agents", query, { limit: 100 });
export const useAgent = (id: string | undefined) =>
  useQuery({ queryKey: ["agent", id], queryFn: ({ signal }) => api.get<Agent>(`/api/agents/${id}`, { signal }), enabled: !!id });
export const useTools = () => useQuery({ queryKey: ["tools"], queryFn: async ({ signal }) => (await api.get<Page<Tool>>("/api/tools", { query: { limit: 100 }, signal })).items, staleTime: 60_000 });
/** The prompt as it would be sent; pass debounced input. */
export const usePromptPreview = (agent: AgentInput | null, input?: string) =>
  useQuery({
    queryKey: ["preview", agent, input],
    queryFn: ({ signal }) => api.post<PromptPreview>("/api/agents/preview", { body: { agent, ...(input ? { input } : {}) }, signal }),
    enabled: agent !== null,
    placeholderData: (previous) => previous,
    retry: false,
  });
export function useAgentActions() {
  const fresh = useFresh();
  const after = () => fresh("agents", "agent");
  return {
    create: useMutation({ mutationFn: (body: AgentInput) => api.post<Agent>("/api/agents", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: AgentInput & { id: string }) => api.put<Agent>(`/api/agents/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/agents/${id}`), onSuccess: after }),
    restore: useMutation({ mutationFn: (id: string) => api.post<Agent>(`/api/agents/${id}/restore`), onSuccess: after }),
  };
}
