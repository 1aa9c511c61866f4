import assert from "node:assert/strict";
import { test } from "node:test";
import type { Datasource } from "@/api/types";
import { EMPTY, type Form, formOf, inputOf, isServer, problemsOf } from "./form";

const GOOD: Form = { ...EMPTY, name: "shop", database: "sqlite:shop.db" };

test("what is wrong with a datasource is said at its field", () => {
  const cases: [Partial<Form>, object][] = [
    [{}, {}],
    [{ name: "" }, { name: "name_bad" }], [{ name: "1shop" }, { name: "name_bad" }], [{ name: "my shop" }, { name: "name_bad" }], [{ name: "a".repeat(41) }, { name: "name_bad" }],
    [{ database: " " }, { database: "database_missing" }], [{ database: "shop.db" }, { database: "database_bad" }], [{ database: "sqlite:" }, { database: "database_bad" }], [{ database: "oracle://host/x" }, { database: "database_bad" }],
    [{ database: "postgres://db.example.org:5432/shop" }, {}], [{ database: "postgres://reader@db/shop" }, {}], [{ database: "mariadb://db/shop" }, {}],
    [{ database: "postgres://reader:secret@db/shop" }, { database: "password_in_address" }], [{ database: "mysql://:secret@db/shop" }, { database: "password_in_address" }],
    [{ rows: "0" }, { rows: "rows_bad" }], [{ rows: "1001" }, { rows: "rows_bad" }], [{ rows: "1.5" }, { rows: "rows_bad" }],
    [{ seconds: "0.05" }, { seconds: "seconds_bad" }], [{ seconds: "61" }, { seconds: "seconds_bad" }], [{ seconds: "" }, { seconds: "seconds_bad" }], [{ seconds: "0,5" }, {}],
    [{ planned: "-1" }, { planned: "planned_bad" }], [{ planned: "0" }, {}],
  ];
  for (const [change, want] of cases) assert.deepEqual(problemsOf({ ...GOOD, ...change }), want, JSON.stringify(change));
});

test("a datasource comes back from its form as it was", () => {
  const source: Datasource = { id: "1", name: "shop", database: "postgres://db/shop", credential: "c1", visibility: "sample", limits: { rows: 20, timeout_ms: 2500, planned_rows: 0 }, writable: true, as_asking_user: true, untrusted: false, version: 4, changed_at: 0 };
  const { id: _id, changed_at: _at, ...input } = source;
  assert.deepEqual(inputOf(formOf(source), source.version), input);
  assert.equal(inputOf(GOOD, 0).credential, null);
  assert.equal(inputOf({ ...formOf(source), database: "mysql://db/shop" }, 0).as_asking_user, false);
  assert.equal(inputOf({ ...formOf(source), database: " folder:reports" }, 0).writable, false, "files are only read");
});

test("a server asks for a user", () => {
  for (const [address, want] of [["postgres://db/x", true], [" mysql://db/x", true], ["sqlite:x.db", false], ["", false]] as const) assert.equal(isServer(address), want, address);
});
