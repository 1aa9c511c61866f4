import assert from "node:assert/strict";
import { test } from "node:test";
import { isDocument, ownOf } from "./as-document";
import { hasFailed, isOpen } from "./reading";

test("what is read becomes a document, what tools work on stays a file", () => {
  for (const name of ["report.pdf", "A.DOCX", "x.tar.epub", "mail.eml"]) assert.equal(isDocument(name), true, name);
  for (const name of ["rows.csv", "photo.png", "main.rs", "pdf", ".pdf.txt", "notes.md", ""]) assert.equal(isDocument(name), false, name);
});

test("one's own collection is found by who made it, whatever number its name got", () => {
  const of = (name: string, created_by?: string) => ({ id: name + (created_by ?? ""), name, ...(created_by && { created_by }) });
  const all = [of("Attachments", "bob"), of("Documents", "ann"), of("Attachments (Ann)", "ann"), of("Attachments old", "cid"), of("Attachments")];
  assert.equal(ownOf(all, "ann"), "Attachments (Ann)ann");
  assert.equal(ownOf(all, "bob"), "Attachmentsbob");
  assert.equal(ownOf(all, "cid"), undefined);
});

test("a question waits for what is read, and not for vectors", () => {
  assert.deepEqual([undefined, { status: "waiting", chunks: 0 } as const, { status: "embedding", chunks: 3 } as const, { status: "ready", chunks: 3 } as const].map(isOpen), [true, true, false, false]);
  assert.equal(hasFailed({ status: "failed", chunks: 0 }), true);
  // Found by words, without vectors.
  assert.equal(hasFailed({ status: "failed", chunks: 3 }), false);
});
