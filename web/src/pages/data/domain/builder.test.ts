import assert from "node:assert/strict";
import { test } from "node:test";
import type { DomainInfo, FieldKind } from "@/api/types";
import { type Built, choosable, EMPTY, fnsOf, nextOrder, problemOf, queryOf, readBuilt, writeBuilt } from "./builder";

const field = (name: string, kind: FieldKind) => ({ name, kind, readonly: false, ops: ["eq"], choices: false });
const domain = (name: string, fields: [string, FieldKind][], relations: DomainInfo["relations"] = []): DomainInfo => ({ name, datasource: "shop", scope: null, key: ["id"], fields: fields.map(([of, kind]) => field(of, kind)), relations, write: true, delete: true });
const artists = domain("artists", [["id", "int"], ["name", "string"]]);
const tracks = domain("tracks", [["id", "int"], ["price", "float"]]);
const albums = domain("albums", [["id", "int"], ["title", "string"], ["released", "date"], ["live", "bool"], ["price", "float"]], [
  { name: "artist", kind: "belongs_to", domain: "artists", bind: [["artist_id", "id"]] },
  { name: "tracks", kind: "has_many", domain: "tracks", bind: [["id", "album_id"]] },
  { name: "secret", kind: "belongs_to", domain: "hidden", bind: [["x", "id"]] },
]);
const fields = choosable(albums, [albums, artists, tracks]);
const check = (built: Partial<Built>, want: object, after: string | null = null) => assert.deepEqual(queryOf({ ...EMPTY, ...built }, "albums", fields, after), { domain: "albums", limit: 50, ...want });

test("fields may be chosen over relations to domains that one sees", () => {
  assert.deepEqual(fields.map((one) => one.path), ["id", "title", "released", "live", "price", "artist.id", "artist.name", "tracks.id", "tracks.price"]);
  assert.deepEqual(fields.filter((one) => one.many).map((one) => one.path), ["tracks.id", "tracks.price"]);
});

test("what was chosen becomes a query", () => {
  check({}, {});
  check({ fields: ["title", "artist.name"] }, { fields: ["title", "artist.name"] });
  check({ fields: ["title", "gone", "tracks.price"] }, { fields: ["title"] });
  check({ order: { field: "title", desc: false } }, { order: [{ field: "title" }] });
  check({ order: { field: "title", desc: true }, limit: 20 }, { order: [{ field: "title", desc: true }], limit: 20 });
  check({ order: { field: "gone", desc: true } }, {});
  check({}, { after: "abc" }, "abc");
});

test("a filter has a value of its field's kind", () => {
  const cases: [string, string, string, object][] = [
    ["title", "contains", "100%_sure", { value: "100%_sure" }],
    ["title", "eq", "42", { value: "42" }],
    ["id", "gte", " 42 ", { value: 42 }],
    ["id", "eq", "12345678901234567890", { value: "12345678901234567890" }],
    ["price", "lt", "0.99", { value: 0.99 }],
    ["id", "in", "1, 2,,3", { value: [1, 2, 3] }],
    ["title", "in", "Rock, Metal", { value: ["Rock", "Metal"] }],
    ["released", "between", "2020-01-01, 2020-12-31", { value: ["2020-01-01", "2020-12-31"] }],
    ["live", "eq", "true", { value: true }],
    ["live", "eq", "false", { value: false }],
    ["title", "is_null", "left over", {}],
    ["artist.name", "eq", "AC/DC", { value: "AC/DC" }],
    ["tracks.price", "gt", "1", { value: 1 }],
  ];
  for (const [name, op, value, want] of cases) check({ where: [{ field: name, op, value }] }, { where: [{ field: name, op, ...want }] });
});

test("filters that are not finished ask nothing, and say what is missing", () => {
  const cases: [string, string, FieldKind, string | null][] = [
    ["eq", "", "string", "value_missing"], ["eq", "  ", "int", "value_missing"], ["in", " , ", "int", "value_missing"], ["between", "1", "int", "value_between"], ["between", "1,2,3", "int", "value_between"],
    ["eq", "many", "int", "value_number"], ["in", "1,x", "float", "value_number"], ["is_null", "", "int", null], ["not_null", "", "string", null], ["between", "1,2", "int", null], ["eq", "x", "string", null],
  ];
  for (const [op, value, kind, want] of cases) {
    assert.equal(problemOf({ field: "f", op, value }, kind), want, `${op} ${value}`);
    if (want && kind === "int") check({ where: [{ field: "id", op, value }] }, {});
  }
  check({ where: [{ field: "gone", op: "eq", value: "1" }] }, {});
});

test("groups and numbers take the place of fields", () => {
  check({ fields: ["title"], group: [{ field: "artist.name", by: "" }] }, { group: [{ field: "artist.name" }], aggregate: [{ fn: "count", as: "count" }] });
  check({ group: [{ field: "released", by: "year" }], aggregate: [{ fn: "sum", field: "price" }] }, { group: [{ field: "released", by: "year" }], aggregate: [{ fn: "sum", field: "price", as: "sum_price" }] });
  check({ group: [{ field: "title", by: "year" }] }, { group: [{ field: "title" }], aggregate: [{ fn: "count", as: "count" }] });
  check({ aggregate: [{ fn: "count", field: "" }] }, { aggregate: [{ fn: "count", as: "count" }] });
  check({ aggregate: [{ fn: "avg", field: "tracks.price" }], order: { field: "avg_tracks_price", desc: true } }, { aggregate: [{ fn: "avg", field: "tracks.price", as: "avg_tracks_price" }], order: [{ field: "avg_tracks_price", desc: true }] });
  check({ aggregate: [{ fn: "count", field: "" }], order: { field: "title", desc: false } }, { aggregate: [{ fn: "count", as: "count" }] });
});

test("a header sorts up, down, not at all", () => {
  const up = nextOrder(null, "a");
  const down = nextOrder(up, "a");
  assert.deepEqual([up, down, nextOrder(down, "a"), nextOrder(down, "b")], [{ field: "a", desc: false }, { field: "a", desc: true }, null, { field: "b", desc: false }]);
});

test("functions fit the kind", () => {
  const cases: [FieldKind | null, number][] = [[null, 1], ["string", 1], ["text", 1], ["bool", 1], ["int", 5], ["float", 5], ["date", 3], ["datetime", 3]];
  for (const [kind, count] of cases) assert.equal(fnsOf(kind).length, count, String(kind));
});

test("what was built comes back from an address, and rubbish does not", () => {
  const built: Built = { fields: ["title"], where: [{ field: "id", op: "in", value: "1,2" }], order: { field: "title", desc: true }, group: [{ field: "released", by: "month" }], aggregate: [{ fn: "sum", field: "price" }], limit: 20 };
  assert.deepEqual(readBuilt(writeBuilt(built)), built);
  assert.equal(writeBuilt(EMPTY), "");
  for (const rubbish of ["", "{", "null", "[]", "3", '{"limit":0}', '{"limit":"x","fields":3,"where":[3,{"field":1}],"order":7,"group":"x","aggregate":[{"fn":"drop"}]}']) assert.deepEqual(readBuilt(rubbish), EMPTY, rubbish);
});
