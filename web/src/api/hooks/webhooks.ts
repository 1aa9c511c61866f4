import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../client";
import type { Hook, HookDelivery, HookDeliveryContent, HookInput, HookPreview, HookPreviewInput, HookWithSecret } from "../types";
import { useFresh, usePaged } from "./core";

export type HookQuery = { mine?: boolean; agent_id?: string; deleted?: boolean };

/** Between two looks: calls that are skipped or refused are told by no event, ms. */
const LOOK = 10_000;

const waits = (one: HookDelivery | null) => one?.status === "waiting";

export const useHooks = (query: HookQuery = {}) => usePaged<Hook>(["webhooks"], "/api/hooks", query, { every: LOOK, unsettled: (items) => items.some((one) => waits(one.last)) });
export const useHook = (id: string) => useQuery({ queryKey: ["webhook", id], queryFn: ({ signal }) => api.get<Hook>(`/api/hooks/${id}`, { signal }), refetchInterval: LOOK });
/** The latest first. */
export const useDeliveries = (id: string) => usePaged<HookDelivery>(["webhook-deliveries", id], `/api/hooks/${id}/deliveries`, {}, { every: LOOK, unsettled: (items) => items.some(waits) });
/** With what was sent. */
export const useDelivery = (hook: string, id: string) => useQuery({ queryKey: ["webhook-delivery", hook, id], queryFn: ({ signal }) => api.get<HookDeliveryContent>(`/api/hooks/${hook}/deliveries/${id}`, { signal }) });

const OF_ONE = ["webhooks", "webhook", "webhook-deliveries"];

/** Makes webhooks and adds secrets. No mutations: the query cache would hold on to the secrets. `null`: it failed, see `error`. */
export function useHookWriter() {
  const fresh = useFresh();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const write = async (path: string, body: unknown): Promise<HookWithSecret | null> => {
    setBusy(true);
    setError(null);
    try {
      const made = await api.post<HookWithSecret>(path, { body, idempotencyKey: newKey() });
      void fresh(...OF_ONE);
      return made;
    } catch (problem) {
      setError(problem);
      return null;
    } finally {
      setBusy(false);
    }
  };
  return {
    busy,
    error,
    reset: () => setError(null),
    create: (body: HookInput) => write("/api/hooks", body),
    /** `null`: one is made. */
    addSecret: (id: string, secret: string | null) => write(`/api/hooks/${id}/secrets`, { secret }),
  };
}

export function useHookActions() {
  const fresh = useFresh();
  const after = () => fresh(...OF_ONE);
  return {
    update: useMutation({ mutationFn: ({ id, ...body }: Omit<HookInput, "secret"> & { id: string }) => api.put<Hook>(`/api/hooks/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/hooks/${id}`), onSuccess: after }),
    restore: useMutation({ mutationFn: (id: string) => api.post<Hook>(`/api/hooks/${id}/restore`), onSuccess: after }),
    pause: useMutation({ mutationFn: ({ id, note }: { id: string; note: string }) => api.post<Hook>(`/api/hooks/${id}/pause`, { body: { note } }), onSuccess: after }),
    resume: useMutation({ mutationFn: (id: string) => api.post<Hook>(`/api/hooks/${id}/resume`), onSuccess: after }),
    removeSecret: useMutation({ mutationFn: ({ id, secret }: { id: string; secret: string }) => api.delete<Hook>(`/api/hooks/${id}/secrets/${secret}`), onSuccess: after }),
    preview: useMutation({ mutationFn: ({ id, ...body }: HookPreviewInput & { id: string }) => api.post<HookPreview>(`/api/hooks/${id}/preview`, { body }) }),
    /** Takes what was sent as if it came once more. */
    replay: useMutation({ mutationFn: ({ id, delivery }: { id: string; delivery: string }) => api.post<HookDelivery>(`/api/hooks/${id}/deliveries/${delivery}/replay`), onSuccess: after }),
  };
}
