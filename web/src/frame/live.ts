// Keeps lists fresh from `/api/events`, and knows whether the server is there. A browser opens six
// connections to a server at most, so one tab reads the stream and tells the others.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { forgetRun } from "@/run/stream";
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
  "run.started": ["runs", "conversations", "schedules", "schedule", "schedule-occurrences", "webhooks", "webhook", "webhook-deliveries", "webhook-delivery"],
  "run.finished": ["runs", "run", "conversations", "conversation", "approvals", "usage", "budgets", "connection-health", "credentials", "credential", "credential-uses", "schedules", "schedule", "schedule-occurrences", "webhooks", "webhook", "webhook-deliveries", "webhook-delivery", "file-origins", "mcp-servers", "mcp-server"],
  "approval.requested": ["approvals", "runs", "run", "conversations"],
  "approval.decided": ["approvals", "approval", "runs", "run", "grants", "conversations"],
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

type Told = { type: string; run?: string } | { state: StreamState; missed: boolean };

/** Waits for its turn to be the tab that reads; `done` ends its turn. Without locks every tab reads. */
async function whenAlone(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  if (!navigator.locks) return work();
  // An abort while waiting is no failure.
  await navigator.locks.request("steward.live", { signal }, work).catch(() => {});
}

export function useLiveLists(enabled: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!enabled) return;
    const stop = new AbortController();
    const fresh = freshener(client);
    const channel = new BroadcastChannel("steward.live");
    const hear = (told: Told) => {
      if ("type" in told) {
        if (told.type === "tool.undone" && told.run) forgetRun(told.run);
        return fresh(told.type);
      }
      setState(told.state);
      // What happened meanwhile was not told.
      if (told.missed) void client.invalidateQueries();
    };
    const tell = (told: Told) => {
      hear(told);
      if (!stop.signal.aborted) channel.postMessage(told);
    };
    channel.onmessage = (message: MessageEvent<Told>) => hear(message.data);
    let away = false;
    void whenAlone(stop.signal, () =>
      readStream({
        path: "/api/events",
        signal: stop.signal,
        lastId: () => null,
        done: () => false,
        onRecord: (record) => tell({ type: record.event, run: (JSON.parse(record.data) as { run_id: string }).run_id }),
        onState: (next) => {
          if (next === "connecting") return;
          tell({ state: next, missed: next === "live" && away });
          away = next === "waiting";
        },
      }),
    );
    return () => {
      stop.abort();
      channel.close();
    };
  }, [client, enabled]);
}
