import assert from "node:assert/strict";
import { test } from "node:test";
import type { Button, DomainInfo, FieldKind, TablePart, View } from "@/api/types";
import { deleteChange, draftOf, isChanged, readTyped, saveChange, typedOf, wantedOf } from "./draft";
import { type At, closeTab, columnsOf, editable, fieldsOf, firstTabs, goBack, keyOf, openPlace, placeOf, presetOf, relatedOf, replaceTop, selectOf, topOf, whyNot } from "./render";

const field = (name: string, kind: FieldKind, readonly = false) => ({ name, kind, readonly, ops: [], choices: false });
const domain = (name: string, fields: DomainInfo["fields"], relations: DomainInfo["relations"] = []): DomainInfo => ({ name, datasource: "shop", scope: null, key: ["id"], fields, relations, write: true, delete: true });
const albums = domain("albums", [field("id", "int", true), field("title", "string"), field("price", "float"), field("live", "bool"), field("released", "date"), field("at", "datetime")], [{ name: "tracks", kind: "has_many", domain: "tracks", bind: [["id", "album_id"]] }]);
const tracks = domain("tracks", [field("id", "int"), field("album_id", "int"), field("name", "string")]);
const table = (of: string, columns: string[] = [], on_select: TablePart["on_select"] = null): TablePart => ({ domain: of, on_select, columns: columns.map((one) => ({ field: one, label: one, width: null, format: null })) });
const view = (tables: TablePart[], sections: View["sections"] = []): View => ({ name: "v", title: "V", domain: "albums", toolbar: [], tables, sections });
const form: View["sections"] = [{ title: "Album", rows: [[{ kind: "text", field: "title" }, { kind: "number", field: "price" }], [{ kind: "checkbox", field: "gone" }]] }];

test("columns are those that the domain has; none are all", () => {
  assert.deepEqual(columnsOf(table("albums", ["title", "gone"]), albums).map((one) => one.field), ["title"]);
  assert.deepEqual(columnsOf(table("albums"), albums).map((one) => one.field), albums.fields.map((one) => one.name));
});

test("a table asks for what it shows, for its key and for what opens its rows", () => {
  const cases: [View, TablePart, DomainInfo, string[]][] = [
    [view([]), table("albums", ["title"]), albums, ["title", "id"]],
    [view([], form), table("albums", ["released"]), albums, ["released", "id", "title", "price"]],
    [view([], form), table("tracks", ["name"], { view: "album", bind: "album_id", tab: true }), tracks, ["name", "id", "album_id"]],
    [view([]), table("tracks", ["name"], { view: "album", bind: "gone", tab: true }), tracks, ["name", "id"]],
  ];
  for (const [of, part, info, want] of cases) assert.deepEqual(fieldsOf(of, part, info), want);
});

test("a click opens a view, fills the form, or does nothing", () => {
  const target = { view: "album", bind: "id", tab: true };
  assert.deepEqual(selectOf(view([]), table("albums", [], target)), { kind: "open", target });
  assert.deepEqual(selectOf(view([], form), table("albums")), { kind: "fill" });
  assert.equal(selectOf(view([]), table("albums")), null);
  assert.equal(selectOf(view([], form), table("tracks")), null);
});

test("rows of another domain are those that belong to the record", () => {
  const of = view([]);
  assert.deepEqual(relatedOf(of, table("albums"), albums, null), { kind: "all" });
  assert.deepEqual(relatedOf(of, table("tracks"), albums, { id: 7 }), { kind: "where", where: [{ field: "album_id", op: "eq", value: 7 }] });
  assert.deepEqual(relatedOf(of, table("tracks"), albums, null), { kind: "wait" });
  assert.deepEqual(relatedOf(of, table("tracks"), albums, { id: null }), { kind: "wait" }, "rows without an album belong to none");
  assert.deepEqual(relatedOf(of, table("artists"), albums, { id: 7 }), { kind: "lost" });
  assert.deepEqual(relatedOf(of, table("tracks"), undefined, { id: 7 }), { kind: "lost" });
});

test("a row leads to the view of its record", () => {
  const open = (bind: string | null, row: Record<string, unknown>, listed = albums, shown: DomainInfo | undefined = albums) => placeOf({ view: "album", bind, tab: true }, row, listed, shown);
  assert.deepEqual(open("id", { id: 7 }), { view: "album", at: { kind: "row", where: { id: 7 } } });
  assert.deepEqual(open(null, { id: 7, title: "x" }), { view: "album", at: { kind: "row", where: { id: 7 } } });
  assert.deepEqual(open("album_id", { album_id: 3 }, tracks), { view: "album", at: { kind: "row", where: { id: 3 } } }, "its key where it has no such field");
  assert.equal(open("id", { id: null }), null);
  assert.equal(open(null, { title: "x" }, { ...albums, key: [] }), null);
});

test("views open as tabs or in place, with a way back", () => {
  const at: At = { kind: "row", where: { id: 1 } };
  let state = firstTabs("list", null);
  state = openPlace(state, { view: "album", at }, true);
  assert.deepEqual([state.tabs.length, state.active], [2, 2]);
  state = openPlace({ ...state, active: 1 }, { view: "album", at }, true);
  assert.deepEqual([state.tabs.length, state.active], [2, 2], "a record has one tab");
  state = openPlace(state, { view: "album", at: { kind: "new", preset: {} } }, true);
  state = openPlace(state, { view: "album", at: { kind: "new", preset: {} } }, true);
  assert.equal(state.tabs.length, 4, "each new one has its own");
  state = openPlace(state, { view: "track", at }, false);
  assert.equal(topOf(state.tabs[3]!).view, "track");
  state = goBack(goBack(state));
  assert.equal(topOf(state.tabs[3]!).view, "album");
  state = replaceTop(state, 4, at);
  assert.deepEqual(topOf(state.tabs[3]!).at, at);
  state = closeTab(state, 4);
  assert.deepEqual([state.tabs.length, state.active], [3, 3]);
  assert.equal(closeTab(state, 1), state, "the first one stays");
  assert.equal(closeTab(state, 2).active, 3);
});

test("a button says why it can't be used", () => {
  type State = Parameters<typeof whyNot>[3];
  const ready: State = { record: { id: 1 }, adding: false, changed: true, mayWork: true };
  const cases: [Button["action"], Partial<DomainInfo>, Partial<State>, string | null][] = [
    ["refresh", { write: false }, { mayWork: false, record: null }, null],
    ["save", {}, {}, null], ["save", { write: false }, {}, "no_write"], ["save", {}, { mayWork: false }, "no_write"], ["save", {}, { record: null }, "no_record"], ["save", {}, { changed: false }, "no_change"], ["save", { key: [] }, {}, "no_key"], ["save", { key: [] }, { record: null, adding: true }, null],
    ["delete", {}, { changed: false }, null], ["delete", { delete: false }, {}, "no_delete"], ["delete", {}, { record: null }, "no_record"], ["delete", {}, { adding: true }, "no_record"], ["delete", { key: [] }, {}, "no_key"],
    ["new", {}, { record: null }, null], ["new", { write: false }, {}, "no_write"],
  ];
  for (const [action, info, state, want] of cases) assert.equal(whyNot({ action, label: "", target: null }, view([], form), { ...albums, ...info }, { ...ready, ...state }), want, `${action} ${JSON.stringify([info, state])}`);
  assert.equal(whyNot({ action: "new", label: "", target: null }, view([]), albums, ready), "no_form");
  assert.equal(whyNot({ action: "new", label: "", target: { view: "x", bind: null, tab: false } }, view([]), albums, ready), null);
});

test("a field can be typed in where it may be changed", () => {
  assert.equal(editable(albums.fields[1], albums, false, true), true);
  assert.equal(editable(albums.fields[0], albums, true, true), false, "readonly");
  assert.equal(editable(tracks.fields[0], tracks, false, true), false, "the key of what is there stays");
  assert.equal(editable(tracks.fields[0], tracks, true, true), true);
  assert.equal(editable(undefined, albums, true, true), false);
  assert.equal(editable(albums.fields[1], albums, true, false), false);
});

test("typed texts have the form of their kind, or a problem", () => {
  const cases: [string | boolean | null, FieldKind, unknown, unknown][] = [
    ["7", "int", null, { value: 7 }], [" -7 ", "int", null, { value: -7 }], ["7.5", "int", null, { problem: "bad_int" }], ["", "int", 3, { value: null }], ["12345678901234567890", "int", null, { value: "12345678901234567890" }],
    ["0,99", "float", null, { value: 0.99 }], ["1e3", "float", null, { value: 1000 }], ["1.2.3", "float", null, { problem: "bad_number" }], ["x", "float", null, { problem: "bad_number" }], [".5", "float", null, { value: 0.5 }],
    ["", "string", null, { value: null }], ["", "string", "was", { value: "" }], [" a ", "text", null, { value: " a " }],
    ["2024-02-30x", "date", null, { problem: "bad_date" }], ["2024-02-03", "date", null, { value: "2024-02-03" }], ["", "date", "2024-01-01", { value: null }],
    ["2024-02-03T10:00", "datetime", null, { value: "2024-02-03T10:00" }], ["2024-02-03", "datetime", null, { problem: "bad_datetime" }],
    [true, "bool", null, { value: true }], [null, "bool", true, { value: null }],
  ];
  for (const [typed, kind, before, want] of cases) assert.deepEqual(readTyped(typed, kind, before), want, `${String(typed)} ${kind}`);
});

test("a change has what differs, and nothing else", () => {
  const record = { id: 1, title: "Back in Black", price: 9.99, live: false, released: "1980-07-25", at: "1980-07-25 10:00:00" };
  const wanted = wantedOf({ title: "Back in Black!", price: "9.990", live: false, released: "1980-07-25", at: String(typedOf(record.at, "datetime")) }, record, albums);
  assert.deepEqual(wanted, { set: { title: "Back in Black!" }, problems: {} });
  assert.equal(isChanged(wantedOf({}, record, albums)), false);
  assert.deepEqual(wantedOf({ price: "cheap" }, record, albums), { set: {}, problems: { price: "bad_number" } });
  assert.deepEqual(wantedOf({ title: "New", price: "", live: null }, null, albums).set, { title: "New" }, "what a new one was not given is the database's to fill");
  assert.deepEqual(saveChange(albums, record, { title: "x" }), { change: "update", domain: "albums", key: { id: 1 }, set: { title: "x" } });
  assert.deepEqual(saveChange(albums, null, { title: "x" }), { change: "insert", domain: "albums", set: { title: "x" } });
  assert.deepEqual(deleteChange(albums, record), { change: "delete", domain: "albums", key: { id: 1 } });
  assert.equal(deleteChange({ ...albums, key: [] }, record), null);
  assert.equal(keyOf({ ...albums, key: ["id", "title"] }, { id: 1, title: null }), null);
});

test("a new row of a table belongs to the record", () => {
  const preset = presetOf(albums, "tracks", { id: 7 });
  assert.deepEqual(preset, { album_id: 7 });
  assert.deepEqual(draftOf(preset, tracks), { album_id: "7" });
  assert.deepEqual(presetOf(albums, "artists", { id: 7 }), {});
  assert.deepEqual(presetOf(albums, "tracks", null), {});
});
