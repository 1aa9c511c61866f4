// Fields of a request: what is filled in each time.

/** Of those with dots, what follows the dot is an example, which is marked once they are put in. */
export const FIELDS = ["payload", "payload.issue.title", "header.x-github-event", "event", "hook", "received"] as const;
export type RequestField = (typeof FIELDS)[number];

/** How a field is offered: `{{payload.…}}`. */
export const offered = (field: RequestField): string => `{{${field.replace(/\..*/, ".…")}}}`;

/** `text` with a field in the place of what is marked in it, and what is marked then. */
export function insertField(text: string, from: number, to: number, field: RequestField): { text: string; from: number; to: number } {
  const end = from + 2 + field.length;
  const dot = field.indexOf(".");
  const next = `${text.slice(0, from)}{{${field}}}${text.slice(to)}`;
  return dot < 0 ? { text: next, from: end + 2, to: end + 2 } : { text: next, from: from + 2 + dot + 1, to: end };
}
