// What of an answer a chart shows.
import { isNumeric, momentOf } from "./cell";
import type { Answer } from "./answer";

/** More bars than these can't be read. */
export const MOST_BARS = 60;

/** `x` are seconds for times, else places from 0; `labels` are the groups. Rows without a number are gaps. */
export type ChartData = { kind: "bars" | "line"; time: boolean; x: number[]; y: (number | null)[]; labels: string[]; xName: string; yName: string; left: number };

const numberOf = (value: unknown): number | null => {
  const number = typeof value === "number" ? value : typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : null;
};

/** Days, months and years as seconds; `null`: one of them is none. */
function timesOf(values: readonly unknown[]): number[] | null {
  const times: number[] = [];
  for (const value of values) {
    const moment = typeof value === "string" && /^\d{4}(-\d{2})/.test(value) ? momentOf(value) : null;
    if (!moment) return null;
    times.push(moment.getTime() / 1000);
  }
  return times;
}

/** A chart of a series; `null` where there is nothing to draw. */
export function chartOf(answer: Answer): ChartData | null {
  if (answer.shape.shape !== "series") return null;
  const { x, y } = answer.shape;
  const [xName, yName] = [answer.columns[x]?.name ?? "", answer.columns[y]?.name ?? ""];
  const points = answer.rows.map((row) => ({ group: row[x], value: numberOf(row[y]) })).filter((point) => point.group !== undefined);
  if (points.length < 2 || points.every((point) => point.value === null)) return null;
  const times = timesOf(points.map((point) => point.group));
  const base = { labels: points.map((point) => labelOf(point.group)), xName, yName };
  if (times) {
    // A chart's axis goes forward, whatever the order of the rows.
    const order = times.map((_, at) => at).sort((one, other) => times[one]! - times[other]!);
    return { ...base, kind: "line", time: true, left: 0, x: order.map((at) => times[at]!), y: order.map((at) => points[at]!.value), labels: order.map((at) => base.labels[at]!) };
  }
  const numbers = points.map((point) => numberOf(point.group));
  const increasing = isNumeric(answer.columns[x]?.kind ?? "") && numbers.every((value, at) => value !== null && (at === 0 || value > numbers[at - 1]!));
  if (increasing && points.length > MOST_BARS) return { ...base, kind: "line", time: false, left: 0, x: numbers as number[], y: points.map((point) => point.value) };
  const shown = points.slice(0, MOST_BARS);
  return { kind: "bars", time: false, left: points.length - shown.length, x: shown.map((_, at) => at), y: shown.map((point) => point.value), labels: base.labels.slice(0, MOST_BARS), xName, yName };
}

/** The name of a group; nothing is a group too. */
const labelOf = (value: unknown): string => (value === null || value === "" ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** Cuts a label for an axis. */
export const shortLabel = (label: string, most = 14): string => (label.length > most ? `${label.slice(0, most - 1)}…` : label);
