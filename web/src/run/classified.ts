// The most confidential that a run has seen: what it began with, met itself, or heard from a run that it delegated to.
import type { RunEvent } from "@/api/events";
import type { Classification, Classified } from "@/api/types";

/** Each is above those before it. */
export const LEVELS: readonly Classification[] = ["public", "internal", "confidential", "restricted"];

/** What of confidential data an event brings into its run; `null`: none. */
export function classifiedIn(event: RunEvent): Classified | null {
  switch (event.type) {
    case "run.started":
      return event.setup.classified ?? null;
    case "data.classified":
      return { classification: event.classification, label: event.label, source: event.source };
    case "run.returned":
      return event.classified ?? null;
    default:
      return null;
  }
}

/** The higher of two, the earlier of equals. A level that is newer than the studio is above those it knows. */
export function higher(one: Classified | null, other: Classified | null): Classified | null {
  if (!one || !other) return one ?? other;
  const rank = ({ classification }: Classified) => (LEVELS.includes(classification) ? LEVELS.indexOf(classification) : LEVELS.length);
  return rank(other) > rank(one) ? other : one;
}
