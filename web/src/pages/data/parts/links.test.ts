import assert from "node:assert/strict";
import { test } from "node:test";
import type { ViewInfo } from "@/api/types";
import { domainPath, entryViews, viewPath } from "./links";

const view = (name: string, title: string, tables: string[]): ViewInfo => ({ name, title, domain: "albums", view: { name, title, domain: "albums", toolbar: [], tables: tables.map((domain) => ({ domain, on_select: null, columns: [] })), sections: [] } });

test("a domain is reached, whatever its name is", () => {
  const cases: [string, string][] = [["albums", "/data/albums"], ["changes", "/data/domains/changes"], ["views", "/data/domains/views"], ["größe", "/data/gr%C3%B6%C3%9Fe"], ["a/b", "/data/a%2Fb"]];
  for (const [name, path] of cases) assert.equal(domainPath(name), path);
  assert.equal(viewPath("a b"), "/data/views/a%20b");
});

test("one begins with the views that list rows", () => {
  const [list, other, detail] = [view("list", "Albums", ["albums"]), view("other", "Albums", ["albums"]), view("detail", "Album", ["tracks"])];
  const cases: [ViewInfo[], string[]][] = [[[list, detail], ["Albums"]], [[detail], ["Album"]], [[list, other], ["Albums (list)", "Albums (other)"]], [[view("bare", "", ["albums"])], ["bare"]], [[{ ...list, domain: "tracks" }], []], [[], []]];
  for (const [all, labels] of cases) assert.deepEqual(entryViews(all, "albums").map((one) => one.label), labels);
});
