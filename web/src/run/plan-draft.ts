// Steps of a plan while its JSON is still coming in.
import type { PlanStep } from "@/api/types";

/** The complete steps in `raw`, and the last one as far as it is known. Never fails. */
export function planDraft(raw: string): PlanStep[] {
  const start = raw.indexOf("[");
  if (start < 0) return [];
  const steps: PlanStep[] = [];
  let depth = 0;
  let begin = -1;
  let quoted = false;
  for (let at = start + 1; at < raw.length; at += 1) {
    const char = raw[at];
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") {
      if (depth === 0) begin = at;
      depth += 1;
    } else if (char === "}" || char === "]") {
      if (depth === 0) return steps;
      depth -= 1;
      if (depth === 0 && begin >= 0) {
        const step = read(raw.slice(begin, at + 1));
        if (step) steps.push(step);
        begin = -1;
      }
    }
  }
  if (begin >= 0) {
    const rest = raw.slice(begin);
    const tool = /"tool"\s*:\s*"([^"\\]+)"/.exec(rest)?.[1];
    const thought = /"thought"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(rest)?.[1];
    if (tool || thought) steps.push({ tool: tool ?? "…", args: {}, thought: unescaped(thought ?? "") });
  }
  return steps;
}

function read(text: string): PlanStep | null {
  try {
    const value = JSON.parse(text) as Partial<PlanStep>;
    return typeof value.tool === "string" ? { tool: value.tool, args: value.args ?? {}, thought: value.thought ?? "" } : null;
  } catch {
    return null;
  }
}

const unescaped = (text: string) => text.replace(/\\n/g, " ").replace(/\\(.)/g, "$1").replace(/\\$/, "");
