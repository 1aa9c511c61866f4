// Where a domain's page is: some names are those of other pages.
const TAKEN = new Set(["changes", "sources", "editor", "instructions", "views", "domains"]);

export const domainPath = (name: string): string => (TAKEN.has(name) ? `/data/domains/${encodeURIComponent(name)}` : `/data/${encodeURIComponent(name)}`);
export const viewPath = (name: string): string => `/data/views/${encodeURIComponent(name)}`;
