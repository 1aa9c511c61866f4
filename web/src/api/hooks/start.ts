import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { SampleChange, Start } from "../types";
import { useFresh } from "./core";

/** What can be tried in this workspace, in the language of the studio. */
export const useStart = (lang: string) => useQuery({ queryKey: ["start", lang], queryFn: ({ signal }) => api.get<Start>(`/api/start?lang=${lang}`, { signal }) });

/** Adds or removes the sample workspace. */
export function useSample() {
  const fresh = useFresh();
  return useMutation({
    mutationFn: (what: "add" | "remove") => (what === "add" ? api.post<SampleChange>("/api/sample") : api.delete<SampleChange>("/api/sample")),
    onSuccess: () => fresh("start"),
  });
}
