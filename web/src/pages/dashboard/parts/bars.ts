// The numbers behind the drawing of runs.
import type { RunsInTime } from "@/api/types";

export type Bar = { at: number; parts: [completed: number, failed: number, other: number]; sum: number };

export const barsOf = (runs: readonly RunsInTime[]): Bar[] => runs.map((step) => ({ at: step.at, parts: [step.completed, step.failed, step.other], sum: step.completed + step.failed + step.other }));

/** The share of ended runs that failed, in percent; `null`: none has ended. */
export function failedShare(completed: number, failed: number): number | null {
  const ended = completed + failed;
  return ended === 0 ? null : Math.round((failed / ended) * 100);
}
