import assert from "node:assert/strict";
import { test } from "node:test";
import type { HookFilter } from "@/api/types";
import { emptyRow, filterOf, problemOfPlace, problemsOfRow, readValue, readValues, rowOf, writeValue, writeValues } from "./filters";

test("a value is JSON where it is some, else the text that was typed", () => {
  for (const [typed, value] of [["opened", "opened"], [" opened ", "opened"], ["5", 5], ["true", true], ["null", null], ['"5"', "5"], ['{"a":[1]}', { a: [1] }], ["refs/heads/main", "refs/heads/main"], ["{broken", "{broken"]] as const) assert.deepEqual(readValue(typed), value, typed);
});

test("what is shown of a value is read as the same again", () => {
  for (const value of ["opened", "5", "true", "", " a ", "a, b", 5, 1.5, false, null, { a: "b" }, ["x"], '"'])  assert.deepEqual(readValue(writeValue(value)), value, JSON.stringify(value));
  assert.equal(writeValue("opened"), "opened");
  assert.equal(writeValue("5"), '"5"');
  for (const values of [["opened", "closed"], [1, "1", true], ["a, b", "c"], [["x"], "y"], [""], ["[1]"], [null]]) assert.deepEqual(readValues(writeValues(values)), values, JSON.stringify(values));
  assert.equal(writeValues(["opened", "reopened"]), "opened, reopened");
});

test("values stand between commas, or in a list of JSON", () => {
  assert.deepEqual(readValues("opened, closed,, 3"), ["opened", "closed", 3]);
  assert.deepEqual(readValues('["a, b", 3]'), ["a, b", 3]);
  assert.deepEqual(readValues(" , "), []);
});

test("what is wrong with a row is said", () => {
  assert.equal(problemOfPlace("pointer", ""), undefined);
  assert.equal(problemOfPlace("pointer", "/issue/labels/0/a~1b"), undefined);
  for (const wrong of ["issue", "/a~2", "/a~"]) assert.equal(problemOfPlace("pointer", wrong), "pointer_bad", wrong);
  assert.equal(problemOfPlace("header", "X-GitHub-Event"), undefined);
  for (const wrong of ["", "a b", "x:"]) assert.equal(problemOfPlace("header", wrong), "header_bad", wrong);
  const row = { ...emptyRow(), place: "/action" };
  assert.deepEqual(problemsOfRow(row), { value: "value_missing" });
  assert.deepEqual(problemsOfRow({ ...row, test: "one_of", value: "," }), { value: "values_missing" });
  assert.deepEqual(problemsOfRow({ ...row, value: '""' }), {});
  assert.deepEqual(problemsOfRow({ ...row, kind: "header", place: "", test: "missing" }), { place: "header_bad" });
});

test("a filter that is opened and saved stays as it is", () => {
  const filters: HookFilter[] = [
    { pointer: "/action", equals: "opened" },
    { pointer: "/number", equals: 5 },
    { pointer: "/deleted", equals: null },
    { pointer: "", equals: { a: 1 } },
    { header: "x-github-event", one_of: ["issues", "issue_comment"] },
    { pointer: "/labels", contains: " bug" },
    { pointer: "/issue", exists: true },
    { header: "x-test", exists: false },
  ];
  assert.deepEqual(filters.map((one) => filterOf(rowOf(one))), filters);
});
