// Events that the trace shows as one line: such an event needs a row here and a text `note_<its type>` in each language.
import { AlarmClock, BellRing, Compass, CornerDownRight, EyeOff, FoldVertical, Lock, type LucideIcon, OctagonX, PenLine, RotateCcw, SearchCheck, SpellCheck, Square, Undo2, Users } from "lucide-react";
import type { Of, RunEvent } from "./types";

type Row<E> = {
  icon: LucideIcon;
  text: (event: E) => string;
  /** Who did it: a person or an agent. */
  by?: (event: E) => string | null;
  failed?: (event: E) => boolean;
};

function row<T extends RunEvent["type"]>(type: T, rest: Row<Of<T>>): { [K in T]: Row<Of<T>> } {
  return { [type]: rest } as { [K in T]: Row<Of<T>> };
}

export const NOTES = {
  ...row("run.resumed", { icon: RotateCcw, text: (event) => event.node }),
  ...row("run.steered", { icon: CornerDownRight, text: (event) => event.text, by: (event) => event.by }),
  ...row("run.stop_requested", { icon: Square, text: () => "", by: (event) => event.by }),
  ...row("run.delegated", { icon: Users, text: (event) => event.request, by: (event) => event.agent }),
  ...row("data.classified", { icon: Lock, text: (event) => `${event.source} – “${event.label}”, ${event.classification}` }),
  ...row("data.masked", { icon: EyeOff, text: (event) => `${event.connection} – “${event.policy}”: ${event.masked.map((one) => `${one.count} ${one.kind}`).join(", ") || "–"}` }),
  ...row("model.corrected", { icon: SpellCheck, text: (event) => `“${event.words}” – ${event.message}` }),
  ...row("intent.dispatched", { icon: Compass, text: (event) => event.note }),
  ...row("tools.found", { icon: SearchCheck, text: (event) => event.found.map((ranked) => ranked.tool).join(", ") || "–" }),
  ...row("context.compacted", { icon: FoldVertical, text: (event) => [event.replaced || "", event.compaction.summary ?? ""].filter(Boolean).join(": ") }),
  ...row("deep.reminded", { icon: BellRing, text: (event) => event.open.join(", ") }),
  ...row("plan.searched", { icon: SearchCheck, text: (event) => [event.queries.join("; "), event.references.map((one) => `[${one.number}] ${one.name}`).join(", ") || "–"].join(" → ") }),
  ...row("plan.failed", { icon: OctagonX, text: (event) => event.message, failed: () => true }),
  ...row("plan.filled", {
    icon: PenLine,
    text: (event) => `${event.index + 1}: ${"Err" in event.arguments ? event.arguments.Err : JSON.stringify(event.arguments.Ok)}`,
    failed: (event) => "Err" in event.arguments,
  }),
  ...row("tool.undone", { icon: Undo2, text: (event) => event.summary, by: (event) => event.by }),
  ...row("tool.undo_failed", { icon: OctagonX, text: (event) => event.message }),
  ...row("timer.set", { icon: AlarmClock, text: (event) => event.purpose }),
};

export type NoteType = keyof typeof NOTES;

/** The row of an event; `undefined`: it is no such event. */
export function noteRow(event: RunEvent): Row<RunEvent> | undefined {
  return (NOTES as Partial<Record<string, Row<RunEvent>>>)[event.type];
}
