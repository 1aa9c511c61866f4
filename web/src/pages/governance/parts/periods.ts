// Periods of retention as they are edited, and what is wrong with them.
import { charactersOf, lengthOf, limits, numbersOf, type Range, within } from "@/api/limits";
import type { RetentionPolicy } from "@/api/types";

export const KINDS: readonly RetentionPolicy["kind"][] = ["conversations", "runs", "usage"];
export const NAME = lengthOf(limits.RetentionPolicy.name);
export const DAYS = numbersOf(limits.RetentionPolicy.days);
/** How many there may be. */
export const MOST = limits.RetentionRules.policies.maxItems;

export type Draft = { name: string; kind: RetentionPolicy["kind"]; days: string; from: "" | NonNullable<RetentionPolicy["from"]>; deleted_only: boolean };
export const NEW: Draft = { name: "", kind: "conversations", days: "365", from: "", deleted_only: false };

export const draftOf = (policy: RetentionPolicy): Draft => ({ name: policy.name, kind: policy.kind, days: String(policy.days), from: policy.from ?? "", deleted_only: policy.deleted_only ?? false });
export const policyOf = (draft: Draft): RetentionPolicy => ({
  name: draft.name.trim(),
  kind: draft.kind,
  days: Number(draft.days),
  deleted_only: draft.kind === "conversations" && draft.deleted_only,
  ...(draft.from !== "" && draft.kind !== "usage" ? { from: draft.from } : {}),
});

export type Problem = "name_missing" | "name_long" | "name_taken" | "retention_days_bad";
export type Problems = { name?: Problem; days?: Problem };
/** The range that a text of a problem speaks of. */
export const rangeOf = (problem: Problem): Range => (problem === "retention_days_bad" ? DAYS : NAME);

/** What is wrong with each of them. */
export const problemsOf = (drafts: readonly Draft[]): Problems[] =>
  drafts.map(({ name, days }, index) => {
    const out: Problems = {};
    const said = name.trim();
    if (said === "") out.name = "name_missing";
    else if (charactersOf(said) > NAME.most) out.name = "name_long";
    else if (drafts.findIndex((one) => one.name.trim() === said) < index) out.name = "name_taken";
    if (!(/^\d+$/.test(days.trim()) && within(Number(days), DAYS))) out.days = "retention_days_bad";
    return out;
  });
