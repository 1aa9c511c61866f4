// How far the documents of a draft have come: a question waits until each is found at least by its words.
import { useQueries } from "@tanstack/react-query";
import { documentQuery } from "@/api/hooks";
import type { DocumentDetails } from "@/api/types";
import type { Attached } from "./stored";

type Read = Pick<DocumentDetails, "status" | "chunks">;

/** Nothing of it is found yet. */
export const isOpen = (document: Read | undefined): boolean => document === undefined || (document.status === "waiting" && document.chunks === 0);
/** Nothing of it will be found. */
export const hasFailed = (document: Read | undefined): boolean => document?.status === "failed" && document.chunks === 0;

/** Whether something of the documents still has to be read, and whether one can't be. */
export function useReading(files: readonly Attached[]): { open: boolean; failed: boolean } {
  return useQueries({
    queries: files.flatMap((file) => (file.document ? [documentQuery(file.document)] : [])),
    combine: (all) => ({ open: all.some((one) => !one.isError && isOpen(one.data)), failed: all.some((one) => one.isError || hasFailed(one.data)) }),
  });
}
