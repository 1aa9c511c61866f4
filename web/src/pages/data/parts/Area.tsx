import { Link, useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isOperator, useMe } from "@/api/hooks";
import { useT } from "@/i18n";
import { cx, Page } from "@/ui";

const PLACES = [
  { to: "/data", key: "tab_data", operators: false },
  { to: "/data/changes", key: "tab_changes", operators: false },
  { to: "/data/sources", key: "tab_sources", operators: true },
  { to: "/data/editor", key: "tab_editor", operators: true },
  { to: "/data/instructions", key: "tab_instructions", operators: true },
] as const;

/** A page of the area Data, with the ways to the others. */
export function Area({ title, lead, actions, width = "wide", children }: { title: string; lead?: ReactNode; actions?: ReactNode; width?: "text" | "wide" | "full"; children: ReactNode }) {
  const t = useT("data");
  const operator = isOperator(useMe().data);
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <Page title={title} actions={actions} width={width}>
      <nav aria-label={t("area")} className="mb-4 flex gap-5 overflow-x-auto overflow-y-hidden border-b border-line">
        {PLACES.filter((place) => operator || !place.operators).map((place) => {
          const here = place.to === "/data" ? path === "/data" || !PLACES.some((other) => other.to !== "/data" && path.startsWith(other.to)) : path.startsWith(place.to);
          return <Link key={place.to} to={place.to} aria-current={here ? "page" : undefined} className={cx("-mb-px shrink-0 border-b-2 py-2 text-base focus-visible:outline-offset-[-2px]", here ? "border-accent text-ink" : "border-transparent text-ink-3 hover:text-ink")}>{t(place.key)}</Link>;
        })}
      </nav>
      {lead && <p className="mb-4 max-w-prose text-base text-ink-2">{lead}</p>}
      {children}
    </Page>
  );
}
