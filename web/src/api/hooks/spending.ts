import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { BudgetInput, BudgetState, KeyChange, KeyInput, NewVirtualKey, UsageBy, UsageReport, VirtualKey } from "../types";
import { useFresh, usePaged } from "./core";

/** Sums of usage from `from` up to before `to`, ms since 1970. */
export const useUsage = (by: UsageBy, from: number, to: number) =>
  useQuery({ queryKey: ["usage", by, from, to], queryFn: ({ signal }) => api.get<UsageReport>("/api/usage", { query: { by, from, to }, signal }), placeholderData: (previous, query) => (query?.queryKey[1] === by ? previous : undefined) });

export const useBudgets = () => usePaged<BudgetState>(["budgets"], "/api/budgets", {}, { limit: 100 });
export function useBudgetActions() {
  const fresh = useFresh();
  const after = () => fresh("budgets");
  return {
    create: useMutation({ mutationFn: (body: BudgetInput) => api.post<unknown>("/api/budgets", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: { id: string; tokens: number | null; cost_micros: number | null }) => api.put<unknown>(`/api/budgets/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/budgets/${id}`), onSuccess: after }),
  };
}

export const useKeys = () => usePaged<VirtualKey>(["keys"], "/api/keys");
export function useKeyActions() {
  const fresh = useFresh();
  const after = () => fresh("keys", "budgets");
  return {
    create: useMutation({ mutationFn: (body: KeyInput) => api.post<NewVirtualKey>("/api/keys", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: KeyChange & { id: string }) => api.patch<VirtualKey>(`/api/keys/${id}`, { body }), onSuccess: after }),
    revoke: useMutation({ mutationFn: (id: string) => api.delete(`/api/keys/${id}`), onSuccess: after }),
  };
}
