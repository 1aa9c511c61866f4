// The run's log as the browser gets it: the union of its events, and the stream.
import { authorized, problemOf } from "./client";
import type { components } from "./schema";

type S = components["schemas"];

export type Purpose = S["Purpose"];
export type Attempt = S["Attempt"];
export type Answered = S["Answered"];
export type Noticed = S["Noticed"];
export type DeepStep = S["DeepStep"];
export type DeepEnd = S["StepEnd"];
export type Usage = S["Usage"];
export type ToolCall = S["ToolCall"];
export type Receipt = S["Receipt"];
export type Undo = S["EffectUndo"];
export type Message = S["ModelMessage"];
export type Score = S["Score"];
export type Candidate = S["Candidate"];
export type Setup = S["RunSetup"];
export type Taint = S["Taint"];
export type ToolOutcome = S["ToolResult"];

/** What happened, by `type`. A newer server may send types that are not here; they are kept and not understood. */
export type EventBody = S["EventBody"];
/** The body of one type. */
export type Of<T extends EventBody["type"]> = Extract<EventBody, { type: T }>;
export type RunEvent = { run_id: string; seq: number; at: number; epoch: number } & EventBody;

/** One record of a `text/event-stream`. */
export type SseRecord = { id: string | null; event: string; data: string };

/** Splits a `text/event-stream` into records as its text comes in. Give it every piece; it returns what is complete. */
export function sseParser(): (piece: string) => SseRecord[] {
  let rest = "";
  return (piece) => {
    rest += piece;
    const records: SseRecord[] = [];
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(rest);
      if (!end) return records;
      const block = rest.slice(0, end.index);
      rest = rest.slice(end.index + end[0].length);
      let id: string | null = null;
      let event = "message";
      const data: string[] = [];
      for (const line of block.split(/\r\n|\n|\r/)) {
        if (line === "" || line.startsWith(":")) continue;
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "id") id = value;
        else if (field === "event") event = value;
        else if (field === "data") data.push(value);
      }
      if (data.length > 0) records.push({ id, event, data: data.join("\n") });
    }
  };
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Longest silence before a stream counts as dead, ms. The server sends a comment every 15 s. */
const SILENCE = 40_000;

export type StreamState = "connecting" | "live" | "waiting";
type StreamOptions = {
  path: string;
  /** Called for each record with data, in order. */
  onRecord: (record: SseRecord) => void;
  /** Where to go on: sent as `Last-Event-ID`. */
  lastId: () => string | null;
  /** Whether nothing more can come. Asked when the server ends the stream. */
  done: () => boolean;
  onState?: (state: StreamState) => void;
  /** An answer that trying again won't change (403, 404). */
  onFatal?: (error: unknown) => void;
  signal: AbortSignal;
};

/** Reads a stream until `done`, over any number of connections: cut, it resumes where it was, with a growing pause. */
export async function readStream(options: StreamOptions): Promise<void> {
  const { signal } = options;
  let failures = 0;
  while (!signal.aborted) {
    options.onState?.("connecting");
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    signal.addEventListener("abort", abort, { once: true });
    let alive = setTimeout(abort, SILENCE);
    try {
      const last = options.lastId();
      const response = await authorized(options.path, {
        headers: { accept: "text/event-stream", ...(last ? { "last-event-id": last } : {}) },
        signal: attempt.signal,
      });
      if (!response.ok || !response.body) {
        const problem = await problemOf(response);
        if (response.status >= 400 && response.status < 500 && response.status !== 429 && response.status !== 401) {
          options.onFatal?.(problem);
          return;
        }
        throw problem;
      }
      options.onState?.("live");
      const feed = sseParser();
      const text = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(alive);
        if (done) break;
        alive = setTimeout(abort, SILENCE);
        failures = 0;
        for (const record of feed(text.decode(value, { stream: true }))) options.onRecord(record);
      }
      if (options.done()) return;
      failures += 1;
    } catch {
      if (signal.aborted) return;
      failures += 1;
    } finally {
      clearTimeout(alive);
      signal.removeEventListener("abort", abort);
      attempt.abort();
    }
    options.onState?.("waiting");
    const wait = Math.min(10_000, 250 * 2 ** Math.min(failures - 1, 6));
    await pause(wait * (0.75 + Math.random() / 2), signal);
  }
}
