import type { Role } from "@/api/types";

/** From the one who may least to the one who may everything. */
export const ROLES = ["viewer", "developer", "operator", "admin"] as const satisfies readonly Role[];

/** The address of the page where somebody invited chooses a password. After the #, so that it appears in no log. */
export function invitationLink(origin: string, token: string, email: string): string {
  return `${origin}/invitation#${new URLSearchParams({ token, email })}`;
}
