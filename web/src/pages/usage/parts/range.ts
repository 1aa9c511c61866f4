// Spans of days of UTC, as the server counts them.
import type { NamedRef, Period, UsageRow, UsageSum } from "@/api/types";

export const DAY = 86_400_000;
export const LENGTHS = [7, 30, 90] as const;
/** Most days that are shown at once. */
export const LONGEST = 366;

export type Range = { from: number; to: number; days: number };
export const dayStart = (time: number): number => Math.floor(time / DAY) * DAY;
/** `2026-11-21` of UTC. */
export const dayName = (time: number): string => new Date(time).toISOString().slice(0, 10);
const read = (text: string): number | null => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const time = Date.parse(`${text}T00:00:00Z`);
  // `2026-02-31` is no day, though some engines read it as one.
  return Number.isNaN(time) || dayName(time) !== text ? null : time;
};

/** The last `days` with today, or from one day to another, both included. `null`: they make no span. */
export function rangeOf({ days, from, to }: { days: string; from: string; to: string }, now: number): Range | null {
  const end = dayStart(now) + DAY;
  if (from || to) {
    const first = read(from);
    const last = read(to || dayName(now));
    if (first === null || last === null || last < first || (last - first) / DAY >= LONGEST) return null;
    return { from: first, to: last + DAY, days: (last - first) / DAY + 1 };
  }
  const length = LENGTHS.find((one) => String(one) === days) ?? 30;
  return { from: end - length * DAY, to: end, days: length };
}

const NOTHING: UsageSum = { group: "", calls: 0, unpriced: 0, failed: 0, prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, cost_micros: 0 };
/** A row for each day of the span, in order; days without a call have zeros. */
export function everyDay(rows: readonly UsageRow[], range: Range): UsageRow[] {
  const known = new Map(rows.map((row) => [row.group, row]));
  return Array.from({ length: range.days }, (_, index) => {
    const group = dayName(range.from + index * DAY);
    return known.get(group) ?? { ...NOTHING, group, label: group };
  });
}

/** A round number at or above `value`, for the end of an axis. */
export function ceiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.999_999) ?? 10) * power;
}

/** When a budget begins anew; `null`: never. */
export function resetsAt(period: Period, since: number): number | null {
  if (period === "total") return null;
  if (period === "day") return dayStart(since) + DAY;
  const date = new Date(since);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** When what lasts until the end of a day ends; one whose day was left as it is ends when it did. Empty: `null`. */
export const endOf = (day: string, before: number | null | undefined): number | null =>
  day === "" ? null : before != null && day === dayName(before) ? before : Date.parse(`${day}T23:59:59Z`);

/** What there is to choose from: what is there, and what of `listed` is not. */
export const offered = (there: readonly { id: string; name: string }[], listed: readonly NamedRef[]): { id: string; name: string | null; gone: boolean }[] => [
  ...there.map(({ id, name }) => ({ id, name, gone: false })),
  ...listed.filter(({ id }) => !there.some((one) => one.id === id)).map(({ id, name }) => ({ id, name, gone: true })),
];

/** Dollars as people write them, in millionths; 0 is an amount, one that only rounds to it is none. Empty: `null`; no amount: `undefined`. */
export function microsOf(text: string): number | null | undefined {
  const plain = text.trim().replace(",", ".");
  if (plain === "") return null;
  if (!/^\d+(\.\d+)?$/.test(plain)) return undefined;
  const micros = Math.round(Number(plain) * 1e6);
  return micros === 0 && Number(plain) > 0 ? undefined : micros;
}
/** A whole number from `least` on. Empty: `null`; none: `undefined`. */
export function countOf(text: string, least: 0 | 1): number | null | undefined {
  const plain = text.trim().replace(/[\s.,_]/g, "");
  if (plain === "") return null;
  return /^\d{1,15}$/.test(plain) && Number(plain) >= least ? Number(plain) : undefined;
}
