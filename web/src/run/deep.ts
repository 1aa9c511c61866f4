// A deep plan: steps that a run carries along while it works. Folded from its events, for the chat and for the trace.
import type { DeepEnd, DeepStep, Of } from "@/api/events";

export type DeepVersion = {
  steps: DeepStep[];
  style: string;
  by: string;
  notes: string[];
  /** Why the plan before it was given up; `null` for the first. */
  reason: string | null;
  /** How steps ended, by their numbers. */
  ends: Record<number, { status: DeepEnd; why: string; callId: string | null; at: number }>;
};
export type DeepState = "open" | "work" | DeepEnd;

export const versionOf = (event: Of<"deep.planned"> | Of<"deep.replanned">): DeepVersion => ({
  steps: event.steps ?? [], style: event.style, by: event.by, notes: event.notes ?? [], reason: event.type === "deep.replanned" ? event.reason : null, ends: {},
});

/** The version with one step ended; as it is, if that step has ended already or does not exist. */
export function ended(version: DeepVersion, event: Of<"deep.step"> & { at: number }): DeepVersion {
  if (version.ends[event.number] || !version.steps.some((step) => step.number === event.number)) return version;
  return { ...version, ends: { ...version.ends, [event.number]: { status: event.status, why: event.why ?? "", callId: event.call_id ?? null, at: event.at } } };
}

/** Where each step stands. While the run works, the first open one with all it needs is at work. */
export function statesOf(version: DeepVersion, working: boolean): Map<number, DeepState> {
  const out = new Map<number, DeepState>();
  let current = !working;
  for (const step of version.steps) {
    const end = version.ends[step.number]?.status;
    const ready = (step.depends_on ?? []).every((number) => version.ends[number]?.status === "done");
    if (end) out.set(step.number, end);
    else if (!current && ready) {
      out.set(step.number, "work");
      current = true;
    } else out.set(step.number, "open");
  }
  return out;
}

/** How many steps are done. */
export const doneOf = (version: DeepVersion): number => Object.values(version.ends).filter((end) => end.status === "done").length;
