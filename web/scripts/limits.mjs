// Writes src/api/limits.json: the lengths and numbers that fields of requests may have, as the API's document says. Forms go by
// these instead of numbers of their own. With `--check` it only compares.
import { readFileSync, writeFileSync } from "node:fs";

const KEYS = ["minLength", "maxLength", "minimum", "maximum", "maxItems"];
const file = new URL("../src/api/limits.json", import.meta.url);
const { schemas } = JSON.parse(readFileSync(new URL("../openapi.json", import.meta.url), "utf8")).components;
const limits = {};
for (const [name, schema] of Object.entries(schemas)) {
  const fields = {};
  for (const [field, shape] of Object.entries(schema.properties ?? {})) {
    const found = KEYS.filter((key) => typeof shape[key] === "number").map((key) => [key, shape[key]]);
    if (found.some(([key]) => key.startsWith("max"))) fields[field] = Object.fromEntries(found);
  }
  if (Object.keys(fields).length > 0) limits[name] = fields;
}
const text = `${JSON.stringify(limits, null, 2)}\n`;
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  console.error("src/api/limits.json is not what openapi.json says: run `npm run gen`");
  process.exit(1);
}
