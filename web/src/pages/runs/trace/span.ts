// Where a step lies on the run's time axis. Parked time is squeezed: a run may wait for weeks.
import type { Trace } from "./nodes";

export type Axis = {
  /** Share of the axis, 0 to 1, at a time. */
  at: (time: number) => number;
  /** Squeezed stretches, as shares of the axis. */
  gaps: { from: number; to: number; ms: number }[];
};

/** Share of the axis that all waiting together takes at most, if there was work too. */
const GAP = 0.04;

/** The axis of a trace; `now` is where a run at work ends. */
export function axisOf(trace: Trace, now: number): Axis {
  const from = trace.firstAt;
  const until = Math.max(trace.finish ? trace.finish.at : now, from + 1);
  const waits = trace.parked
    .map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to ?? until, until) }))
    .filter((span) => span.to > span.from);
  const waited = waits.reduce((sum, span) => sum + span.to - span.from, 0);
  const worked = Math.max(1, until - from - waited);
  const gap = Math.min(GAP, 0.4 / Math.max(1, waits.length));
  const shares = waits.map((span) => Math.min(gap, (span.to - span.from) / (until - from)));
  const work = 1 - shares.reduce((sum, share) => sum + share, 0);
  const at = (time: number): number => {
    const clamped = Math.min(Math.max(time, from), until);
    let busy = clamped - from;
    let share = 0;
    waits.forEach((span, index) => {
      const inside = Math.min(clamped, span.to) - span.from;
      if (inside <= 0) return;
      busy -= inside;
      share += (shares[index] ?? 0) * (inside / (span.to - span.from));
    });
    return share + (busy / worked) * work;
  };
  return { at, gaps: waits.map((span) => ({ from: at(span.from), to: at(span.to), ms: span.to - span.from })) };
}

/** How long all parked time was, up to `now`. */
export const waitedMs = (trace: Trace, now: number): number =>
  trace.parked.reduce((sum, span) => sum + Math.max(0, (span.to ?? now) - span.from), 0);
