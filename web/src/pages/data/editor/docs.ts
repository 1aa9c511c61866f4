// The texts that are open in the editor. What was typed stays while one looks at another.
import type { DomainText, DomainTextKind, SavedDomainText } from "@/api/types";

export type Doc = {
  text: string;
  /** What is kept of it, as it was read; empty for a new one. */
  base: string;
  /** The version that was read; `null`: it is new, or several at once. */
  version: number | null;
  kind: DomainTextKind | null;
  name: string;
};
export type Docs = Readonly<Record<string, Doc>>;

export const keyOf = (kind: DomainTextKind, name: string): string => `${kind}/${name}`;
export const docOf = (text: DomainText): Doc => ({ text: text.text, base: text.text, version: text.version, kind: text.kind, name: text.name });
export const newDoc = (text: string, name: string): Doc => ({ text, base: "", version: null, kind: null, name });
export const isDirty = (doc: Doc): boolean => doc.text !== doc.base;

/** The version that a save stands on: only a text that is one, under its name, has one. A new one must not be there yet. */
export function versionOf(doc: Doc, names: readonly string[], kept: readonly Pick<DomainText, "name">[]): number | undefined {
  if (names.length !== 1) return undefined;
  if (doc.kind !== null && names[0] === doc.name) return doc.version ?? 0;
  return kept.some((text) => text.name === names[0]) ? undefined : 0;
}

/** Names in the text that others have already, so that saving takes their place. */
export const replacedBy = (doc: Doc, names: readonly string[], kept: readonly Pick<DomainText, "name">[]): string[] => names.filter((name) => name !== doc.name && kept.some((text) => text.name === name)).concat(doc.kind === null ? names.filter((name) => name === doc.name && kept.some((text) => text.name === name)) : []);

/** Whether the name in the text is another one now: the kept text under the old name stays. */
export const isRenamed = (doc: Doc, names: readonly string[]): boolean => doc.kind !== null && names.length > 0 && !names.includes(doc.name);

/** The documents after a save: the one that was saved is what the server kept. */
export function afterSave(docs: Docs, key: string, saved: readonly SavedDomainText[]): { docs: Docs; open: string | null } {
  const { [key]: _saved, ...rest } = docs;
  const next: Record<string, Doc> = { ...rest };
  for (const one of saved) next[keyOf(one.text.kind, one.text.name)] = docOf(one.text);
  const first = saved[0];
  return { docs: next, open: first ? keyOf(first.text.kind, first.text.name) : null };
}

/** The smallest replacement that makes one text of another, so that the cursor stays where it is. */
export function replacement(before: string, after: string): { from: number; to: number; insert: string } | null {
  if (before === after) return null;
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let end = 0;
  while (end < before.length - from && end < after.length - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}
