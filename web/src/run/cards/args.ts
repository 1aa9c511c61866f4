/** Arguments on one line: `path: notes.md · mode: append`. */
export function argsLine(args: Record<string, unknown>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${(typeof value === "string" ? value : JSON.stringify(value)).replace(/\s+/g, " ").trim() || "…"}`)
    .join(" · ");
}
/** The one argument that says it all, for a row: a path, a query, a command. */
export function mainArg(args: Record<string, unknown>): string {
  const names = ["path", "url", "command", "query", "pattern", "name", "title", "text", "question", "to"];
  const found = names.map((name) => args[name]).find((value) => typeof value === "string" && value !== "");
  return typeof found === "string" ? found.replace(/\s+/g, " ") : argsLine(args);
}
