// Rows of a database as they are shown: from the API, or from what the tool `oos_query` returned.
import type { AnswerColumn, Shape } from "@/api/types";

export type Answer = { domain: string; columns: AnswerColumn[]; rows: unknown[][]; shape: Shape; query: unknown; sql: string; truncated: boolean; next: string | null; count?: number; read_at?: number; took_ms?: number };

const isShape = (value: unknown): value is Shape => typeof value === "object" && value !== null && typeof (value as { shape?: unknown }).shape === "string";
const isColumn = (value: unknown): value is AnswerColumn => typeof value === "object" && value !== null && typeof (value as AnswerColumn).name === "string" && typeof (value as AnswerColumn).kind === "string";

/** The answer in a tool's data, where it has that form. */
export function answerOf(data: unknown): Answer | null {
  if (typeof data !== "object" || data === null) return null;
  const { domain, columns, rows, shape, query, sql, truncated, next, count } = data as Record<string, unknown>;
  if (!isShape(shape) || !Array.isArray(columns) || !columns.every(isColumn) || !Array.isArray(rows) || !rows.every(Array.isArray)) return null;
  return {
    domain: typeof domain === "string" ? domain : "",
    columns,
    rows: rows as unknown[][],
    shape: soundShape(shape, columns.length),
    query: query ?? null,
    sql: typeof sql === "string" ? sql : "",
    truncated: truncated === true,
    next: typeof next === "string" ? next : null,
    ...(typeof count === "number" && { count }),
  };
}

/** A shape that names columns which there are; else a table. */
export function soundShape(shape: Shape, columns: number): Shape {
  const there = (at: number) => Number.isInteger(at) && at >= 0 && at < columns;
  if (shape.shape === "number") return there(shape.column) ? shape : { shape: "table" };
  if (shape.shape === "series") return there(shape.x) && there(shape.y) ? shape : { shape: "table" };
  return shape;
}

/** How an answer is shown at first. A single number is one only if there is a row. */
export function wayOf(answer: Pick<Answer, "shape" | "rows">): Shape["shape"] {
  if (answer.rows.length === 0) return "empty";
  if (answer.shape.shape === "empty") return "table";
  if (answer.shape.shape === "row" && answer.rows.length !== 1) return "table";
  return answer.shape.shape;
}
