// A unified diff, cut into lines with their numbers.

export type DiffLine = {
  kind: "add" | "del" | "same" | "hunk" | "file" | "note";
  text: string;
  old: number | null;
  now: number | null;
};

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;


/** Lines of a unified diff; what is none is a note. */
export function diffLines(text: string): DiffLine[] {
  const out: DiffLine[] = [];
  let old = 0;
  let now = 0;
  let inside = false;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      old = Number(hunk[1]);
      now = Number(hunk[2]);
      inside = true;
      out.push({ kind: "hunk", text: line, old: null, now: null });
    } else if (!inside && (line.startsWith("--- ") || line.startsWith("+++ "))) {
      out.push({ kind: "file", text: line.slice(4), old: null, now: null });
    } else if (inside && line.startsWith("+")) {
      out.push({ kind: "add", text: line.slice(1), old: null, now: now++ });
    } else if (inside && line.startsWith("-")) {
      out.push({ kind: "del", text: line.slice(1), old: old++, now: null });
    } else if (inside && (line.startsWith(" ") || line === "")) {
      out.push({ kind: "same", text: line.slice(1), old: old++, now: now++ });
    } else {
      out.push({ kind: "note", text: line, old: null, now: null });
    }
  }
  return out;
}

/** How many lines a diff adds and takes away. */
export function diffCount(lines: readonly DiffLine[]): {
  added: number;
  removed: number;
} {
  return {
    added: lines.filter((line) => line.kind === "add").length,
    removed: lines.filter((line) => line.kind === "del").length,
  };
}
