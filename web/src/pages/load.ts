import { loadMarkdown } from "@/run/lazy";

/** Where each page's code is. It is loaded with the page, or before by `preload`. */
export const load = {
  chat: () => import("@/pages/chat"),
  runs: () => import("@/pages/runs"),
  approvals: () => import("@/pages/approvals"),
  agents: () => import("@/pages/agents"),
  schedules: () => import("@/pages/schedules"),
  webhooks: () => import("@/pages/webhooks"),
  skills: () => import("@/pages/skills"),
  documents: () => import("@/pages/documents"),
  files: () => import("@/pages/files"),
  data: () => import("@/pages/data"),
  connections: () => import("@/pages/connections"),
  credentials: () => import("@/pages/credentials"),
  mcp: () => import("@/pages/mcp"),
  audit: () => import("@/pages/audit"),
  governance: () => import("@/pages/governance"),
  dashboard: () => import("@/pages/dashboard"),
  system: () => import("@/pages/system"),
  usage: () => import("@/pages/usage"),
  users: () => import("@/pages/users"),
  tenants: () => import("@/pages/tenants"),
  groups: () => import("@/pages/groups"),
  settings: () => import("@/pages/settings"),
  about: () => import("@/pages/about"),
};

/** Loads all pages and what sets their texts, so that a server that is away for a moment does not take the next page away. */
export async function preload(): Promise<void> {
  // One after the other: what the person waits for goes first.
  for (const one of [loadMarkdown, () => import("@/frame/palette"), () => import("@/frame/help"), ...Object.values(load)]) await one().catch(() => undefined);
}
