import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collection } from "@/api/types";
import { namesFor, targetOf, WORKSPACE } from "./target.ts";

const called = (name: string, created_by: string | undefined = "ann") => ({ id: name.toLowerCase(), name, created_by }) as Collection;
const [contracts, documents, letters, workspace] = [called("Contracts"), called("documents"), called("Letters"), { ...called("Workspace"), id: WORKSPACE }];

test("files go where one looks", () => assert.deepEqual(targetOf([documents, contracts], "contracts"), { kind: "known", collection: contracts }));

test("without a choice they go to the only collection, or somebody says, the usual one first", () => {
  assert.deepEqual(targetOf([contracts, documents, letters], null), { kind: "ask", first: documents });
  assert.deepEqual(targetOf([contracts, workspace], null), { kind: "known", collection: contracts });
  assert.deepEqual(targetOf([contracts, letters], null), { kind: "ask" });
});

test("a first collection is made", () => {
  assert.deepEqual(targetOf([], null), { kind: "make", name: "Documents" });
  assert.deepEqual(targetOf([workspace], null), { kind: "make", name: "Documents" });
});

test("what takes no files from here gets none", () => {
  assert.deepEqual(targetOf([workspace, contracts], WORKSPACE), { kind: "ask" });
  assert.deepEqual(targetOf([], "somebody-elses"), { kind: "make", name: "Documents" });
});

test("a name that is taken unseen has others after it, none too long", () => {
  const names = namesFor("Documents", "Ann");
  assert.deepEqual(names.slice(0, 3), ["Documents", "Documents (Ann)", "Documents (Ann, 2)"]);
  assert.ok(namesFor("Documents", "x".repeat(300)).every((name) => name.length <= 100));
});
