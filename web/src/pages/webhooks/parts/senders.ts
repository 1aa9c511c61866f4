// What is known of those who call webhooks.
import type { HookSigningKind } from "@/api/types";

export const KINDS = ["standard", "github", "stripe", "slack", "gitlab", "token"] as const satisfies readonly HookSigningKind[];
/** Where a token stands if nothing else is said. */
export const AUTHORIZATION = "authorization";

/** Whether the sender signs the time, too, so that a window counts. */
export const signsTime = (kind: HookSigningKind): boolean => kind !== "github" && kind !== "token";
/** Whether the sender makes up the secret, and takes no other. */
export const makesSecret = (kind: HookSigningKind): boolean => kind === "stripe" || kind === "slack";
/** How many steps there are to set it up. */
export const STEPS = [1, 2, 3] as const;

/** The whole address for senders. */
export const addressOf = (path: string, origin = window.location.origin): string => `${origin}${path}`;

/** A call with a token, for a terminal. */
export function curlOf(address: string, header: string): string {
  const value = header === AUTHORIZATION ? "Bearer $SECRET" : "$SECRET";
  return `curl ${address} \\\n  -H "${header}: ${value}" \\\n  -H "Content-Type: application/json" \\\n  -d '{"hello": "world"}'`;
}
