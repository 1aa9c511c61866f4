// Prints what the browser loads before the first page can be used, gzipped, and fails above the limit.
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_KB = 250;
const dist = new URL("../dist/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", dist), "utf8"));
const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
if (!entry) throw new Error("dist/.vite/manifest.json has no entry: run `npm run build` first");

// `make web` keeps most files compressed only.
const bytes = (file) => {
  const zipped = new URL(`${file}.gz`, dist);
  return existsSync(zipped) ? readFileSync(zipped) : gzipSync(readFileSync(new URL(file, dist)), { level: 9 });
};
const gzipped = (file) => bytes(file).length / 1024;
const initial = new Set();
const visit = (key) => {
  if (initial.has(key)) return;
  initial.add(key);
  for (const next of manifest[key].imports ?? []) visit(next);
};
visit(entry);

let js = 0;
let css = 0;
for (const key of initial) {
  const size = gzipped(manifest[key].file);
  js += size;
  for (const sheet of manifest[key].css ?? []) css += gzipped(sheet);
  console.log(`  initial  ${manifest[key].file.padEnd(44)} ${size.toFixed(1)} KB`);
}
for (const [key, chunk] of Object.entries(manifest)) {
  if (initial.has(key) || !chunk.file.endsWith(".js")) continue;
  console.log(`  lazy     ${chunk.file.padEnd(44)} ${gzipped(chunk.file).toFixed(1)} KB`);
}
console.log(`initial JavaScript ${js.toFixed(1)} KB gzip of ${LIMIT_KB} allowed, CSS ${css.toFixed(1)} KB`);
if (js > LIMIT_KB) {
  console.error(`too much: load something of it lazily`);
  process.exit(1);
}
