// Values of fields as people read them.
import { currentLanguage } from "@/i18n";

export type Format = { kind: "number"; digits: number | null } | { kind: "date"; style: "short" | "medium" | "long" } | { kind: "money"; currency: string };

/** A format as views write it: `number:0`, `date:short`, `money:EUR`. `null`: none that is known. */
export function formatOf(text: string | null | undefined): Format | null {
  const [kind, ...rest] = (text ?? "").split(":");
  const of = rest.join(":").trim();
  if (kind === "number") return of === "" ? { kind, digits: null } : /^\d{1,2}$/.test(of) && Number(of) <= 20 ? { kind, digits: Number(of) } : null;
  if (kind === "date") return { kind, style: of === "long" ? "long" : of === "medium" ? "medium" : "short" };
  if (kind === "money") return /^[A-Za-z]{3}$/.test(of) ? { kind, currency: of.toUpperCase() } : null;
  return null;
}

export const isNumeric = (kind: string): boolean => kind === "int" || kind === "float";
const isTime = (kind: string): boolean => kind === "date" || kind === "datetime";

/** A day or time of a database as a moment of the browser's own zone, so that no zone moves it to another day. */
export function momentOf(text: string): Date | null {
  const found = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?/.exec(text);
  if (!found) return null;
  const part = (at: number, none: number) => (found[at] === undefined ? none : Number(found[at]));
  const month = part(2, 1);
  if (month < 1 || month > 12) return null;
  const date = new Date(part(1, 1970), month - 1, part(3, 1), part(4, 0), part(5, 0), part(6, 0));
  // Years before 100 would be taken for those of the last century.
  date.setFullYear(part(1, 1970));
  return Number.isNaN(date.getTime()) ? null : date;
}

/** A number in the user's language; one that a float can't hold stays as it is. */
const numberText = (value: number | string, options: Intl.NumberFormatOptions): string => {
  if (typeof value === "string" && !/^-?\d+(\.\d+)?$/.test(value)) return value;
  return new Intl.NumberFormat(currentLanguage(), options).format(value as number);
};

export type Words = { yes: string; no: string };

/** A value for a person. `null` is an empty text: the cell says that nothing is there. */
export function cellText(value: unknown, kind: string, format: Format | null = null, words: Words = { yes: "true", no: "false" }): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? words.yes : words.no;
  const number = typeof value === "number" || (typeof value === "string" && isNumeric(kind));
  if (number && format?.kind === "money") return numberText(value as number, { style: "currency", currency: format.currency });
  if (number && format?.kind === "number") return numberText(value as number, format.digits === null ? {} : { minimumFractionDigits: format.digits, maximumFractionDigits: format.digits });
  // An identifier or a year is an int too: no separators are put into it.
  if (number) return kind === "float" ? numberText(value as number, { maximumFractionDigits: 6 }) : String(value);
  if (typeof value === "string" && (isTime(kind) || format?.kind === "date")) return timeText(value, kind, format);
  if (Array.isArray(value)) return String(value.length);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function timeText(value: string, kind: string, format: Format | null): string {
  const moment = momentOf(value);
  if (!moment || /^\d{4}(-\d{2})?$/.test(value)) return value;
  const style = format?.kind === "date" ? format.style : "medium";
  const withTime = kind === "datetime" && format?.kind !== "date" && value.length > 10;
  return moment.toLocaleString(currentLanguage(), { dateStyle: style, ...(withTime && { timeStyle: "short" as const }) });
}
