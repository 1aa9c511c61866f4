// Numbers, money and times, in the user's language.
import { useEffect, useState } from "react";
import { currentLanguage, useLanguage } from "@/i18n";

const number = (value: number, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(currentLanguage(), options).format(value);

export const formatNumber = (value: number) => number(value);
/** `{least}` and `{most}` of a text. */
export const formatRange = (range: { least: number; most: number } | undefined) => range && { least: number(range.least), most: number(range.most) };
export const formatTokens = (tokens: number) => (tokens < 10_000 ? number(tokens) : number(tokens, { notation: "compact", maximumFractionDigits: 1 }));
/** Millionths of a US dollar. */
export const formatMoney = (micros: number) => {
  const dollars = micros / 1e6;
  return number(dollars, { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: dollars !== 0 && Math.abs(dollars) < 0.1 ? 4 : 2 });
};
export const formatBytes = (bytes: number) => {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 3);
  return number(bytes / 1000 ** power, { style: "unit", unit: ["byte", "kilobyte", "megabyte", "gigabyte"][power]!, unitDisplay: "short", maximumFractionDigits: power ? 1 : 0 });
};
export const formatDuration = (ms: number) => {
  if (ms < 1000) return `${number(Math.round(ms))} ms`;
  if (ms < 60_000) return `${number(ms / 1000, { maximumFractionDigits: 1 })} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
const dayStart = (time: number) => new Date(time).setHours(0, 0, 0, 0);
/** Short: 14:05 today, `Nov 3` this year, else with the year. */
export const formatTime = (time: number, now = Date.now()) => {
  const date = new Date(time);
  if (dayStart(time) === dayStart(now)) return date.toLocaleTimeString(currentLanguage(), { hour: "2-digit", minute: "2-digit" });
  return date.toLocaleDateString(currentLanguage(), { day: "numeric", month: "short", ...(date.getFullYear() === new Date(now).getFullYear() ? {} : { year: "numeric" }) });
};
/** To the second, for what is about to happen. */
export const formatClock = (time: number) => new Date(time).toLocaleTimeString(currentLanguage(), { timeStyle: "medium" });
export const formatExact = (time: number) => new Date(time).toLocaleString(currentLanguage(), { dateStyle: "medium", timeStyle: "medium" });
export const formatAgo = (time: number, now = Date.now()) => {
  const seconds = Math.round((time - now) / 1000);
  const relative = new Intl.RelativeTimeFormat(currentLanguage(), { numeric: "auto", style: "short" });
  const size = Math.abs(seconds);
  if (size < 45) return relative.format(0, "second");
  if (size < 3_000) return relative.format(Math.round(seconds / 60), "minute");
  if (size < 79_200) return relative.format(Math.round(seconds / 3600), "hour");
  // As people count them: by midnights, of which a change of the clock moves one by an hour.
  return relative.format(Math.round((dayStart(time) - dayStart(now)) / 86_400_000), "day");
};

/** A time, exact on hover. `relative`: "3 min. ago". */
export function Time({ at, relative, className }: { at: number; relative?: boolean; className?: string }) {
  useLanguage();
  const [, tick] = useState(0);
  useEffect(() => {
    if (!relative) return;
    const timer = setInterval(() => tick((n) => n + 1), 30_000);
    return () => clearInterval(timer);
  }, [relative]);
  return <time dateTime={new Date(at).toISOString()} title={formatExact(at)} className={className}>{relative ? formatAgo(at) : formatTime(at)}</time>;
}
export const Money = ({ micros }: { micros: number }) => (useLanguage(), <span className="tabular">{formatMoney(micros)}</span>);
export const Tokens = ({ count }: { count: number }) => (useLanguage(), <span className="tabular" title={formatNumber(count)}>{formatTokens(count)}</span>);
export const Duration = ({ ms }: { ms: number }) => (useLanguage(), <span className="tabular">{formatDuration(ms)}</span>);

/** Time since `from`, counting up each second. */
export function Elapsed({ from, className }: { from: number; className?: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span className={className ?? "tabular"}>{formatDuration(Math.max(0, Math.round((now - from) / 1000) * 1000))}</span>;
}
