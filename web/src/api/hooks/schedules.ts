import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { useLanguage } from "@/i18n";
import { api } from "../client";
import type { Schedule, ScheduleInput, ScheduleOccurrence, SchedulePreview, SchedulePreviewInput, ScheduleRunStarted } from "../types";
import { useFresh, usePaged } from "./core";

export type ScheduleQuery = { mine?: boolean; agent_id?: string; deleted?: boolean };

/** Between two looks at schedules, which change by themselves, ms. */
const LOOK = 10_000;
/** What is due sooner is looked at more often, ms. */
const SOON = 5_000;

/** Whether something of it changes within moments. */
const isNear = (one: ScheduleOccurrence | null) => one !== null && (one.status === "ran" ? one.outcome === null : one.settled_at === null && one.due < Date.now() + SOON);

/** In the language of the studio. Asks again by itself. */
export function useSchedules(query: ScheduleQuery = {}) {
  const language = useLanguage();
  return usePaged<Schedule>(["schedules"], "/api/schedules", { ...query, language }, { every: LOOK, unsettled: (items) => items.some((one) => isNear(one.last) || (one.next_at !== null && one.next_at < Date.now() + SOON)) });
}
export function useSchedule(id: string) {
  const language = useLanguage();
  return useQuery({ queryKey: ["schedule", id, language], queryFn: ({ signal }) => api.get<Schedule>(`/api/schedules/${id}`, { query: { language }, signal }), refetchInterval: LOOK });
}
/** The latest first, those to come among them. */
export const useOccurrences = (id: string) =>
  usePaged<ScheduleOccurrence>(["schedule-occurrences", id], `/api/schedules/${id}/occurrences`, {}, { every: LOOK, unsettled: (items) => items.some(isNear) });

/** What words or times say, and when they are due next. */
export const previewOptions = (input: SchedulePreviewInput) =>
  queryOptions({ queryKey: ["schedule-preview", input], queryFn: ({ signal }) => api.post<SchedulePreview>("/api/schedules/preview", { body: input, signal }), staleTime: LOOK, retry: false });

export function useScheduleActions() {
  const fresh = useFresh();
  const after = () => fresh("schedules", "schedule", "schedule-occurrences");
  return {
    create: useMutation({ mutationFn: (body: ScheduleInput) => api.post<Schedule>("/api/schedules", { body }), onSuccess: after }),
    update: useMutation({ mutationFn: ({ id, ...body }: ScheduleInput & { id: string }) => api.put<Schedule>(`/api/schedules/${id}`, { body }), onSuccess: after }),
    remove: useMutation({ mutationFn: (id: string) => api.delete(`/api/schedules/${id}`), onSuccess: after }),
    restore: useMutation({ mutationFn: (id: string) => api.post<Schedule>(`/api/schedules/${id}/restore`), onSuccess: after }),
    pause: useMutation({ mutationFn: ({ id, note }: { id: string; note: string }) => api.post<Schedule>(`/api/schedules/${id}/pause`, { body: { note } }), onSuccess: after }),
    resume: useMutation({ mutationFn: (id: string) => api.post<Schedule>(`/api/schedules/${id}/resume`), onSuccess: after }),
    run: useMutation({ mutationFn: (id: string) => api.post<ScheduleRunStarted>(`/api/schedules/${id}/run`), onSuccess: () => fresh("schedules", "schedule", "schedule-occurrences", "runs") }),
  };
}
