// What changed between two versions, as lines.

/** A value as indented lines; texts of several lines stand as they are. */
export function linesOf(value: unknown, indent = ""): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [`${indent}[]`] : value.flatMap((one) => under(`${indent}-`, one, indent));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    return entries.length === 0 ? [`${indent}{}`] : entries.flatMap(([name, one]) => under(`${indent}${name}:`, one, indent));
  }
  return [`${indent}${leaf(value)}`];
}

const leaf = (value: unknown) => (typeof value === "string" ? value || '""' : JSON.stringify(value) ?? "null");

function under(head: string, value: unknown, indent: string): string[] {
  const inner = `${indent}  `;
  if (typeof value === "string" && value.includes("\n")) return [head, ...value.replace(/\n$/, "").split("\n").map((line) => inner + line)];
  const empty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  if (typeof value !== "object" || value === null || empty) return [`${head} ${linesOf(value)[0]}`];
  return [head, ...linesOf(value, inner)];
}

/** Longest lists that are compared line by line; a square of this is kept in memory. */
const MOST = 1500;
const CONTEXT = 3;

type Line = { mark: " " | "+" | "-"; text: string };

function compared(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const same = (lines: readonly string[]): Line[] => lines.map((text) => ({ mark: " ", text }));
  return [...same(before.slice(0, start)), ...middle(old, now), ...same(before.slice(before.length - end))];
}

function middle(old: readonly string[], now: readonly string[]): Line[] {
  const gone = old.map((text): Line => ({ mark: "-", text }));
  const come = now.map((text): Line => ({ mark: "+", text }));
  if (old.length === 0 || now.length === 0 || old.length > MOST || now.length > MOST) return [...gone, ...come];
  // Length of the longest common part of what is left from each place.
  const width = now.length + 1;
  const table = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) table[i * width + j] = old[i] === now[j] ? table[(i + 1) * width + j + 1]! + 1 : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
  const out: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) out.push({ mark: " ", text: old[i++]! }), j++;
    else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!) out.push(gone[i++]!);
    else out.push(come[j++]!);
  }
  return [...out, ...gone.slice(i), ...come.slice(j)];
}

/** A unified diff without a head; empty where nothing differs. */
export function lineDiff(before: readonly string[], after: readonly string[]): string {
  const lines = compared(before, after);
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => line.mark !== " "));
  const out: string[] = [];
  let old = 1;
  let now = 1;
  lines.forEach((line, at) => {
    if (near[at]) {
      if (!near[at - 1]) {
        const rest = lines.slice(at);
        const stop = rest.findIndex((_, next) => !near[at + next]);
        const hunk = stop < 0 ? rest : rest.slice(0, stop);
        const count = (mark: string) => hunk.filter((one) => one.mark !== mark).length;
        out.push(`@@ -${old},${count("+")} +${now},${count("-")} @@`);
      }
      out.push(line.mark + line.text);
    }
    if (line.mark !== "+") old++;
    if (line.mark !== "-") now++;
  });
  return out.join("\n");
}
