import type { HTMLAttributes, ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "./button";
import { cx } from "./cx";
import { ErrorState, Skeleton } from "./feedback";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "bad";
const tones: Record<Tone, string> = {
  neutral: "bg-active text-ink-2",
  accent: "bg-accent-soft text-accent-ink",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
};

export function Badge({ tone = "neutral", icon, children, className, ...rest }: HTMLAttributes<HTMLSpanElement> & { tone?: Tone; icon?: ReactNode }) {
  return <span className={cx("inline-flex items-center gap-1 rounded-sm px-1.5 py-px text-xs font-medium whitespace-nowrap [&>svg]:size-3", tones[tone], className)} {...rest}>{icon}{children}</span>;
}

/** A small light: `busy` breathes. */
export function Dot({ tone = "neutral", busy, className }: { tone?: Tone; busy?: boolean; className?: string }) {
  const fill = { neutral: "bg-ink-3", accent: "bg-accent", ok: "bg-ok", warn: "bg-warn-line", bad: "bg-bad" }[tone];
  return <span aria-hidden className={cx("inline-block size-1.75 shrink-0 rounded-full", fill, busy && "animate-breathe", className)} />;
}

export function Card({ title, actions, children, className, pad = true }: { title?: ReactNode; actions?: ReactNode; children: ReactNode; className?: string; pad?: boolean }) {
  return (
    <section className={cx("rounded-lg border border-line bg-surface", className)}>
      {(title || actions) && (
        <header className="flex min-h-11 items-center gap-3 border-b border-line px-4 py-1.5">
          <h2 className="min-w-0 flex-1 truncate text-base font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <div className={pad ? "p-4" : ""}>{children}</div>
    </section>
  );
}

type Listed = { items: unknown[]; isLoading: boolean; error: unknown; hasMore: boolean; loadingMore: boolean; more: () => void; retry: () => void };

/** What each list needs: loading, error, empty, and the next page. `list` is what `usePaged` returns. */
export function PagedList({ list, empty, children, skeletonRows = 6 }: { list: Listed; empty: ReactNode; children: ReactNode; skeletonRows?: number }) {
  const t = useT("common");
  if (list.isLoading) return <Skeleton rows={skeletonRows} className="p-4" />;
  if (list.error && list.items.length === 0) return <ErrorState error={list.error} onRetry={list.retry} />;
  if (list.items.length === 0) return <>{empty}</>;
  return (
    <>
      {children}
      {list.error ? <ErrorState inline error={list.error} onRetry={list.more} className="m-3" /> : null}
      {list.hasMore && <div className="flex justify-center p-3"><Button size="sm" variant="quiet" loading={list.loadingMore} onClick={list.more}>{t("more")}</Button></div>}
    </>
  );
}

export type Column<T> = { key: string; head: ReactNode; cell: (row: T) => ReactNode; className?: string };

/** A table on a wide screen; columns that are too much for a phone carry `max-md:hidden` in `className`. */
export function Table<T>({ columns, rows, rowKey, caption, onRow }: { columns: Column<T>[]; rows: T[]; rowKey: (row: T) => string; caption: string; onRow?: (row: T) => void }) {
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-collapse text-base tabular">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-line text-left text-xs text-ink-3">
            {columns.map((column) => <th key={column.key} scope="col" className={cx("px-3 py-2 font-medium whitespace-nowrap first:pl-4 last:pr-4", column.className)}>{column.head}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} onClick={onRow ? () => onRow(row) : undefined} className={cx("border-b border-line last:border-0", onRow && "cursor-pointer hover:bg-hover")}>
              {columns.map((column) => <td key={column.key} className={cx("px-3 py-2.5 align-middle first:pl-4 last:pr-4", column.className)}>{column.cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Names and values, for details. */
export function Facts({ items, className }: { items: [ReactNode, ReactNode][]; className?: string }) {
  return (
    <dl className={cx("grid grid-cols-[max-content_1fr] gap-x-5 gap-y-1.5 text-base", className)}>
      {items.map(([name, value], index) => (
        <div key={index} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 wrap-anywhere tabular">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
