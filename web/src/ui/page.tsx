import type { ReactNode } from "react";
import { useEffect } from "react";
import { cx } from "./cx";

/** The document's title while a page is shown. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Steward` : "Steward";
  }, [title]);
}

/** A page: header with title and actions, then a scrolling body. `width`: the body's greatest width. `reading`: nothing in it can take the focus, so the body does, for scrolling by keys. */
export function Page({ title, lead, back, actions, children, width = "wide", reading, className }: { title: string; lead?: ReactNode; back?: ReactNode; actions?: ReactNode; children: ReactNode; width?: "text" | "wide" | "full"; reading?: boolean; className?: string }) {
  useTitle(title);
  return (
    <div className="flex h-full min-w-0 flex-col">
      <header className="flex min-h-13 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-6 py-2 max-md:px-4">
        {back}
        <div className="min-w-0 flex-1 max-md:min-w-2/5">
          <h1 className="truncate text-lg font-semibold">{title}</h1>
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      <div {...(reading && { tabIndex: 0, role: "region", "aria-label": title })} className={cx("min-h-0 flex-1 overflow-y-auto focus-visible:outline-offset-[-2px]", className)}>
        <div className={cx("mx-auto px-6 py-5 max-md:px-4 max-md:py-4", width === "text" && "max-w-3xl", width === "wide" && "max-w-6xl")}>
          {lead && <div className="mb-4 max-w-prose text-base text-ink-2">{lead}</div>}
          {children}
        </div>
      </div>
    </div>
  );
}
