import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "@/api/limits";
import type { DataRulesView, Standard } from "@/api/types";
import { changesOf, clausesWith, entriesOf, exampleOf, formOf, joined, newLabel, newPolicy, problemsOf, rulesOf, savedOf, sentOf } from "./form";

const label = (name: string, paths = ["hr/**"]) => ({ name, classification: "confidential" as const, paths, tools: [], tables: [], marks: [], agents: [], personal: [] });
const policy = (name: string, references: string[] = []) => ({ name, from: "confidential" as const, action: "local_only" as const, mask_kinds: [], references });
const rules = (labels: string[], policies: string[] = []) => ({ labels: labels.map((name) => label(name)), policies: policies.map((name) => policy(name)) });

test("entries are lines, each once, and what is saved comes out as it went in", () => {
  assert.deepEqual(entriesOf(" hr/** \n\n hr/**\nboard/*.md"), ["hr/**", "board/*.md"]);
  const view: DataRulesView = { version: 3, labels: [label("people", ["hr/**", "pay.csv"])], policies: [{ ...policy("house", ["gdpr:5"]), references_resolved: [] }] };
  const form = formOf(view);
  assert.deepEqual(rulesOf(form), savedOf(view));
  assert.equal(changesOf(form, savedOf(view)), 0);
  form.labels[0]!.paths += "\n";
  assert.equal(changesOf(form, savedOf(view)), 0, "an empty line is no change");
  form.labels[0]!.name = "staff";
  assert.equal(changesOf(form, savedOf(view)), 1, "a new name is one change");
  assert.equal(changesOf({ ...form, policies: [] }, savedOf(view)), 2);
});

test("agents are written by their names and sent by their ids", () => {
  const view: DataRulesView = { version: 1, labels: [{ ...label("shops"), agents: [{ id: "a1", name: "shop" }, { id: "a2", name: null }] }], policies: [] };
  const form = formOf(view);
  assert.equal(form.labels[0]!.agents, "shop\na2");
  assert.equal(changesOf(form, savedOf(view)), 0);
  form.labels[0]!.agents += "\ndesk";
  assert.deepEqual(sentOf(form, view).labels[0]!.agents, ["a1", "a2", "desk"]);
});

test("the example is sound, and what says nothing is not", () => {
  assert.deepEqual(problemsOf(exampleOf("people", "house")), {});
  const form = { labels: [newLabel(label("a")), newLabel(label("a", [])), newLabel({ name: " ", marks: ["x".repeat(501)] })], policies: [newPolicy(policy("p".repeat(81))), newPolicy(policy("q", Array.from({ length: limits.DataPolicy.references.maxItems + 1 }, String)))] };
  assert.deepEqual(problemsOf(form), {
    "labels.1.name": "name_taken", "labels.1": "label_empty", "labels.2.name": "name_missing", "labels.2.marks": "entry_long",
    "policies.0.name": "name_long", "policies.1.references": "references_many",
  });
});

test("what is masked is looked at only where it is shown", () => {
  const at = (action: "mask" | "block") => problemsOf({ labels: [], policies: [{ ...newPolicy({ name: "p", action }), mask_kinds: "email\nshoe size" }] });
  assert.deepEqual(at("mask"), { "policies.0.mask_kinds": "personal_unknown" });
  assert.deepEqual(at("block"), {});
});

test("changes of two people are joined, and nothing that was typed is lost", () => {
  const base = rules(["a", "b", "c"], ["p"]);
  const mine = formOf(base);
  mine.labels[0]!.paths = "mine/**";
  mine.labels.splice(1, 1);
  mine.labels.push(newLabel(label("mine")));
  const theirs = { ...rules(["a", "b", "c", "theirs"], []) };
  theirs.labels[0] = label("a", ["theirs/**"]);
  theirs.labels[2] = label("c", ["theirs/**"]);
  const now = rulesOf(joined(mine, base, theirs));
  assert.deepEqual(now.labels.map(({ name, paths }) => [name, paths[0]]), [["a", "mine/**"], ["c", "theirs/**"], ["mine", "hr/**"], ["theirs", "hr/**"]]);
  assert.deepEqual(now.policies, [], "removed there, untouched here");
  // Removed here, changed there: it comes back.
  theirs.labels[1] = label("b", ["theirs/**"]);
  assert.ok(rulesOf(joined(mine, base, theirs)).labels.some(({ name }) => name === "b"));
});

test("clauses are found by words of number, title, text and standard", () => {
  const clause = (number: string, title: string) => ({ id: `gdpr:${number}`, number, title, about: "Keep personal data no longer than needed.", topics: ["retention"] });
  const standards: Standard[] = [{ id: "gdpr", name: "GDPR", title: "General Data Protection Regulation", scope: "", clauses: [clause("Art. 5", "Principles"), clause("Art. 17", "Right to erasure")] }];
  assert.deepEqual(clausesWith(standards, "gdpr erasure").map((one) => one.number), ["Art. 17"]);
  assert.equal(clausesWith(standards, "").length, 2);
  assert.equal(clausesWith(standards, "retention 5").length, 1);
  assert.equal(clausesWith(standards, "nothing").length, 0);
});
