// Labels and policies as they are edited: lists of a label are texts with an entry on each line.
import { charactersOf, limits } from "@/api/limits";
import type { Classification, DataAction, DataLabel, DataLabelView, DataPolicy, DataRulesView, PiiKind, Standard } from "@/api/types";

export const LISTS = ["paths", "tools", "tables", "marks", "agents", "personal"] as const;
/** Kinds of personal data that are looked for, by the names they are written with. */
export const PERSONAL: readonly PiiKind[] = ["email", "phone", "iban", "payment_card", "national_id", "person_name", "ip_address", "date_of_birth", "secret"];
export type List = (typeof LISTS)[number];
export const ACTIONS: readonly DataAction[] = ["local_only", "mask", "ask_outside", "deny_outside", "block"];
/** What is public needs no policy. */
export const FROM: readonly Classification[] = ["internal", "confidential", "restricted"];

/** `key` tells entries apart while their names change. */
export type LabelForm = { key: number; name: string; classification: Classification } & Record<List, string>;
export type PolicyForm = { key: number; name: string; from: Classification; action: DataAction; mask_kinds: string; references: string[] };
export type Form = { labels: LabelForm[]; policies: PolicyForm[] };

let keys = 0;
const nextKey = () => (keys += 1);

/** Agents are written by their names, and deleted ones by their ids. */
const whole = (label: DataLabelView): Required<DataLabel> => ({ ...label, agents: label.agents.map(({ id, name }) => name ?? id) });
const textOf = (entries: readonly string[] | undefined) => (entries ?? []).join("\n");
/** The entries of a text: one on each line, each once. */
export const entriesOf = (text: string): string[] => [...new Set(text.split("\n").map((line) => line.trim()).filter((line) => line !== ""))];

export const newLabel = (label: Partial<DataLabel> = {}): LabelForm => ({
  key: nextKey(), name: label.name ?? "", classification: label.classification ?? "confidential",
  paths: textOf(label.paths), tools: textOf(label.tools), tables: textOf(label.tables), marks: textOf(label.marks), agents: textOf(label.agents), personal: textOf(label.personal),
});
export const newPolicy = (policy: Partial<DataPolicy> = {}): PolicyForm => ({ key: nextKey(), name: policy.name ?? "", from: policy.from ?? "confidential", action: policy.action ?? "local_only", mask_kinds: textOf(policy.mask_kinds), references: [...(policy.references ?? [])] });
export const formOf = ({ labels, policies }: Pick<DataRulesView, "labels"> & { policies: readonly DataPolicy[] }): Form => ({ labels: labels.map((label) => newLabel(whole(label))), policies: policies.map(newPolicy) });

export const labelOf = ({ name, classification, ...label }: LabelForm): Required<DataLabel> => ({ name: name.trim(), classification, paths: entriesOf(label.paths), tools: entriesOf(label.tools), tables: entriesOf(label.tables), marks: entriesOf(label.marks), agents: entriesOf(label.agents), personal: kindsOf(label.personal) });
const kindsOf = (text: string): PiiKind[] => entriesOf(text).filter((kind): kind is PiiKind => (PERSONAL as readonly string[]).includes(kind));
export const policyOf = ({ name, from, action, mask_kinds, references }: PolicyForm): Required<DataPolicy> => ({ name: name.trim(), from, action, mask_kinds: action === "mask" ? kindsOf(mask_kinds) : [], references });
type Rules = { labels: Required<DataLabel>[]; policies: Required<DataPolicy>[] };
export const rulesOf = (form: Form): Rules => ({ labels: form.labels.map(labelOf), policies: form.policies.map(policyOf) });
/** As they are sent: the agents of `base` by their ids, so that a label stays with them whatever they are called by then. */
export function sentOf(form: Form, base: DataRulesView): Rules {
  const ids = new Map(base.labels.flatMap((label) => label.agents).flatMap(({ id, name }) => (name == null ? [] : [[name, id] as const])));
  const { labels, policies } = rulesOf(form);
  return { labels: labels.map((label) => ({ ...label, agents: label.agents.map((agent) => ids.get(agent) ?? agent) })), policies };
}
/** As the form has what is saved. */
export const savedOf = ({ labels, policies }: DataRulesView): Rules => ({
  labels: labels.map((label) => labelOf(newLabel(whole(label)))),
  policies: policies.map(({ name, from, action, mask_kinds, references }) => ({ name, from, action, mask_kinds: mask_kinds ?? [], references })),
});

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
/** Whether an entry is not saved as it is. */
export const isNew = (entry: object, saved: readonly object[]): boolean => !saved.some((one) => same(one, entry));
/** How many entries were added, changed, moved or removed. */
export function changesOf(form: Form, saved: Rules): number {
  const now = rulesOf(form);
  const count = (mine: readonly { name: string }[], theirs: readonly { name: string }[]) => {
    const changed = mine.filter((entry) => isNew(entry, theirs)).length;
    const gone = theirs.filter((entry) => !mine.some((one) => one.name === entry.name)).length;
    const renamed = mine.filter((entry) => !theirs.some((one) => one.name === entry.name)).length;
    return changed + Math.max(0, gone - renamed);
  };
  const changes = count(now.labels, saved.labels) + count(now.policies, saved.policies);
  return changes === 0 && !same(now, saved) ? 1 : changes;
}

/** What is wrong by the name of its field, as the server would call it: `labels.0.name`. */
export type Problem = "name_missing" | "name_long" | "name_taken" | "label_empty" | "entry_long" | "entries_many" | "personal_unknown" | "references_many";
/** What the server takes at most. The document of its API has no length of an entry of a list. */
const ENTRY = 500;
const MOST: Partial<Record<Problem, number>> = { name_long: limits.DataLabelInput.name.maxLength, entry_long: ENTRY, entries_many: limits.DataLabelInput.paths.maxItems, references_many: limits.DataPolicy.references.maxItems };
export const valuesOf = (problem: Problem) => ({ most: MOST[problem] ?? 0 });

export function problemsOf(form: Form): Record<string, Problem> {
  const out: Record<string, Problem> = {};
  const names = (kind: string, entries: readonly { name: string }[]) =>
    entries.forEach(({ name }, index) => {
      const said = name.trim();
      const field = `${kind}.${index}.name`;
      if (said === "") out[field] = "name_missing";
      else if (charactersOf(said) > limits.DataLabelInput.name.maxLength) out[field] = "name_long";
      else if (entries.findIndex((one) => one.name.trim() === said) < index) out[field] = "name_taken";
    });
  names("labels", form.labels);
  names("policies", form.policies);
  form.labels.forEach((label, index) => {
    if (LISTS.every((list) => entriesOf(label[list]).length === 0)) out[`labels.${index}`] = "label_empty";
    for (const list of LISTS) {
      const entries = entriesOf(label[list]);
      if (list !== "personal" && entries.length > limits.DataLabelInput[list].maxItems) out[`labels.${index}.${list}`] = "entries_many";
      else if (entries.some((entry) => charactersOf(entry) > ENTRY)) out[`labels.${index}.${list}`] = "entry_long";
      else if (list === "personal" && entries.some((entry) => !(PERSONAL as readonly string[]).includes(entry))) out[`labels.${index}.${list}`] = "personal_unknown";
    }
  });
  form.policies.forEach((policy, index) => {
    // The kinds are asked for, and sent, for that action alone.
    if (policy.action === "mask" && entriesOf(policy.mask_kinds).some((entry) => !(PERSONAL as readonly string[]).includes(entry))) out[`policies.${index}.mask_kinds`] = "personal_unknown";
    if (policy.references.length > limits.DataPolicy.references.maxItems) out[`policies.${index}.references`] = "references_many";
  });
  return out;
}

/** My changes since `base`, put onto what somebody else has saved meanwhile. Where both changed an entry, mine stays. */
export function joined(form: Form, base: Rules, theirs: Rules): Form {
  const join = <E extends { name: string }, F>(mine: readonly F[], of: (entry: F) => E, before: readonly E[], now: readonly E[], make: (entry: E) => F): F[] => {
    const named = (entries: readonly E[], name: string) => entries.find((entry) => entry.name === name);
    const kept = mine.flatMap((entry) => {
      const own = of(entry);
      if (isNew(own, before)) return [entry];
      // Unchanged here: as it is there, or gone.
      const other = named(now, own.name);
      return other ? [same(other, own) ? entry : make(other)] : [];
    });
    const names = new Set(kept.map((entry) => of(entry).name));
    const added = now.filter((entry) => !names.has(entry.name) && !named(before, entry.name));
    // Removed or renamed here, but changed there since: it comes back, for nobody has seen that change.
    const revived = now.filter((entry) => !names.has(entry.name) && named(before, entry.name) && isNew(entry, before));
    return [...kept, ...[...added, ...revived].map(make)];
  };
  return { labels: join(form.labels, labelOf, base.labels, theirs.labels, newLabel), policies: join(form.policies, policyOf, base.policies, theirs.policies, newPolicy) };
}

export type Found = { id: string; standard: string; number: string; title: string; about: string };
/** Clauses that have all words in number, title, text, topic or the standard's name. */
export function clausesWith(standards: readonly Standard[], query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return standards.flatMap((standard) =>
    standard.clauses
      .filter((clause) => {
        const text = [standard.name, standard.title, clause.number, clause.title, clause.about, ...clause.topics].join(" ").toLowerCase();
        return words.every((word) => text.includes(word));
      })
      .map(({ id, number, title, about }) => ({ id, standard: standard.name, number, title, about })),
  );
}

/** A beginning for an installation without rules. The names are in the user's language. */
export const exampleOf = (label: string, policy: string): Form => ({
  labels: [newLabel({ name: label, classification: "confidential", paths: ["hr/**"] })],
  policies: [newPolicy({ name: policy, from: "confidential", action: "local_only" })],
});
