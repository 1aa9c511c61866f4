import assert from "node:assert/strict";
import { test } from "node:test";
import { alike, excerpt, marked, type Piece, wanted } from "./marks.ts";

const hits = (text: string, question: string) => marked(text, question).filter((piece) => piece.hit).map((piece) => piece.text);
const joined = (pieces: Piece[]) => pieces.map((piece) => piece.text).join("");

test("words of the question are marked, whatever their case, accents and endings", () => {
  assert.deepEqual(hits("Notice periods: the NOTICE is 30 days.", "how long is the notice period"), ["Notice", "periods", "NOTICE"]);
  assert.deepEqual(hits("Die Kündigungsfristen betragen 30 Tage.", "wie lang ist die kundigungsfrist"), ["Kündigungsfristen"]);
  assert.deepEqual(hits("Straße", "strasse"), ["Straße"]);
  assert.deepEqual(hits("max_wal_size is 1 GB", "wal size"), ["wal", "size"]);
});

test("short words count only as they are, and words that merely begin alike do not", () => {
  assert.deepEqual(hits("cat catalogue cats", "cat"), ["cat"]);
  assert.ok(alike("invoice", "invoices") && alike("service", "serviced") && alike("fristen", "frist"));
  assert.ok(!alike("notice", "notify") && !alike("period", "perils") && !alike("port", "portfolio") && !alike("inter", "internationally") && !alike("a", "b"));
});

test("what is in quotes is marked as it stands", () => {
  assert.deepEqual(hits("Second class is class two; second class.", '"second class"'), ["Second class", "second class"]);
  assert.deepEqual(hits("the class", '"second class"'), []);
  assert.deepEqual(wanted('"second class" trains of the state'), { words: ["trains", "state"], phrases: [["second", "class"]] });
});

test("words that say nothing are marked only where there are no others", () => {
  assert.deepEqual(hits("to be or not to be", "to be"), ["to", "be", "to", "be"]);
  assert.deepEqual(hits("This is it.", "what is the pump"), []);
});

test("the pieces are the passage, nothing added and nothing lost", () => {
  for (const [text, question] of [["", "x"], ["no hit", "elsewhere"], ["ab \"cd\"\n\nef", "cd ef"], ["a".repeat(9), "aaaaaaaaa"], ["<b>bold</b>", "bold \"unclosed"]] as const) assert.equal(joined(marked(text, question)), text);
});

test("an excerpt shows the first mark, and where it was cut", () => {
  const text = `${"before ".repeat(100)}the pump is serviced in May ${"after ".repeat(100)}`;
  const shown = excerpt(marked(text, "pump"), 120);
  assert.ok(joined(shown).includes("the pump is serviced"));
  assert.ok(joined(shown).startsWith("… ") && joined(shown).endsWith(" …") && joined(shown).length < 160);
  assert.deepEqual(shown.filter((piece) => piece.hit).map((piece) => piece.text), ["pump"]);
  assert.equal(joined(excerpt(marked(text, "nothing like this"), 60)).startsWith("before"), true);
  assert.equal(joined(excerpt(marked("short", "x"), 60)), "short");
});
