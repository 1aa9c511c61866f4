// Keeps lists fresh from `/api/events`, and knows whether the server is there.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { readStream, type StreamState } from "@/api/events";

let state: StreamState = "connecting";
const listeners = new Set<() => void>();
const setState = (next: StreamState) => {
  if (next === state) return;
  state = next;
  for (const listener of listeners) listener();
};
/** Whether the server's live stream is connected. */
export const useLiveState = () => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => state);

const touched: Record<string, string[]> = {
  "run.started": ["runs", "conversations"],
  "run.finished": ["runs", "run", "conversations", "conversation", "approvals"],
  "approval.requested": ["approvals", "runs", "run"],
  "approval.decided": ["approvals", "approval", "runs", "run", "grants"],
  "tool.undone": ["runs", "run"],
};

/** Invalidates what events touch, at most twice a second. */
function freshener(client: QueryClient) {
  const names = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (type: string) => {
    for (const name of touched[type] ?? []) names.add(name);
    timer ??= setTimeout(() => {
      timer = undefined;
      for (const name of names) void client.invalidateQueries({ queryKey: [name] });
      names.clear();
    }, 400);
  };
}

export function useLiveLists(enabled: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!enabled) return;
    const stop = new AbortController();
    const fresh = freshener(client);
    let wasAway = false;
    void readStream({
      path: "/api/events",
      signal: stop.signal,
      lastId: () => null,
      done: () => false,
      onRecord: (record) => fresh(record.event),
      onState: (next) => {
        if (next === "waiting") wasAway = true;
        // What happened meanwhile was not told.
        if (next === "live" && wasAway) {
          wasAway = false;
          void client.invalidateQueries();
        }
        if (next !== "connecting") setState(next);
      },
    });
    return () => stop.abort();
  }, [client, enabled]);
}
