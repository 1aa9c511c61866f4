import assert from "node:assert/strict";
import { test } from "node:test";
import type { DomainInfo, DomainText } from "@/api/types";
import { afterSave, docOf, isDirty, isRenamed, newDoc, replacedBy, replacement, versionOf } from "./docs";
import { domainTemplate, freeName, viewTemplate } from "./templates";
import { described, previewOf } from "./view-text";

const VIEW = `
# Albums and their songs
view albums "All \\"albums\\"" over albums {
  toolbar { new "New" -> album as tab; refresh "Reload"; save "Save"; delete "Delete" }
  table -> albums.rows
  {
    on_select -> album bind=id as tab
    column title "Title" width=60
    column price "Price" format=number:2   # money is not needed
    column released "Released" format="date:long" width=12
    column total "Total" format=money:EUR
  }
  section "Details" {
    row { widget text bind=title; widget number bind=price }
    row {
      widget select bind=genre
      widget slider bind=price
    }
  }
}
`;

test("a view of a text is read as the language has it", () => {
  const [view] = described(VIEW).views;
  assert.ok(view);
  const { from, to, ...read } = view;
  assert.equal(VIEW.slice(from, to).startsWith("view albums"), true);
  assert.equal(VIEW.slice(from, to).endsWith("}"), true);
  assert.deepEqual(read, {
    name: "albums", title: 'All "albums"', domain: "albums",
    toolbar: [{ action: "new", label: "New", target: { view: "album", bind: null, tab: true } }, { action: "refresh", label: "Reload", target: null }, { action: "save", label: "Save", target: null }, { action: "delete", label: "Delete", target: null }],
    tables: [{ domain: "albums", on_select: { view: "album", bind: "id", tab: true }, columns: [{ field: "title", label: "Title", width: 60, format: null }, { field: "price", label: "Price", width: null, format: "number:2" }, { field: "released", label: "Released", width: 12, format: "date:long" }, { field: "total", label: "Total", width: null, format: "money:EUR" }] }],
    sections: [{ title: "Details", rows: [[{ kind: "text", field: "title" }, { kind: "number", field: "price" }], [{ kind: "select", field: "genre" }]] }],
  });
});

test("a text that is not finished is read as far as it goes", () => {
  const cases: [string, string[], string[]][] = [
    ["", [], []], ["view", [], []], ["view albums", ["albums"], []], ['view albums "A', ["albums"], []], ["view a over b { table -> b.rows {", ["a"], []], ["}}}{{{ ]", [], []],
    ['domain d from t@s { field view : int }\nview v "V" over d { }', ["v"], ["d"]], ['domain view from t@s { aliases ["view x"] }', [], ["view"]], ['# view no "N" over d\nview yes "Y" over d {}', ["yes"], []],
    ['view a "A" over d { section "S" { row { widget text bind= } } }', ["a"], []], ['view "größe 2" "G" over d { }', ["größe 2"], []],
  ];
  for (const [text, views, domains] of cases) {
    const read = described(text);
    assert.deepEqual([read.views.map((one) => one.name), read.domains.map((one) => one.name)], [views, domains], text);
  }
  // Every beginning of a text can stand in the editor.
  for (let end = 0; end <= VIEW.length; end++) described(VIEW.slice(0, end));
});

test("the preview follows the cursor", () => {
  const text = 'domain d from t@s { field id : int }\nview a "A" over d { }\nview b "B" over d { }\n';
  assert.equal(previewOf(text, 5)?.title, "d");
  assert.deepEqual(previewOf(text, 5)?.tables, [{ domain: "d", on_select: null, columns: [] }]);
  assert.equal(previewOf(text, text.indexOf("view b") + 3)?.name, "b");
  assert.equal(previewOf(text, text.length)?.name, "a");
  assert.equal(previewOf("", 0), null);
});

test("templates are texts of the language", () => {
  const domain: DomainInfo = { name: "order items", datasource: "shop", scope: null, key: ["id"], relations: [], write: true, delete: false, fields: [{ name: "id", kind: "int", readonly: true, ops: [], choices: false }, { name: "unit price", kind: "float", readonly: false, ops: [], choices: false }, { name: "state", kind: "string", readonly: false, ops: [], choices: true }] };
  const [view] = described(viewTemplate(domain, "items")).views;
  assert.deepEqual([view?.name, view?.domain, view?.tables[0]?.domain], ["items", "order items", "order items"]);
  assert.deepEqual(view?.tables[0]?.columns.map((one) => one.field), ["id", "unit price", "state"]);
  assert.deepEqual(view?.sections[0]?.rows.flat().map((one) => one.kind), ["number", "number", "select"]);
  assert.deepEqual(view?.toolbar.map((one) => one.action), ["new", "refresh", "save"]);
  assert.deepEqual(described(domainTemplate("shop")).domains.map((one) => one.name), ["things"]);
  assert.deepEqual([freeName("items", []), freeName("items", ["items", "items_2"])], ["items", "items_3"]);
});

const kept = (name: string, version: number, text = name): DomainText => ({ kind: "domain", name, text, version, changed_at: 0 });

test("a save stands on the version that was read", () => {
  const all = [kept("a", 3), kept("b", 1)];
  const doc = docOf(all[0]!);
  assert.equal(versionOf(doc, ["a"], all), 3);
  assert.equal(versionOf(doc, ["a", "b"], all), undefined, "several have no version together");
  assert.equal(versionOf(doc, ["c"], all), 0, "under another name it must not be there yet");
  assert.equal(versionOf(newDoc("x", "new"), ["c"], all), 0);
  assert.equal(versionOf(newDoc("x", "new"), ["b"], all), undefined, "it was told that this one is replaced");
  assert.deepEqual(replacedBy(newDoc("x", "new"), ["b", "c"], all), ["b"]);
  assert.deepEqual(replacedBy(doc, ["a"], all), []);
  assert.deepEqual(replacedBy(doc, ["b"], all), ["b"]);
  assert.deepEqual([isRenamed(doc, ["a"]), isRenamed(doc, ["c"]), isRenamed(newDoc("x", "n"), ["c"]), isRenamed(doc, [])], [false, true, false, false]);
});

test("what was saved is open after it, and other drafts stay", () => {
  const docs = { "domain/a": { ...docOf(kept("a", 3)), text: "mine" }, "new-1": newDoc("x", "new") };
  const next = afterSave(docs, "domain/a", [{ text: kept("a", 4, "mine"), diff: "", warnings: [] }]);
  assert.equal(next.open, "domain/a");
  assert.equal(isDirty(next.docs["domain/a"]!), false);
  assert.equal(next.docs["domain/a"]?.version, 4);
  assert.ok(next.docs["new-1"]);
  assert.deepEqual(Object.keys(afterSave(docs, "new-1", [{ text: kept("c", 1), diff: "", warnings: [] }]).docs).sort(), ["domain/a", "domain/c"]);
});

test("a new text takes the place of what differs only", () => {
  const cases: [string, string][] = [["abc", "abc"], ["", "abc"], ["abc", ""], ["field a", "field ab"], ["aaa", "aa"], ["x = 1\ny", "x=1\ny"], ["abab", "ab"]];
  for (const [before, after] of cases) {
    const change = replacement(before, after);
    assert.equal(change ? before.slice(0, change.from) + change.insert + before.slice(change.to) : before, after);
  }
  assert.deepEqual(replacement("one two three", "one 2 three"), { from: 4, to: 7, insert: "2" });
});
