import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { found } from "./finding";

/** Pages and actions as the palette names them. */
function commandsOf(language: string) {
  const texts = JSON.parse(readFileSync(`src/i18n/${language}/frame.json`, "utf8")) as Record<string, string>;
  return Object.entries(texts).filter(([key]) => key.startsWith("also.")).map(([key, also]) => ({ id: key.slice(5), label: texts[key.slice(5)] ?? "", also }));
}

test("what is named so comes before what is also called so", () => {
  const all = [{ label: "Runs", also: "log audit" }, { label: "Audit" }, { label: "Agents" }];
  assert.deepEqual(found(all, "audit").map((one) => one.label), ["Audit", "Runs"]);
  assert.deepEqual(found(all, " log  runs ").map((one) => one.label), ["Runs"]);
  assert.equal(found(all, "").length, 3);
});

const WANTED: Record<string, Record<string, string>> = {
  en: { invite: "invite", colleague: "invite", "create agent": "newAgent", "add files": "documents", upload: "documents", collection: "documents", datasource: "addDatasource", database: "addDatasource", sql: "addDatasource", provider: "addConnection", anthropic: "addConnection", model: "connections", "api key": "addConnection", approve: "approvals", cost: "usage", spent: "usage", budget: "usage", log: "audit", password: "settings", backup: "system" },
  de: { einladen: "invite", kollegin: "invite", "agent anlegen": "newAgent", hochladen: "documents", sammlung: "documents", datenquelle: "addDatasource", datenbank: "addDatasource", sql: "addDatasource", anbieter: "addConnection", anthropic: "addConnection", modell: "connections", "api-schlüssel": "addConnection", erlauben: "approvals", kosten: "usage", ausgegeben: "usage", budget: "usage", log: "audit", passwort: "settings", sicherung: "system" },
};
for (const [language, wanted] of Object.entries(WANTED)) {
  test(`the words of newcomers lead somewhere (${language})`, () => {
    for (const [words, id] of Object.entries(wanted)) assert.ok(found(commandsOf(language), words).slice(0, 4).some((one) => one.id === id), words);
  });
}
