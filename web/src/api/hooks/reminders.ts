import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { Reminder } from "../types";
import { allOf, useFresh } from "./core";

/** How often is looked for what has become due. */
const LOOK = 20_000;

/** Those that are not done, earliest first. */
export const useReminders = () =>
  useQuery({ queryKey: ["reminders"], queryFn: ({ signal }) => allOf<Reminder>("/api/reminders", {}, signal), refetchInterval: LOOK, refetchIntervalInBackground: true });
export function useReminderActions() {
  const fresh = useFresh();
  const after = () => fresh("reminders");
  const path = (id: string) => `/api/reminders/${encodeURIComponent(id)}`;
  return {
    change: useMutation({ mutationFn: ({ id, ...body }: { id: string; done?: boolean; at?: number }) => api.patch<Reminder>(path(id), { body }), onSettled: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(path(id)), onSettled: after }),
  };
}
