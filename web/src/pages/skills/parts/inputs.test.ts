import assert from "node:assert/strict";
import { test } from "node:test";
import { added, changed, NO_INPUTS, removed, renamed, rowsOf } from "./inputs";

const schema = { type: "object", properties: { id: { type: "string", pattern: "^a$", description: "Its id" }, n: { type: "integer", minimum: 1 }, odd: { anyOf: [{ type: "string" }] } }, required: ["id"], additionalProperties: false, $comment: "kept" };

test("rows show an object's schema", () => {
  assert.deepEqual(rowsOf(schema), [
    { name: "id", type: "string", description: "Its id", required: true, choices: [] },
    { name: "n", type: "integer", description: "", required: false, choices: [] },
    { name: "odd", type: null, description: "", required: false, choices: [] },
  ]);
  assert.deepEqual(rowsOf({}), []);
});

test("a change touches nothing else", () => {
  assert.deepEqual(changed(schema, "n", { required: true, description: "How many" }), { ...schema, properties: { ...schema.properties, n: { type: "integer", minimum: 1, description: "How many" } }, required: ["id", "n"] });
  assert.deepEqual(changed(schema, "id", { required: false }), { type: "object", properties: schema.properties, additionalProperties: false, $comment: "kept" });
  const choices = changed(schema, "id", { choices: ["a", "b"] });
  assert.deepEqual(rowsOf(choices)[0]?.choices, ["a", "b"]);
  assert.deepEqual(changed(choices, "id", { choices: [] }), schema);
  assert.deepEqual((changed(schema, "id", { type: "array" }).properties as Record<string, unknown>).id, { type: "array", description: "Its id", items: { type: "string" } });
});

test("an input is added, renamed in its place, and taken out", () => {
  const two = added(added(NO_INPUTS));
  assert.deepEqual(Object.keys(two.properties as object), ["input_1", "input_2"]);
  assert.deepEqual(Object.keys(renamed(two, "input_1", "city").properties as object), ["city", "input_2"]);
  assert.equal(renamed(two, "input_1", "input_2"), two);
  assert.deepEqual(renamed(schema, "id", "key").required, ["key"]);
  assert.deepEqual(removed(schema, "id"), { type: "object", properties: { n: schema.properties.n, odd: schema.properties.odd }, additionalProperties: false, $comment: "kept" });
});
