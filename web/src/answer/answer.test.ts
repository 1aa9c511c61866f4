import assert from "node:assert/strict";
import { test } from "node:test";
import type { Shape } from "@/api/types";
import { type Answer, answerOf, wayOf } from "./answer";
import { cellText, formatOf, momentOf } from "./cell";
import { chartOf, MOST_BARS, shortLabel } from "./chart-data";
import { csvOf } from "./csv";
import { sheetOf, xlsxOf } from "./xlsx";

const answer = (columns: [string, string][], rows: unknown[][], shape: Shape): Answer => ({ domain: "d", columns: columns.map(([name, kind]) => ({ name, kind })), rows, shape, query: {}, sql: "", truncated: false, next: null });

test("an answer is read from a tool's data, and nothing else is taken for one", () => {
  const good = { domain: "albums", columns: [{ name: "n", kind: "int" }], rows: [[3]], count: 3, shape: { shape: "number", column: 0 }, sql: "SELECT", query: {} };
  assert.equal(answerOf(good)?.count, 3);
  for (const bad of [null, "rows", {}, { ...good, columns: ["n"] }, { ...good, rows: [3] }, { ...good, shape: "number" }, { ...good, shape: undefined }]) assert.equal(answerOf(bad), null);
  assert.deepEqual(answerOf({ ...good, shape: { shape: "number", column: 4 } })?.shape, { shape: "table" });
  assert.deepEqual(answerOf({ ...good, shape: { shape: "series", x: 0, y: -1 } })?.shape, { shape: "table" });
});

test("the way of showing follows the shape, unless the rows say otherwise", () => {
  const cases: [Shape, number, string][] = [
    [{ shape: "number", column: 0 }, 1, "number"], [{ shape: "number", column: 0 }, 0, "empty"], [{ shape: "row" }, 1, "row"], [{ shape: "row" }, 2, "table"],
    [{ shape: "table" }, 5, "table"], [{ shape: "series", x: 0, y: 0 }, 5, "series"], [{ shape: "empty" }, 0, "empty"], [{ shape: "empty" }, 1, "table"],
  ];
  for (const [shape, rows, want] of cases) assert.equal(wayOf(answer([["a", "int"]], Array.from({ length: rows }, () => [1]), shape)), want, JSON.stringify(shape));
});

test("formats of views are read", () => {
  const cases: [string | null, unknown][] = [
    ["number:0", { kind: "number", digits: 0 }], ["number:2", { kind: "number", digits: 2 }], ["number", { kind: "number", digits: null }], ["number:many", null], ["number:99", null],
    ["date:short", { kind: "date", style: "short" }], ["date:long", { kind: "date", style: "long" }], ["date", { kind: "date", style: "short" }],
    ["money:EUR", { kind: "money", currency: "EUR" }], ["money:eur", { kind: "money", currency: "EUR" }], ["money:euro", null], ["money", null], ["upper", null], [null, null], ["", null],
  ];
  for (const [text, want] of cases) assert.deepEqual(formatOf(text), want, String(text));
});

test("values read as people write them", () => {
  const cases: [unknown, string, string | null, string][] = [
    [null, "int", null, ""], [2009, "int", null, "2009"], [1234567, "int", "number:0", "1,234,567"], [1234.5, "float", null, "1,234.5"], [0.99, "float", "money:EUR", "€0.99"],
    ["12345678901234567890", "int", "number:0", "12,345,678,901,234,567,890"], ["no number", "int", "number:0", "no number"], [true, "bool", null, "true"], [false, "bool", null, "false"],
    ["2009-01-02", "date", "date:short", "1/2/09"], ["2009-01-02", "date", null, "Jan 2, 2009"], ["2009-01", "string", null, "2009-01"], ["2009-01", "date", null, "2009-01"], ["soon", "date", null, "soon"],
    [[1, 2], "rows", null, "2"], [{ a: 1 }, "rows", null, '{"a":1}'], ["=1+1", "string", null, "=1+1"],
  ];
  for (const [value, kind, format, want] of cases) assert.equal(cellText(value, kind, formatOf(format)), want, `${String(value)} ${kind} ${format}`);
  assert.equal(cellText(true, "bool", null, { yes: "ja", no: "nein" }), "ja");
  assert.match(cellText("2009-01-02T14:05:00", "datetime"), /Jan 2, 2009.*2:05/);
  assert.match(cellText("2009-01-02T14:05:00", "datetime", formatOf("date:short")), /^1\/2\/09$/);
});

test("a day stays the same day in every zone", () => {
  const day = momentOf("2024-03-31");
  assert.deepEqual([day?.getFullYear(), day?.getMonth(), day?.getDate(), day?.getHours()], [2024, 2, 31, 0]);
  assert.equal(momentOf("0044-03-15")?.getFullYear(), 44);
  for (const none of ["", "tomorrow", "2024", "2024-13-01"]) assert.equal(momentOf(none), null, none);
});

test("a table becomes CSV: quoted, and no cell is a formula", () => {
  const columns = [{ name: "name" }, { name: "note" }];
  assert.equal(csvOf(columns, [["a", 'says "hi", twice\nand goes']]), 'name,note\r\na,"says ""hi"", twice\nand goes"\r\n');
  assert.equal(csvOf(columns, [[null, undefined]]), "name,note\r\n,\r\n");
  assert.equal(csvOf(columns, [[{ a: 1 }, [1, 2]]]), 'name,note\r\n"{""a"":1}","[1,2]"\r\n');
  const cells: [unknown, string][] = [
    ["=SUM(A1)", "'=SUM(A1)"], ["+1 555", "'+1 555"], ["-cmd", "'-cmd"], ["@x", "'@x"], ["  =1+1", "'  =1+1"], ["\t=1", '"\'\t=1"'], ["\rx", '"\'\rx"'],
    [-5, "-5"], ["-5.25", "-5.25"], ["+7", "+7"], ["a-b", "a-b"], ["=1,2", '"\'=1,2"'], [" padded ", '" padded "'], [true, "true"],
  ];
  for (const [value, want] of cells) assert.equal(csvOf([{ name: "c" }], [[value]]), `c\r\n${want}\r\n`, JSON.stringify(value));
  assert.equal(csvOf([{ name: "=evil" }], []), "'=evil\r\n", "names of columns are cells too");
});

test("a table becomes a file for Excel: numbers stay numbers, and no cell is a formula", async () => {
  const columns = [{ name: "name" }, { name: "n" }];
  assert.deepEqual(sheetOf(columns, [["=SUM(A1)", 5], [null, true], [{ a: 1 }, undefined]]), [["name", "n"], ["=SUM(A1)", 5], [null, true], ['{"a":1}', null]]);
  const file = await xlsxOf(columns, [["=SUM(A1)", 5]]);
  const bytes = new Uint8Array(await file.arrayBuffer());
  assert.deepEqual([...bytes.slice(0, 2)], [0x50, 0x4b], "it is an archive");
  assert.ok(bytes.length > 1000);
});

test("a series becomes bars, or a line over time", () => {
  const series = (kind: string, rows: unknown[][]) => chartOf(answer([["x", kind], ["n", "int"]], rows, { shape: "series", x: 0, y: 1 }));
  const bars = series("string", [["Rock", 5], [null, 2], ["Jazz", null]]);
  assert.deepEqual({ kind: bars?.kind, x: bars?.x, y: bars?.y, labels: bars?.labels, left: bars?.left }, { kind: "bars", x: [0, 1, 2], y: [5, 2, null], labels: ["Rock", "–", "Jazz"], left: 0 });
  const line = series("date", [["2024-02", 2], ["2024-01", 1]]);
  assert.equal(line?.kind, "line");
  assert.deepEqual(line?.y, [1, 2], "time goes forward");
  assert.deepEqual(line?.labels, ["2024-01", "2024-02"]);
  assert.equal(series("int", [[2023, 1], [2024, 2]])?.kind, "bars", "a few years are bars");
  assert.equal(series("int", Array.from({ length: 100 }, (_, at) => [at, at]))?.kind, "line");
  const many = series("string", Array.from({ length: 100 }, (_, at) => [`g${at}`, at]));
  assert.deepEqual([many?.x.length, many?.left], [MOST_BARS, 100 - MOST_BARS]);
  assert.deepEqual(series("string", [["a", "1.5"], ["b", "many"]])?.y, [1.5, null]);
  for (const none of [series("string", [["a", 1]]), series("string", [["a", null], ["b", null]]), chartOf(answer([["x", "int"]], [[1], [2]], { shape: "table" }))]) assert.equal(none, null);
  assert.equal(shortLabel("a very long name of a group"), "a very long n…");
});
