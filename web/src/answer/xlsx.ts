// A table as a file for Excel. A text is a text there, never a formula.
import type { AnswerColumn } from "@/api/types";

type Cell = string | number | boolean | null;

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The rows of a sheet, with a head. */
export function sheetOf(columns: readonly Pick<AnswerColumn, "name">[], rows: readonly unknown[][]): Cell[][] {
  return [columns.map((column) => column.name), ...rows.map((row) => columns.map((_, at) => cellOf(row[at])))];
}

/** The file; what writes it is fetched when it is first asked for. */
export async function xlsxOf(columns: readonly Pick<AnswerColumn, "name">[], rows: readonly unknown[][]): Promise<Blob> {
  const { default: write } = await import("write-excel-file/universal");
  return write(sheetOf(columns, rows), { stickyRowsCount: 1 }).toBlob();
}
