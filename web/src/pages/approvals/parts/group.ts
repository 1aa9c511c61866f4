import type { Approval } from "@/api/types";

export type Group = { first: Approval; others: string[] };

/** Open approvals, those with the same subject as one. The server names an approval's duplicates; the oldest stands for them. */
export function grouped(items: readonly Approval[]): Group[] {
  const taken = new Set<string>();
  const out: Group[] = [];
  for (const approval of items) {
    if (taken.has(approval.id)) continue;
    for (const id of approval.duplicates) taken.add(id);
    out.push({ first: approval, others: approval.duplicates });
  }
  return out;
}
