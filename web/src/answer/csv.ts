// A table as a CSV file, safe to open in a spreadsheet.
import type { AnswerColumn } from "@/api/types";

/** Spreadsheets take these for the beginning of a formula, also after white space. A number is none. */
const FORMULA = /^[\s]*[=+\-@]/;
const NUMBER = /^[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?$/;

function fieldOf(value: unknown): string {
  const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const harmless = typeof value === "number" || typeof value === "boolean" || NUMBER.test(text);
  const safe = (FORMULA.test(text) && !harmless) || /^[\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n;\t]/.test(safe) || /^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Rows of RFC 4180, with a head. */
export function csvOf(columns: readonly Pick<AnswerColumn, "name">[], rows: readonly unknown[][]): string {
  const lines = [columns.map((column) => fieldOf(column.name)), ...rows.map((row) => columns.map((_, at) => fieldOf(row[at])))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** Hands a file to the user. */
export function download(name: string, content: string | Blob): void {
  const link = document.createElement("a");
  // A text has a mark of its encoding, which spreadsheets need for letters beyond ASCII.
  link.href = URL.createObjectURL(typeof content === "string" ? new Blob(["\ufeff", content], { type: "text/csv;charset=utf-8" }) : content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
