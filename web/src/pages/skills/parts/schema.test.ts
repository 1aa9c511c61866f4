import assert from "node:assert/strict";
import { test } from "node:test";
import { completed, type Field, fieldsOf, missing, put, saidOf, shapeOf, turned } from "./schema";

test("a form shows what it can and leaves the rest to JSON", () => {
  const is = (schema: unknown) => shapeOf(schema).is;
  assert.equal(is({ type: "string" }), "text");
  assert.equal(is({ type: ["string", "null"] }), "text");
  assert.equal(is({ type: ["string", "integer"] }), "json");
  assert.equal(is({ enum: ["a", 1] }), "choice");
  assert.equal(is({ const: 1 }), "const");
  assert.equal(is({ type: "boolean" }), "flag");
  assert.equal(is({ type: "array", items: { type: "string" } }), "list");
  assert.equal(is({ type: "array", items: { type: "object" } }), "json");
  assert.equal(is({ type: "object", additionalProperties: { type: "string" } }), "pairs");
  assert.equal(is({ type: "object" }), "json");
  assert.equal(is({ type: "object", additionalProperties: false }), "object");
  assert.equal(is({ $ref: "#/x" }), "json");
  assert.equal(is(true), "json");
  assert.deepEqual(shapeOf({ type: "integer", minimum: 1 }), { is: "number", whole: true, min: 1, max: undefined });
  assert.deepEqual(shapeOf({ type: "string", contentMediaType: "text/x-python", examples: ["a", 2] }), { is: "text", media: "text/x-python", suggestions: ["a"] });
});

const docker = { oneOf: [{ type: "object", properties: { action: { const: "logs" }, container: { type: "string" }, lines: { type: "integer" } }, required: ["action", "container"] }, { type: "object", properties: { action: { enum: ["stop", "start"] }, container: { type: "string" } }, required: ["action", "container"] }, { type: "object", properties: { action: { const: "list" } } }] };

test("objects that one field tells apart are variants, and what both have stays when they change", () => {
  const shape = shapeOf(docker);
  assert.equal(shape.is, "variants");
  if (shape.is !== "variants") return;
  assert.equal(shape.tag, "action");
  assert.deepEqual(shape.variants.map((variant) => variant.value), ["logs", "stop", "start", "list"]);
  assert.deepEqual(turned({ action: "logs", container: "a", lines: 3, odd: 1 }, shape, "stop"), { container: "a", odd: 1, action: "stop" });
  assert.deepEqual(turned({ action: "logs", container: "a" }, shape, "list"), { action: "list" });
  assert.equal(shapeOf({ oneOf: [{ type: "string" }, { type: "integer" }] }).is, "json");
});

test("what is needed and not there is named, inner fields by their path", () => {
  const fields: Field[] = fieldsOf({ properties: { a: { type: "string" }, b: { type: "boolean" }, c: { type: "string", default: "x" }, d: { type: "object", properties: { e: { type: "string" } }, required: ["e"] }, f: docker }, required: ["a", "b", "c"] });
  assert.deepEqual(missing(fields, {}), ["a"]);
  assert.deepEqual(missing(fields, { a: null }), ["a"]);
  assert.deepEqual(missing(fields, { a: "", d: {}, f: { action: "logs" } }), ["d.e", "f.container"]);
  assert.deepEqual(completed(fields, { a: "1", z: 2 }), { a: "1", z: 2, b: false });
});

test("a field is set or taken out, and unknown ones stay", () => {
  assert.deepEqual(put({ a: 1, odd: { x: 1 } }, "a", 2), { a: 2, odd: { x: 1 } });
  assert.deepEqual(put({ a: 1, odd: 2 }, "a", undefined), { odd: 2 });
});

test("what a server says of fields is found", () => {
  assert.deepEqual(saidOf("`limit`: 3 is less than the minimum of 5"), { limit: "3 is less than the minimum of 5" });
  assert.deepEqual(saidOf("`a`: is wrong; `b.c`: \"x\" is not of type \"integer\""), { a: "is wrong", "b.c": '"x" is not of type "integer"' });
  assert.deepEqual(saidOf("arguments: \"a\" is a required property"), {});
});
