import assert from "node:assert/strict";
import { test } from "node:test";
import { boxesOn, isOn, pageOf } from "./areas";
import { ocrLeft, ocrOf, previewOf, typeOf } from "./kinds";

const area = (page: number, x: number, y: number, width: number, height: number) => ({ page, x, y, width, height });
const rounded = (boxes: ReturnType<typeof boxesOn>) => boxes.map((box) => [box.x, box.y, box.width, box.height].map((value) => Math.round(value * 100) / 100));

test("blocks of a column are one box, those of another column or page are not", () => {
  const chunk = { areas: [area(1, 0.1, 0.3, 0.3, 0.05), area(1, 0.1, 0.24, 0.35, 0.05), area(1, 0.6, 0.3, 0.3, 0.05), area(1, 0.1, 0.6, 0.3, 0.05), area(2, 0.1, 0.1, 0.3, 0.05)] };
  assert.deepEqual(rounded(boxesOn(chunk, 1)), [[0.1, 0.24, 0.35, 0.11], [0.6, 0.3, 0.3, 0.05], [0.1, 0.6, 0.3, 0.05]]);
  assert.deepEqual(rounded(boxesOn(chunk, 2)), [[0.1, 0.1, 0.3, 0.05]]);
  assert.deepEqual(boxesOn(chunk, 3), []);
  assert.deepEqual(boxesOn({ areas: [area(1, 0.1, 0.1, 0, 0.2)] }, 1), []);
});

test("a passage is shown on the page where it stands", () => {
  const without = { areas: [], first_page: 3, last_page: 4 };
  assert.equal(pageOf(without), 3);
  assert.equal(pageOf({ areas: [area(5, 0, 0, 1, 1)], first_page: 4 }), 5);
  assert.equal(pageOf({ areas: [], first_page: 0 }), 1);
  assert.deepEqual([2, 3, 4, 5].map((page) => isOn(without, page)), [false, true, true, false]);
  assert.equal(isOn({ areas: [area(5, 0, 0, 1, 1)], first_page: 4, last_page: 5 }, 4), false);
});

test("only what a browser does not run is shown as it is", () => {
  const of = (name: string, doc_type = "") => ({ name, facts: { doc_type } });
  assert.equal(previewOf(of("a.PDF")), "pdf");
  assert.equal(previewOf(of("scan", "png")), "picture");
  for (const other of [of("a.html"), of("a.svg"), of("a.pdf", "html"), of("scan.tiff"), of("png")]) assert.equal(previewOf(other), other.name === "png" ? "picture" : null, other.name);
  assert.equal(typeOf(of("x.html")), "application/octet-stream");
  assert.equal(typeOf(of("x.jpg")), "image/jpeg");
});

test("how sure the recognition of a page was is shown where the server says it", () => {
  const facts = { ocr: { pages: 4, done: 3, read: [{ page: 1, engine: "tesseract", confidence: 91 }, { page: 2, confidence: 0 }, { page: 3, engine: "vision", confidence: 180 }] } };
  assert.deepEqual([1, 2, 3, 4].map((page) => ocrOf(facts, page)), [{ engine: "tesseract", sure: 91 }, { engine: null, sure: 0 }, { engine: "vision", sure: 100 }, null]);
  assert.equal(ocrLeft(facts), 1);
  for (const none of [{}, { ocr: null }, { ocr: 3 }, { ocr: {} }, { ocr: { read: [null, 3, { page: 1 }, { page: 1, confidence: "91" }] } }]) {
    assert.equal(ocrOf(none, 1), null);
    assert.equal(ocrLeft(none), 0);
  }
});
