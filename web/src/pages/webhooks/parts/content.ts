// What a sender sent, as it is shown and typed.

/** JSON with a line for each part; numbers and texts stay as they were written. Other text as it is. */
export function indented(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const parts = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  let out = "";
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  parts.forEach((part, at) => {
    const opens = part === "{" || part === "[";
    const closes = part === "}" || part === "]";
    const empty = closes && (parts[at - 1] === "{" || parts[at - 1] === "[");
    if (closes) depth -= 1;
    if (closes && !empty) out += line();
    out += part === ":" ? ": " : part;
    if (opens) depth += 1;
    if ((opens && parts[at + 1] !== "}" && parts[at + 1] !== "]") || part === ",") out += line();
  });
  return out;
}

/** Headers as one types them, `name: value` on each line. `null`: a line isn't one. */
export function readHeaders(text: string): Record<string, string> | null {
  const out: Record<string, string> = {};
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const at = line.indexOf(":");
    if (at < 1 || /\s/.test(line.slice(0, at).trim())) return null;
    out[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim();
  }
  return out;
}

export const writeHeaders = (headers: Record<string, string>): string => Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join("\n");

/** What the sender calls an event, and whether a person had it start once more: the server names such a one `replay {id} of {event}`. `null`: the sender has no name for it, so it is called by the id of its delivery. */
export function eventOf({ id, event }: { id: string; event: string }): { event: string | null; again: boolean } {
  const again = /^replay \S+ of (.*)$/s.exec(event);
  return { event: again ? again[1]! : event === id ? null : event, again: again !== null };
}
