import { type InfiniteData, type QueryKey, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../client";
import type { Page } from "../types";

type Query = Record<string, string | number | boolean | null | undefined>;

/** Between two looks at what changes by itself, ms. */
export const POLL = 2_000;

/** A list by pages. `items` are all that were loaded; `more()` loads the next page. */
export function usePaged<T>(key: QueryKey, path: string, query: Query = {}, options: { enabled?: boolean; limit?: number; /** Asks again every 2 s while this holds of what was loaded. */ unsettled?: (items: T[]) => boolean; /** Asks again each so many ms, whatever was loaded. */ every?: number } = {}) {
  const result = useInfiniteQuery<Page<T>, Error, InfiniteData<Page<T>>, QueryKey, string | null>({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) => api.get<Page<T>>(path, { query: { ...query, limit: options.limit ?? 30, cursor: pageParam }, signal }),
    initialPageParam: null,
    getNextPageParam: (last) => last.next_cursor,
    enabled: options.enabled ?? true,
    refetchInterval: ({ state }) => (options.unsettled?.(state.data?.pages.flatMap((page) => page.items) ?? []) ? POLL : (options.every ?? false)),
  });
  return {
    items: result.data?.pages.flatMap((page) => page.items) ?? [],
    isLoading: result.isLoading,
    isFetching: result.isFetching,
    error: result.error,
    hasMore: result.hasNextPage,
    loadingMore: result.isFetchingNextPage,
    more: () => void result.fetchNextPage(),
    retry: () => void result.refetch(),
  };
}
export type Paged<T> = ReturnType<typeof usePaged<T>>;

/** A whole list, page by page: for looking through, not for showing. `pages`: the most that are asked for. */
export async function allOf<T>(path: string, query: Query, signal: AbortSignal, pages = 20): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let n = 0; n < pages && (n === 0 || cursor); n++) {
    const page: Page<T> = await api.get<Page<T>>(path, { query: { ...query, limit: 100, cursor }, signal });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

/** Invalidates lists after a write: `const fresh = useFresh(); fresh("runs", "approvals")`. */
export function useFresh() {
  const client = useQueryClient();
  return (...names: string[]) => Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [name] })));
}
