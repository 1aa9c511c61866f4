import assert from "node:assert/strict";
import { test } from "node:test";
import { AT_ONCE, changed, cleared, progressOf, settledAs, type Upload, type UploadState, upNext } from "./upload-list.ts";

const one = (id: string, state: UploadState = "waiting", more: Partial<Upload> = {}): Upload => ({ id, name: `${id}.pdf`, bytes: 100, collection: "c", collectionName: "Contracts", state, share: 0, ...more });
const ids = (list: Upload[]) => list.map((upload) => upload.id);

test("no more are sent at once than may be, in their order", () => {
  assert.equal(AT_ONCE, 2);
  assert.deepEqual(ids(upNext([one("a"), one("b"), one("c")])), ["a", "b"]);
  assert.deepEqual(ids(upNext([one("a", "sending"), one("b"), one("c")])), ["b"]);
  assert.deepEqual(upNext([one("a", "sending"), one("b", "sending"), one("c")]), []);
  assert.deepEqual(ids(upNext([one("a", "failed"), one("b", "taken"), one("c")])), ["c"]);
});

test("a change is taken in by its id, and not by one that was cancelled", () => {
  const list = [one("a", "sending"), one("b")];
  assert.deepEqual(changed(list, "a", { share: 0.5 })[0], one("a", "sending", { share: 0.5 }));
  assert.deepEqual(changed(list, "gone", { share: 0.5 }), list);
  assert.equal(list[0]?.share, 0, "the list before is as it was");
});

test("what is there already is told apart, and is no failure", () => {
  const document = { id: "d" };
  assert.deepEqual(settledAs({ added: "new", document }), { state: "taken", share: 1, document: "d" });
  assert.equal(settledAs({ added: "changed", document }).state, "taken");
  assert.equal(settledAs({ added: "unchanged", document }).state, "known");
  assert.equal(settledAs({ added: "duplicate", document }).state, "known");
});

test("progress is by bytes, without what failed", () => {
  const list = [one("a", "taken", { bytes: 900, share: 1 }), one("b", "sending", { bytes: 100, share: 0.5 }), one("c", "failed", { bytes: 5000 }), one("d", "known", { bytes: 0, share: 1 })];
  const { share, ...counts } = progressOf(list);
  assert.ok(Math.abs(share - 951 / 1001) < 1e-9);
  assert.deepEqual(counts, { open: 1, taken: 1, known: 1, failed: 1 });
  assert.equal(progressOf([]).share, 1);
});

test("what has ended can be put away; what is under way stays", () => {
  assert.deepEqual(ids(cleared([one("a", "taken"), one("b", "sending"), one("c", "failed"), one("d", "known"), one("e")])), ["b", "e"]);
});
