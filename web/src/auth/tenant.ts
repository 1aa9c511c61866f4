const KEY = "steward.tenant";

/** The organisation to sign in to: of the address, or the one of the last time. */
export function wantedTenant(): string {
  const named = new URLSearchParams(window.location.search).get("tenant");
  if (named !== null && window.location.pathname === "/login") return named;
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

export function rememberTenant(slug: string): void {
  try {
    if (slug) localStorage.setItem(KEY, slug);
    else localStorage.removeItem(KEY);
  } catch {
    // Storage is blocked: it is typed again the next time.
  }
}
