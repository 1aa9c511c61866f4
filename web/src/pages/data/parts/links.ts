// Ways to domains and views.
import type { ViewInfo } from "@/api/types";

/** Names of other pages, which a domain may have too. */
const TAKEN = new Set(["changes", "sources", "editor", "instructions", "views", "domains"]);

export const domainPath = (name: string): string => (TAKEN.has(name) ? `/data/domains/${encodeURIComponent(name)}` : `/data/${encodeURIComponent(name)}`);
export const viewPath = (name: string): string => `/data/views/${encodeURIComponent(name)}`;

/** The views to begin with: those that list rows of their domain. Ones for a single record are opened from them, unless there are no others. */
export function entryViews(all: readonly ViewInfo[], domain: string): { name: string; label: string }[] {
  const own = all.filter((one) => one.domain === domain);
  const lists = own.filter((one) => one.view.tables.some((part) => part.domain === domain));
  const shown = lists.length > 0 ? lists : own;
  const same = (title: string) => shown.filter((one) => one.title === title).length > 1;
  return shown.map((one) => ({ name: one.name, label: !one.title ? one.name : same(one.title) ? `${one.title} (${one.name})` : one.title }));
}
