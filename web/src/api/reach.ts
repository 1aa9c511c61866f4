// What somebody may do with a single agent, skill, connection, credential or collection; the server decides anyway.
import type { AccessLevel, HeldGrant, Me, ResourceKind } from "./types";

/** From the one that reaches least; each has those before it. */
export const LEVELS = ["use", "edit", "share"] as const satisfies readonly AccessLevel[];

/** Those that say something about such a thing: operators alone change connections and credentials. */
export const levelsOf = (kind: ResourceKind): readonly AccessLevel[] => (kind === "agent" || kind === "skill" || kind === "collection" ? LEVELS : ["use", "share"]);

/** Whether one level has another. */
export const covers = (level: AccessLevel | null, wanted: AccessLevel): boolean => level !== null && LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);

/** Whether somebody may change or share it: by their role, or by a grant of their own or of a group of theirs. */
export function reaches(me: Pick<Me, "role"> | undefined, held: readonly HeldGrant[] | undefined, kind: ResourceKind, id: string, wanted: "edit" | "share"): boolean {
  if (me?.role === "admin" || me?.role === "operator") return true;
  // Viewers look, whatever they were given.
  if (me?.role !== "developer") return false;
  if (!levelsOf(kind).includes(wanted)) return false;
  return (held ?? []).some((grant) => grant.kind === kind && grant.id === id && covers(grant.level, wanted));
}
