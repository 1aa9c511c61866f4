import { Link, useRouterState } from "@tanstack/react-router";
import { Bot, Building2, Cable, ChartColumn, Database, Ellipsis, FileLock, Files, FolderOpen, Info, KeyRound, LayoutDashboard, ListTree, MessagesSquare, Plug, Puzzle, ScrollText, Settings, ShieldCheck, SlidersHorizontal, Users, UsersRound } from "lucide-react";
import { useState } from "react";
import { isAdmin, isInstallationAdmin, isOperator, mayWork, useMe, useOpenApprovals } from "@/api/hooks";
import type { Me } from "@/api/types";
import { useT } from "@/i18n";
import { cx, Sheet } from "@/ui";
import { AccountMenu } from "./account";
import { useLiveState } from "./live";
import { Logo } from "./logo";
import { RemindersButton } from "./reminders";

const PAGES = [
  { to: "/chat", icon: MessagesSquare, key: "chat" },
  { to: "/runs", icon: ListTree, key: "runs" },
  { to: "/approvals", icon: ShieldCheck, key: "approvals" },
  { to: "/agents", icon: Bot, key: "agents" },
  { to: "/skills", icon: Puzzle, key: "skills" },
  { to: "/documents", icon: Files, key: "documents" },
  { to: "/files", icon: FolderOpen, key: "files" },
  { to: "/data", icon: Database, key: "data" },
  { to: "/connections", icon: Cable, key: "connections" },
  { to: "/mcp-servers", icon: Plug, key: "mcp" },
  { to: "/credentials", icon: KeyRound, key: "credentials" },
  { to: "/dashboard", icon: LayoutDashboard, key: "dashboard" },
  { to: "/usage", icon: ChartColumn, key: "usage" },
  { to: "/users", icon: Users, key: "users" },
  { to: "/groups", icon: UsersRound, key: "groups" },
  { to: "/tenants", icon: Building2, key: "tenants" },
  { to: "/audit", icon: ScrollText, key: "audit" },
  { to: "/governance", icon: FileLock, key: "governance" },
  { to: "/system", icon: SlidersHorizontal, key: "system" },
] as const;
const LATER = [
  { to: "/settings", icon: Settings, key: "settings" },
  { to: "/about", icon: Info, key: "about" },
] as const;
type Entry = (typeof PAGES)[number] | (typeof LATER)[number];
export const NAVIGATION: readonly Entry[] = [...PAGES, ...LATER];
/** Whether somebody may see a page at all; the server refuses anyway. */
export const maySee = (entry: Entry, me: Me | undefined): boolean => {
  if (entry.to === "/users" || entry.to === "/audit") return isAdmin(me);
  if (entry.to === "/tenants") return isInstallationAdmin(me);
  if (entry.to === "/groups") return isOperator(me);
  // The program's settings and health are the installation's.
  if (entry.to === "/system") return isOperator(me) && !!me?.installation;
  return (entry.to !== "/credentials" && entry.to !== "/documents" && entry.to !== "/files") || mayWork(me);
};

function NavLink({ entry, count, phone }: { entry: Entry; count?: number; phone?: boolean }) {
  const t = useT("frame");
  const path = useRouterState({ select: (state) => state.location.pathname });
  const here = path === entry.to || path.startsWith(`${entry.to}/`);
  const Icon = entry.icon;
  return (
    <Link
      to={entry.to}
      aria-current={here ? "page" : undefined}
      className={cx(
        "group relative flex flex-col items-center gap-1 text-2xs leading-tight transition-colors",
        phone ? "min-w-0 flex-1 py-2" : "w-full shrink-0 rounded-lg py-2",
        here ? "font-medium text-ink" : "text-ink-3 hover:text-ink",
        !phone && (here ? "bg-active" : "hover:bg-hover"),
      )}
    >
      <span className="relative">
        <Icon aria-hidden className={cx("size-[1.1875rem]", here ? "stroke-2 text-accent-ink" : "stroke-[1.6]")} />
        {!!count && <span aria-hidden className="absolute -top-1.5 -right-2.5 min-w-4 rounded-full bg-warn-line px-1 text-center text-[0.625rem] leading-4 font-semibold text-[#201400] tabular">{count > 99 ? "99+" : count}</span>}
      </span>
      <span className="max-w-full truncate">{t(entry.key)}</span>
      {!!count && <span className="sr-only">{t("approvalsWaiting", { count })}</span>}
    </Link>
  );
}

/** The rail of a wide screen. */
export function Rail() {
  const t = useT("frame");
  const { data: waiting = 0 } = useOpenApprovals();
  const { data: me } = useMe();
  return (
    <nav aria-label={t("nav")} className="flex w-22 shrink-0 flex-col items-center gap-1 overflow-y-auto border-r border-line bg-sunken px-1 py-3 max-md:hidden">
      <Link to="/chat" aria-label="Steward" className="mb-3 rounded-lg"><Logo className="size-8" /></Link>
      {PAGES.filter((entry) => maySee(entry, me)).map((entry) => <NavLink key={entry.to} entry={entry} {...(entry.key === "approvals" && { count: waiting })} />)}
      <span className="flex-1" />
      <RemindersButton />
      {LATER.map((entry) => <NavLink key={entry.to} entry={entry} />)}
      <AccountMenu />
    </nav>
  );
}

/** The bar of a phone. */
export function BottomBar() {
  const t = useT("frame");
  const [open, setOpen] = useState(false);
  const { data: waiting = 0 } = useOpenApprovals();
  const { data: me } = useMe();
  return (
    <nav aria-label={t("nav")} className="safe-bottom flex shrink-0 border-t border-line bg-sunken md:hidden">
      {PAGES.slice(0, 4).map((entry) => <NavLink key={entry.to} phone entry={entry} {...(entry.key === "approvals" && { count: waiting })} />)}
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)} className="flex min-w-0 flex-1 flex-col items-center gap-1 py-2 text-2xs leading-tight text-ink-3">
        <Ellipsis aria-hidden className="size-[1.1875rem] stroke-[1.6]" />
        {t("more")}
      </button>
      <Sheet side="bottom" open={open} onOpenChange={setOpen} title={t("more")}>
        <ul className="p-2" onClick={() => setOpen(false)}>
          {[...PAGES.slice(4), ...LATER].filter((entry) => maySee(entry, me)).map((entry) => (
            <li key={entry.to}><Link to={entry.to} className="flex items-center gap-3 rounded-lg px-3 py-3 text-lg hover:bg-hover"><entry.icon aria-hidden className="size-5 text-ink-3" />{t(entry.key)}</Link></li>
          ))}
          <li><RemindersButton wide /></li>
        </ul>
        <div className="border-t border-line p-2"><AccountMenu wide /></div>
      </Sheet>
    </nav>
  );
}

/** Told at the top while the server is away. */
export function OfflineStrip() {
  const t = useT("frame");
  if (useLiveState() !== "waiting") return null;
  return <p role="status" className="shrink-0 border-b border-warn-line/40 bg-warn-soft px-4 py-1 text-center text-sm text-warn">{t("offline")}</p>;
}
