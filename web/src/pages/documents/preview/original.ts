// The file of a document as it was handed in. The server gives it as bytes to an authorized request only.
import { useQuery } from "@tanstack/react-query";
import { authorized, problemOf } from "@/api/client";

/** Greatest file that a page holds in memory, bytes. */
const MOST = 100 << 20;

export type Original = { blob: Blob } | { tooLarge: number };

async function originalOf(id: string, signal: AbortSignal): Promise<Original> {
  const response = await authorized(`/api/documents/${id}/content`, { signal });
  if (!response.ok) throw await problemOf(response);
  const bytes = Number(response.headers.get("content-length"));
  if (bytes > MOST) {
    await response.body?.cancel();
    return { tooLarge: bytes };
  }
  return { blob: await response.blob() };
}

/** `version`: what changes with its content. */
export const useOriginal = (id: string, version: string) => useQuery({ queryKey: ["document", id, "original", version], queryFn: ({ signal }) => originalOf(id, signal), staleTime: Number.POSITIVE_INFINITY, gcTime: 60_000, retry: false });
