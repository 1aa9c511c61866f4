import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { mayWork, useMe } from "@/api/hooks";
import { ExpiredDialog } from "@/auth/expired";
import { useT } from "@/i18n";
import { preload } from "@/pages/load";
import { Skeleton } from "@/ui";
import { Toasts } from "@/ui/toast";
import { useHeadingFocus } from "./heading";
import { useLiveLists } from "./live";
import { BottomBar, OfflineStrip, Sidebar } from "./nav";
import { openOverlay, useOverlay } from "./overlays";
import { Reminders } from "./reminders";
import { useShortcut } from "./shortcuts";

const CommandPalette = lazy(async () => ({ default: (await import("./palette")).CommandPalette }));
const ShortcutsDialog = lazy(async () => ({ default: (await import("./help")).ShortcutsDialog }));

function useGlobalShortcuts() {
  const t = useT("frame");
  const navigate = useNavigate();
  const { data: me } = useMe();
  useShortcut("Mod+k", () => openOverlay("palette"), t("palette"), { group: "everywhere", inFields: true });
  useShortcut("?", () => openOverlay("shortcuts"), t("shortcuts.show"), { group: "everywhere" });
  useShortcut("g c", () => void navigate({ to: "/chat" }), t("chat"), { group: "go" });
  useShortcut("g r", () => void navigate({ to: "/runs" }), t("runs"), { group: "go" });
  useShortcut("g p", () => void navigate({ to: "/approvals" }), t("approvals"), { group: "go" });
  useShortcut("g a", () => void navigate({ to: "/agents" }), t("agents"), { group: "go" });
  useShortcut("g e", () => void navigate({ to: "/schedules" }), t("schedules"), { group: "go", enabled: mayWork(me) });
  useShortcut("g w", () => void navigate({ to: "/webhooks" }), t("webhooks"), { group: "go", enabled: mayWork(me) });
  useShortcut("g k", () => void navigate({ to: "/skills" }), t("skills"), { group: "go" });
  useShortcut("g d", () => void navigate({ to: "/documents" }), t("documents"), { group: "go", enabled: mayWork(me) });
  useShortcut("g b", () => void navigate({ to: "/data" }), t("data"), { group: "go" });
  useShortcut("g f", () => void navigate({ to: "/files" }), t("files"), { group: "go", enabled: mayWork(me) });
  useShortcut("g m", () => void navigate({ to: "/connections" }), t("connections"), { group: "go" });
  useShortcut("g t", () => void navigate({ to: "/mcp-servers" }), t("mcp"), { group: "go" });
  useShortcut("g v", () => void navigate({ to: "/credentials" }), t("credentials"), { group: "go", enabled: mayWork(me) });
  useShortcut("g u", () => void navigate({ to: "/usage" }), t("usage"), { group: "go" });
  useShortcut("g o", () => void navigate({ to: "/dashboard" }), t("dashboard"), { group: "go" });
  useShortcut("g s", () => void navigate({ to: "/settings" }), t("settings"), { group: "go" });
}

/** Navigation around the page. */
export function Frame() {
  const t = useT("frame");
  useLiveLists(true);
  useGlobalShortcuts();
  useHeadingFocus(useRouterState({ select: (state) => state.resolvedLocation?.pathname ?? state.location.pathname }));
  const overlay = useOverlay();
  const [used, setUsed] = useState(false);
  useEffect(() => {
    if (overlay) setUsed(true);
  }, [overlay]);
  useEffect(() => {
    const soon = setTimeout(() => void preload(), 1500);
    return () => clearTimeout(soon);
  }, []);
  return (
    <div className="flex h-full flex-col">
      <a href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())} className="sr-only rounded-md bg-ink px-3 py-2 text-bg focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-60">{t("skip")}</a>
      <OfflineStrip />
      <div className="flex min-h-0 flex-1">
        <Sidebar />
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
          <Suspense fallback={<Skeleton className="p-6" />}><Outlet /></Suspense>
        </main>
      </div>
      <BottomBar />
      <Toasts />
      <Reminders />
      <ExpiredDialog />
      {used && <Suspense><CommandPalette /><ShortcutsDialog /></Suspense>}
    </div>
  );
}
