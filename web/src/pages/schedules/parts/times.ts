// Times by the wall clock of a zone.
import { currentLanguage } from "@/i18n";

/** The browser's own zone. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

let zones: string[] | undefined;
/** The zones that the browser knows, `UTC` first. */
export function knownZones(): readonly string[] {
  zones ??= ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
  return zones;
}

export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** How far the clocks of a zone are ahead of UTC at a moment, ms; 0 for an unknown zone. */
function offsetAt(at: number, zone: string): number {
  if (!isZone(zone)) return 0;
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" }).formatToParts(at);
  const [year, month, day, hour, minute, second] = (["year", "month", "day", "hour", "minute", "second"] as const).map((type) => Number(parts.find((part) => part.type === type)?.value)) as [number, number, number, number, number, number];
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** `2027-03-14T08:00`, with seconds where there are some, as a field for times takes it. */
export function wallOf(at: number, zone: string): string {
  const text = new Date(at + offsetAt(at, zone)).toISOString();
  return text.slice(17, 19) === "00" ? text.slice(0, 16) : text.slice(0, 19);
}

/** The moment of a wall-clock time; one that is missing is counted as if the clocks had not gone forward yet. `null`: it is no time. */
export function instantOf(wall: string, zone: string): number | null {
  const read = Date.parse(`${wall}Z`);
  if (Number.isNaN(read)) return null;
  const before = offsetAt(read - 86_400_000, zone);
  const at = read - offsetAt(read - before, zone);
  return wallOf(at, zone) === wallOf(read, "UTC") ? at : read - before;
}

const two = (n: number) => String(n).padStart(2, "0");
/** A moment as the server says it: `2027-03-14T08:00:00+01:00`. */
export function shownOf(at: number, zone: string): string {
  const minutes = Math.round(offsetAt(at, zone) / 60_000);
  const size = Math.abs(minutes);
  return `${new Date(at + minutes * 60_000).toISOString().slice(0, 19)}${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** `2027-03-14T08:00:00+01:00` for a person, with its offset. */
export function formatShown(shown: string): { time: string; offset: string } {
  const wall = new Date(`${shown.slice(0, 19)}Z`);
  const seconds = shown.slice(17, 19) !== "00";
  const time = new Intl.DateTimeFormat(currentLanguage(), { timeZone: "UTC", weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(seconds && { second: "2-digit" }) }).format(wall);
  const offset = shown.slice(19).replace("-", "−");
  return { time, offset: offset === "Z" || offset === "+00:00" ? "UTC" : `UTC${offset}` };
}

/** A moment by the wall clock of a zone, with its offset. */
export function formatIn(at: number, zone: string): string {
  const { time, offset } = formatShown(shownOf(at, zone));
  return `${time} (${offset})`;
}

export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400, weeks: 604_800 } as const;
export type Unit = keyof typeof UNITS;
/** The largest unit of which these seconds are a whole number. */
export const unitOf = (seconds: number): Unit => (Object.keys(UNITS) as Unit[]).findLast((unit) => seconds > 0 && seconds % UNITS[unit] === 0) ?? "seconds";

/** `90 minutes`, in the language of the studio. */
export function formatSpan(seconds: number): string {
  const unit = unitOf(seconds);
  return new Intl.NumberFormat(currentLanguage(), { style: "unit", unit: unit.slice(0, -1), unitDisplay: "long" }).format(seconds / UNITS[unit]);
}
