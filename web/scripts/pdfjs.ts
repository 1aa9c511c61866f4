// A plugin of the build: puts what the viewer of PDFs fetches by name beside its code. Not among these are its WebAssembly
// modules: the content security policy forbids them.
import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";

const home = new URL("../node_modules/pdfjs-dist/", import.meta.url);
const FOLDERS = { cmaps: /\.bcmap$|LICENSE/, standard_fonts: /\.(pfb|ttf)$|LICENSE/, wasm: /_nowasm_fallback\.js$|LICENSE_.*OPENJPEG/ };

export function pdfjs(): Plugin {
  return {
    name: "steward-pdfjs",
    apply: "build",
    generateBundle() {
      const { version } = JSON.parse(readFileSync(new URL("package.json", home), "utf8")) as { version: string };
      for (const [folder, wanted] of Object.entries(FOLDERS)) {
        for (const file of readdirSync(new URL(`${folder}/`, home))) {
          if (!wanted.test(file)) continue;
          this.emitFile({ type: "asset", fileName: `assets/pdfjs-${version}/${folder}/${file}`, source: readFileSync(new URL(`${folder}/${file}`, home)) });
        }
      }
    },
  };
}
