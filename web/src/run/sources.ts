// Where an answer comes from: what its tools read.
import type { RunView, ToolItem } from "./view";

export type Source = { kind: "web" | "file" | "database"; label: string; href: string | null; callId: string };

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);

function sourceOf(item: ToolItem): Source | null {
  if (item.state !== "ok" || (item.risk !== null && item.risk !== "read" && !item.tainted)) return null;
  const url = text(item.arguments.url);
  if (url && /^https?:\/\//i.test(url)) return { kind: "web", label: url.replace(/^https?:\/\//i, "").replace(/\/$/, ""), href: url, callId: item.callId };
  const database = text(item.arguments.database);
  if (database) return { kind: "database", label: database, href: null, callId: item.callId };
  const path = text(item.arguments.path);
  if (path && path !== ".") return { kind: "file", label: path, href: null, callId: item.callId };
  return null;
}

/** Sources in the order they were read, each once. */
export function sourcesOf(view: RunView): Source[] {
  const seen = new Set<string>();
  return view.items.flatMap((item) => {
    const source = item.kind === "tool" ? sourceOf(item) : null;
    if (!source || seen.has(source.label)) return [];
    seen.add(source.label);
    return [source];
  });
}
