// Not among the others of `@/api/hooks`: only the page of webhooks asks, which keeps this out of the main bundle.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../client";
import type { Dispatch, Subscription, SubscriptionInput, SubscriptionWithSecret } from "../types";
import { useFresh, usePaged } from "./core";

export type SubscriptionQuery = { mine?: boolean; deleted?: boolean };

/** Between two looks: messages are told by no event, ms. */
const LOOK = 10_000;
/** What is tried within this is looked at more often, ms. While a try goes on, the next one is two minutes ahead. */
const SOON = 150_000;

const soon = (one: Dispatch | null) => one?.status === "waiting" && (one.next_at ?? 0) - Date.now() < SOON;

export const useSubscriptions = (query: SubscriptionQuery = {}) => usePaged<Subscription>(["subscriptions"], "/api/subscriptions", query, { every: LOOK, unsettled: (items) => items.some((one) => soon(one.last)) });
export const useSubscription = (id: string) => useQuery({ queryKey: ["subscription", id], queryFn: ({ signal }) => api.get<Subscription>(`/api/subscriptions/${id}`, { signal }), refetchInterval: LOOK });
/** The latest first. `failed`: only what was given up. */
export const useDispatches = (id: string, failed: boolean) => usePaged<Dispatch>(["subscription-messages", id], `/api/subscriptions/${id}/messages`, { ...(failed && { failed }) }, { every: LOOK, unsettled: (items) => items.some(soon) });

const OF_ONE = ["subscriptions", "subscription", "subscription-messages"];

/** Makes and changes subscriptions. No mutations: the query cache would hold on to addresses, tokens and secrets. `null`: it failed, see `error`. */
export function useSubscriptionWriter() {
  const fresh = useFresh();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const write = async <R>(act: () => Promise<R>): Promise<R | null> => {
    setBusy(true);
    setError(null);
    try {
      const answer = await act();
      void fresh(...OF_ONE);
      return answer;
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
    create: (body: SubscriptionInput) => write(() => api.post<SubscriptionWithSecret>("/api/subscriptions", { body, idempotencyKey: newKey() })),
    replace: (id: string, body: SubscriptionInput) => write(() => api.put<Subscription>(`/api/subscriptions/${id}`, { body })),
    addSecret: (id: string) => write(() => api.post<SubscriptionWithSecret>(`/api/subscriptions/${id}/secrets`, { idempotencyKey: newKey() })),
  };
}

export function useSubscriptionActions() {
  const fresh = useFresh();
  const after = () => fresh(...OF_ONE);
  return {
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/subscriptions/${id}`), onSuccess: after }),
    restore: useMutation({ mutationFn: (id: string) => api.post<Subscription>(`/api/subscriptions/${id}/restore`), onSuccess: after }),
    pause: useMutation({ mutationFn: ({ id, note }: { id: string; note: string }) => api.post<Subscription>(`/api/subscriptions/${id}/pause`, { body: { note } }), onSuccess: after }),
    resume: useMutation({ mutationFn: (id: string) => api.post<Subscription>(`/api/subscriptions/${id}/resume`), onSuccess: after }),
    removeSecret: useMutation({ mutationFn: ({ id, secret }: { id: string; secret: string }) => api.delete<Subscription>(`/api/subscriptions/${id}/secrets/${secret}`), onSuccess: after }),
    /** The message of the test, which is on its way. */
    test: useMutation({ mutationFn: (id: string) => api.post<Dispatch>(`/api/subscriptions/${id}/test`), onSuccess: after }),
    /** With the same id. */
    sendAgain: useMutation({ mutationFn: ({ id, message }: { id: string; message: string }) => api.post<Dispatch>(`/api/subscriptions/${id}/messages/${message}/send`), onSuccess: after }),
  };
}
