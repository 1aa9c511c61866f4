// Where the user stands: starting, in, out, or in with a session that has ended (a dialog asks).
import { useSyncExternalStore } from "react";
import { maybeSession, onAuth, refresh } from "@/api/client";

export type AuthState = "starting" | "in" | "out" | "expired" | "unreachable";
let state: AuthState = "starting";
const listeners = new Set<() => void>();
const set = (next: AuthState) => {
  state = next;
  for (const listener of listeners) listener();
};
onAuth(set);

// Whether this browser has ever logged in: without it nobody asks for a session, since the refusal would stand as an error in
// the console of everyone who opens the login page.
const KNOWN = "steward.known";
onAuth((next) => {
  try {
    if (next === "in") localStorage.setItem(KNOWN, "1");
    if (next === "out") localStorage.removeItem(KNOWN);
  } catch {
    // Storage is blocked: it is always asked for.
  }
});
const mayHaveSession = () => {
  try {
    return localStorage.getItem(KNOWN) !== null;
  } catch {
    return true;
  }
};

export const authState = () => state;
export const useAuthState = () => useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), () => state);

/** Takes up the session of the cookie, if there is one. */
export async function startAuth(): Promise<void> {
  if (!mayHaveSession()) return set("out");
  if (!maybeSession()) return set("out");
  set("starting");
  try {
    set((await refresh()) ? "in" : "out");
  } catch {
    set("unreachable");
  }
}
