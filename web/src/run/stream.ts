// A run's view in React: its events from the stream, folded once a frame, over any number of connections.
import { useEffect, useState } from "react";
import { readStream, type RunEvent, type StreamState } from "@/api/events";
import { fold } from "./fold";
import { emptyRun, type RunView } from "./view";

export type RunStream = { view: RunView; state: StreamState; error: unknown };

/** Views of runs that were read to their end; they don't change but by an undo. */
const finished = new Map<string, RunView>();
const KEEP = 60;
/** An effect of this run was undone, here or elsewhere: what is kept of it is not all any more. */
export const forgetRun = (id: string) => void finished.delete(id);

/** Follows a run from its first event, or from where the last reading ended. `again` reads what came after the end (an undo). */
export function useRunStream(id: string, again = 0): RunStream {
  const [stream, setStream] = useState<RunStream>(() => ({ view: finished.get(id) ?? emptyRun(id), state: "connecting", error: null }));
  useEffect(() => {
    const stop = new AbortController();
    let view = finished.get(id) ?? emptyRun(id);
    let state: StreamState = "connecting";
    let error: unknown = null;
    let waiting: RunEvent[] = [];
    let frame = 0;
    const show = () => {
      frame = 0;
      const events = waiting;
      waiting = [];
      view = fold(view, events);
      if (view.status === "finished") {
        finished.delete(id);
        finished.set(id, view);
        for (const old of [...finished.keys()].slice(0, -KEEP)) finished.delete(old);
      }
      setStream({ view, state, error });
    };
    // A hidden tab gets no animation frames: a timer then, so that a title or badge stays true.
    const soon = () => {
      if (!frame) frame = document.hidden ? window.setTimeout(show, 250) : requestAnimationFrame(show);
    };
    setStream({ view, state, error });
    if (view.status === "finished" && again === 0) return;
    let last = view.seq;
    let ended = view.status === "finished";
    void readStream({
      path: `/api/runs/${id}/events`,
      signal: stop.signal,
      lastId: () => (last > 0 ? String(last) : null),
      done: () => ended,
      onRecord: (record) => {
        const event = JSON.parse(record.data) as RunEvent;
        if (event.seq <= last) return;
        last = event.seq;
        ended = ended || event.type === "run.finished";
        waiting.push(event);
        soon();
      },
      onState: (next) => {
        state = next;
        soon();
      },
      onFatal: (problem) => {
        error = problem;
        soon();
      },
    });
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
      clearTimeout(frame);
    };
  }, [id, again]);
  return stream;
}
