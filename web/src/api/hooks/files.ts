import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../client";
import type { FileOrigin, SentFile } from "../types";
import { useFresh, usePaged } from "./core";

/** What people sent into the workspace, by path: one's own; to operators everybody's. */
export const useSentFiles = () => usePaged<SentFile>(["uploads"], "/api/files/uploads");
/** Which of the workspace's files come from outside, for operators; all of them, 5,000 at most. */
export const useFileOrigins = () => useQuery({ queryKey: ["file-origins"], queryFn: ({ signal }) => api.get<FileOrigin[]>("/api/files/origins", { signal }) });

export function useFileActions() {
  const fresh = useFresh();
  return {
    remove: useMutation({ mutationFn: (path: string) => api.delete("/api/files", { query: { path } }), onSuccess: () => fresh("uploads") }),
    // The path of the whole workspace is empty, and has to be sent too.
    clearOrigin: useMutation({ mutationFn: (path: string) => api.delete(`/api/files/origins?${new URLSearchParams({ path })}`), onSuccess: () => fresh("file-origins") }),
  };
}
