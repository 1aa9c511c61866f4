import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import { showTurns } from "../turns";
import type { Approval, Decide, Decided, Page, StandingGrant } from "../types";
import { useFresh, usePaged } from "./core";

export function useApprovals(query: { status?: "open" | "closed" | "all"; run_id?: string } = {}) {
  const paged = usePaged<Approval>(["approvals"], "/api/approvals", query);
  return { ...paged, items: paged.items.map(showTurns) };
}
export const useApproval = (id: string | undefined) =>
  useQuery({ queryKey: ["approval", id], queryFn: async ({ signal }) => showTurns(await api.get<Approval>(`/api/approvals/${id}`, { signal })), enabled: !!id });
/** How many wait, for the badge; at most 100 are counted. */
export const useOpenApprovals = () =>
  useQuery({ queryKey: ["approvals", "open-count"], queryFn: async ({ signal }) => (await api.get<Page<Approval>>("/api/approvals", { query: { status: "open", limit: 100 }, signal })).items.length });
export function useDecide() {
  const fresh = useFresh();
  return useMutation({
    mutationFn: ({ id, ...body }: Decide & { id: string }) => api.post<Decided>(`/api/approvals/${id}/decide`, { body }),
    onSettled: () => fresh("approvals", "approval", "runs", "run", "grants"),
  });
}

export const useGrants = (agent_id?: string) => usePaged<StandingGrant>(["grants"], "/api/grants", { agent_id });
export function useRevokeGrant() {
  const fresh = useFresh();
  return useMutation({ mutationFn: (id: string) => api.delete(`/api/grants/${id}`), onSuccess: () => fresh("grants") });
}
