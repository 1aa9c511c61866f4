import { ArrowDown, ArrowUp } from "lucide-react";
import type { AnswerColumn } from "@/api/types";
import { useT } from "@/i18n";
import { cx } from "@/ui";
import { cellText, type Format, isNumeric } from "./cell";

export type Sort = { field: string; desc: boolean };
export type Cells = { format?: Format | null; label?: string; width?: number | null; labels?: ReadonlyMap<string, string> };

type Props = {
  caption: string;
  columns: readonly AnswerColumn[];
  rows: readonly unknown[][];
  /** How the columns are written, by their places. */
  cells?: readonly Cells[];
  sort?: Sort | undefined;
  /** Sorts by a column; columns that it says no to can't be. */
  onSort?: ((field: string) => void) | undefined;
  sortable?: (field: string) => boolean;
  onRow?: ((row: number) => void) | undefined;
  /** What opening it is called, by what its first cell shows. */
  rowName?: (shown: string) => string;
  selected?: number | null;
  compact?: boolean;
};

/** Rows with a head that sorts, and that open. */
export function AnswerTable({ caption, columns, rows, cells, sort, onSort, sortable, onRow, rowName, selected, compact }: Props) {
  const t = useT("data");
  const words = { yes: t("yes"), no: t("no") };
  const pad = compact ? "px-2.5 py-1" : "px-3 py-2";
  return (
    <div tabIndex={0} role="region" aria-label={caption} className={cx("overflow-auto focus-visible:outline-offset-[-2px]", compact && "max-h-80 rounded-md border border-line bg-surface")}>
      <table className={cx("w-full border-collapse tabular", compact ? "text-sm" : "text-base")}>
        <caption className="sr-only">{caption}</caption>
        <thead className={cx(compact && "sticky top-0 bg-sunken")}>
          <tr className="border-b border-line text-left text-xs text-ink-3">
            {columns.map((column, at) => {
              const label = cells?.[at]?.label ?? column.name;
              const right = isNumeric(column.kind) && !cells?.[at]?.labels;
              const sorted = sort?.field === column.name ? (sort.desc ? "descending" : "ascending") : undefined;
              const width = cells?.[at]?.width;
              return (
                <th key={at} scope="col" aria-sort={sorted} style={width ? { minWidth: `${Math.min(width, 80)}ch` } : undefined} className={cx(pad, "font-medium whitespace-nowrap", right && "text-right")}>
                  {onSort && (sortable?.(column.name) ?? true) ? (
                    <button type="button" onClick={() => onSort(column.name)} className="inline-flex items-center gap-1 rounded-sm hover:text-ink">
                      {label}
                      {sorted === "ascending" && <ArrowUp aria-hidden className="size-3" />}
                      {sorted === "descending" && <ArrowDown aria-hidden className="size-3" />}
                    </button>
                  ) : (
                    label
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} aria-selected={selected === undefined ? undefined : selected === index} onClick={onRow && (() => onRow(index))} className={cx("border-b border-line last:border-0", onRow && "cursor-pointer hover:bg-hover", selected === index && "bg-accent-soft")}>
              {columns.map((column, at) => {
                const { format = null, labels } = cells?.[at] ?? {};
                const value = row[at];
                const named = labels?.get(String(value));
                const text = named ?? cellText(value, column.kind, format, words);
                const content = value === null || value === undefined ? <span className="text-ink-3" title={t("nothing")}>–</span> : text;
                return (
                  <td key={at} className={cx(pad, "max-w-96 align-top wrap-anywhere", isNumeric(column.kind) && !labels && "text-right")}>
                    {/* Rows open by a click anywhere; by keyboard there is one button in each. */}
                    {onRow && at === 0 ? <button type="button" aria-label={rowName?.(text || "–")} onClick={(event) => (event.stopPropagation(), onRow(index))} className="rounded-sm text-left text-accent-ink hover:underline">{content}</button> : content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
