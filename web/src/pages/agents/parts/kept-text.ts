// A text that an agent may change while a person does.
import type { KeptText } from "@/api/types";

/** What is shown; `behind`: the agent has changed the text since the draft was begun at `version`. */
export function startOf(kept: KeptText, draft: string | null, version: number): { text: string; dirty: boolean; behind: boolean } {
  const dirty = draft !== null && draft.trim() !== kept.text;
  return { text: draft ?? kept.text, dirty, behind: dirty && kept.version !== version };
}

/** A value of a table as text; what is no text is written as JSON. */
export const cellText = (value: unknown): string => (value === null || value === undefined ? "NULL" : typeof value === "string" ? value : JSON.stringify(value));
