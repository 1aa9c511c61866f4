import { Bot, BookOpen, Building2, Cable, CalendarClock, ChartColumn, Database, FileLock, Files, FolderOpen, Gauge, Info, KeyRound, LayoutDashboard, ListTree, MessagesSquare, Plug, Puzzle, ScrollText, Settings, ShieldCheck, SlidersHorizontal, Users, UsersRound, Webhook, Wrench } from "lucide-react";
import { isAdmin, isInstallationAdmin, isOperator, mayWork } from "@/api/hooks";
import type { Me } from "@/api/types";

/** What one uses at hand: on every screen, and never folded away. */
export const WORK = [
  { to: "/chat", icon: MessagesSquare, key: "chat" },
  { to: "/runs", icon: ListTree, key: "runs" },
  { to: "/approvals", icon: ShieldCheck, key: "approvals" },
  { to: "/agents", icon: Bot, key: "agents" },
  { to: "/schedules", icon: CalendarClock, key: "schedules" },
  { to: "/webhooks", icon: Webhook, key: "webhooks" },
] as const;
/** Of these, what the bar of a phone has no room for: it stands first under More. */
export const SET_ASIDE = "/webhooks";
export const GROUPS = [
  {
    key: "knowledge",
    icon: BookOpen,
    pages: [
      { to: "/documents", icon: Files, key: "documents" },
      { to: "/data", icon: Database, key: "data" },
      { to: "/files", icon: FolderOpen, key: "files" },
    ],
  },
  {
    key: "tools",
    icon: Wrench,
    pages: [
      { to: "/connections", icon: Cable, key: "connections" },
      { to: "/skills", icon: Puzzle, key: "skills" },
      { to: "/mcp-servers", icon: Plug, key: "mcp" },
      { to: "/credentials", icon: KeyRound, key: "credentials" },
    ],
  },
  {
    key: "people",
    icon: Users,
    pages: [
      { to: "/users", icon: Users, key: "users" },
      { to: "/groups", icon: UsersRound, key: "groups" },
      { to: "/tenants", icon: Building2, key: "tenants" },
    ],
  },
  {
    key: "operations",
    icon: Gauge,
    pages: [
      { to: "/dashboard", icon: LayoutDashboard, key: "dashboard" },
      { to: "/usage", icon: ChartColumn, key: "usage" },
      { to: "/audit", icon: ScrollText, key: "audit" },
      { to: "/governance", icon: FileLock, key: "governance" },
      { to: "/system", icon: SlidersHorizontal, key: "system" },
      { to: "/about", icon: Info, key: "about" },
    ],
  },
] as const;
export const SETTINGS = { to: "/settings", icon: Settings, key: "settings" } as const;

export type Group = (typeof GROUPS)[number];
export type Entry = (typeof WORK)[number] | Group["pages"][number] | typeof SETTINGS;
export const NAVIGATION: readonly Entry[] = [...WORK, ...GROUPS.flatMap((group): readonly Entry[] => group.pages), SETTINGS];

/** Whether somebody may see a page at all; the server refuses anyway. */
export const maySee = (entry: Entry, me: Me | undefined): boolean => {
  if (entry.to === "/users" || entry.to === "/audit") return isAdmin(me);
  if (entry.to === "/tenants") return isInstallationAdmin(me);
  if (entry.to === "/groups") return isOperator(me);
  // The program's settings and health are the installation's.
  if (entry.to === "/system") return isOperator(me) && !!me?.installation;
  return (entry.to !== "/schedules" && entry.to !== "/webhooks" && entry.to !== "/credentials" && entry.to !== "/documents" && entry.to !== "/files") || mayWork(me);
};

export const isAt = (path: string, entry: Entry): boolean => path === entry.to || path.startsWith(`${entry.to}/`);

/** The groups with the pages that `me` may see; a group without any is left out. */
export const seenGroups = (me: Me | undefined): { key: Group["key"]; icon: Group["icon"]; pages: Entry[] }[] =>
  GROUPS.map(({ key, icon, pages }) => ({ key, icon, pages: (pages as readonly Entry[]).filter((entry) => maySee(entry, me)) })).filter((group) => group.pages.length > 0);
