// A run's whole log: what is there, then what comes, over any number of connections.
import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import { type RunEvent, readStream, type StreamState } from "@/api/events";
import type { Page } from "@/api/types";

export type Log = {
  events: RunEvent[];
  /** `done`: the run has ended and all of it is here. */
  state: StreamState | "done";
  error: unknown;
  /** Reads what came after the end: effects that were taken back. */
  more: () => Promise<void>;
  retry: () => void;
};

/** How long events are gathered before they are shown, ms. */
const GATHER = 80;

export function useLog(runId: string): Log {
  const [events, setEvents] = useState<RunEvent[]>([]);
  const [state, setState] = useState<Log["state"]>("connecting");
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const all = useRef<RunEvent[]>([]);

  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    all.current = [];
    setEvents([]);
    setError(null);
    setState("connecting");
    const show = () => {
      timer = undefined;
      setEvents([...all.current]);
      if (ended) setState("done");
    };
    const later = () => (timer ??= setTimeout(show, GATHER));
    void readStream({
      path: `/api/runs/${runId}/events`,
      lastId: () => String(all.current.at(-1)?.seq ?? "") || null,
      done: () => ended,
      onState: (next) => !ended && setState(next),
      onFatal: setError,
      signal: stop.signal,
      onRecord: (record) => {
        const event = JSON.parse(record.data) as RunEvent;
        if (event.seq !== (all.current.at(-1)?.seq ?? 0) + 1) return;
        all.current.push(event);
        if (event.type === "run.finished") ended = true;
        later();
      },
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [runId, attempt]);

  const more = useCallback(async () => {
    for (;;) {
      const after = all.current.at(-1)?.seq ?? 0;
      const page = await api.get<Page<RunEvent>>(`/api/runs/${runId}/log`, { query: { after, limit: 100 } });
      const fresh = page.items.filter((event) => event.seq > (all.current.at(-1)?.seq ?? 0));
      all.current.push(...fresh);
      if (fresh.length === 0) break;
      setEvents([...all.current]);
      if (!page.next_cursor) break;
    }
  }, [runId]);

  return { events, state, error, more, retry: () => setAttempt((n) => n + 1) };
}
