import assert from "node:assert/strict";
import { test } from "node:test";
import type { RetentionPolicy } from "@/api/types";
import { DAYS, draftOf, MOST, NAME, NEW, policyOf, problemsOf, rangeOf } from "./periods";

test("what is wrong with a period is said at its field", () => {
  const cases = [{ name: "chats" }, { name: " chats " }, { name: " " }, { name: "ü".repeat(81), days: "36501" }, { name: "runs", days: "1.5" }, { name: "usage", days: "" }, { name: "ü".repeat(80), days: " 36500 " }];
  assert.deepEqual(problemsOf(cases.map((change) => ({ ...NEW, ...change }))), [
    {}, { name: "name_taken" }, { name: "name_missing" }, { name: "name_long", days: "retention_days_bad" }, { days: "retention_days_bad" }, { days: "retention_days_bad" }, {},
  ]);
  assert.deepEqual([rangeOf("name_long"), rangeOf("retention_days_bad"), MOST], [NAME, DAYS, 50]);
});

test("a period comes back from its form as it was, with what fits its kind", () => {
  const policy: RetentionPolicy = { name: "chats", kind: "conversations", days: 30, deleted_only: true, from: "internal" };
  assert.deepEqual(policyOf(draftOf(policy)), policy);
  assert.deepEqual(policyOf({ ...draftOf(policy), kind: "usage" }), { name: "chats", kind: "usage", days: 30, deleted_only: false });
});
