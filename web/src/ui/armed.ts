import { useEffect, useState } from "react";

/** How long something must have been shown before a yes or no to it counts, ms: less can't have been read. */
export const READ_FIRST = 600;

/** The same where it takes the place of something just decided, ms: a second press of the same button was meant for that. */
export const READ_NEXT = 1500;

let decidedAt = Number.NEGATIVE_INFINITY;
/** Says that something was decided: what comes in its place is armed later. */
export const noteDecision = (): void => void (decidedAt = performance.now());
/** How long to wait before an answer counts, ms; `since`: how long ago the last decision was. */
export const waitFor = (since: number): number => Math.max(READ_FIRST, READ_NEXT - since);

/** Whether what is shown under `key` has been there long enough to be answered. */
export function useArmed(key: string): boolean {
  const [armed, setArmed] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(key), waitFor(performance.now() - decidedAt));
    return () => clearTimeout(timer);
  }, [key]);
  return armed === key;
}
