import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, MOST, tooMuch } from "./most";

const file = (path: string) => ({ path, name: path, bytes: 1 });
const document = (id: string) => ({ document: id, name: id, bytes: 1 });
const many = <T>(count: number, make: (name: string) => T) => Array.from({ length: count }, (_, at) => make(String(at)));

test("files and documents of a message are counted apart", () => {
  const full = [...many(MOST.files, file), ...many(MOST.documents, document)];
  assert.deepEqual([countOf(full, "files"), countOf(full, "documents")], [MOST.files, MOST.documents]);
  assert.equal(tooMuch("hello", full), null);
  assert.equal(tooMuch("hello", [...full, file("one")]), "files");
  assert.equal(tooMuch("hello", [...full, document("one")]), "documents");
});

test("a message is as long as the server takes it, in characters", () => {
  assert.equal(tooMuch("🙂".repeat(MOST.text), []), null);
  assert.equal(tooMuch("x".repeat(MOST.text + 1), []), "text");
});
