// Which links of an answer mean a file of the workspace.

/** The path in the workspace that `href` names, or null: an address, a place in the page, or a page of the studio. */
export function workspacePath(href: string, workspace: string): string | null {
  if (href === "" || href.startsWith("#") || href.startsWith("//") || href.startsWith("?")) return null;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(href)?.[1]?.toLowerCase();
  if (scheme && scheme !== "file") return null;
  let path = href.replace(/^file:(?:\/\/(?:localhost)?)?/i, "").replace(/[?#].*$/, "");
  try {
    path = decodeURIComponent(path);
  } catch {
    // A percent sign that stands for itself.
  }
  if (path.startsWith("/")) {
    const root = workspace.replace(/\/+$/, "");
    if (!root || !path.startsWith(`${root}/`)) return scheme ? null : path.slice(1) || null;
    path = path.slice(root.length + 1);
  }
  path = path.replace(/^(?:\.\/)+/, "");
  return path === "" || path.endsWith("/") ? null : path;
}
