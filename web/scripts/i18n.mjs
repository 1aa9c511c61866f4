// Both languages have the same files, the same keys and the same placeholders.
import { readFileSync, readdirSync } from "node:fs";

const root = new URL("../src/i18n/", import.meta.url);
const files = (language) => readdirSync(new URL(`${language}/`, root)).filter((f) => f.endsWith(".json")).sort();
const read = (language, file) => JSON.parse(readFileSync(new URL(`${language}/${file}`, root), "utf8"));
const holes = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort().join(",");

const problems = [];
const languages = readdirSync(root, { withFileTypes: true }).filter((d) => d.isDirectory() && d.name !== "en").map((d) => d.name);
let count = 0;
for (const language of languages) {
  const names = new Set([...files("en"), ...files(language)]);
  for (const file of names) {
    let ours, theirs;
    try {
      ours = read("en", file);
      theirs = read(language, file);
    } catch (error) {
      problems.push(`${language}/${file}: ${error.message}`);
      continue;
    }
    for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      count += 1;
      if (typeof ours[key] !== "string") problems.push(`en/${file}: \`${key}\` is missing or not a text`);
      else if (typeof theirs[key] !== "string") problems.push(`${language}/${file}: \`${key}\` is missing or not a text`);
      else if (theirs[key].trim() === "") problems.push(`${language}/${file}: \`${key}\` is empty`);
      else if (holes(ours[key]) !== holes(theirs[key])) problems.push(`${language}/${file}: \`${key}\` has other placeholders than en`);
    }
  }
}
if (problems.length) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log(`i18n: ${count} texts in ${languages.length + 1} languages agree`);
