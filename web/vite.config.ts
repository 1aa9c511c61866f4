import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { pdfjs } from "./scripts/pdfjs.ts";

const server = "http://127.0.0.1:8800";
const src = (path: string) => new URL(`./src/${path}`, import.meta.url).pathname;

export default defineConfig({
  plugins: [react(), tailwindcss(), pdfjs()],
  resolve: {
    alias: [
      { find: /^@\//, replacement: src("") },
      // Radix locks scrolling with a <style> element made by script, which the content security
      // policy forbids; ours does it with a class.
      { find: /^react-remove-scroll$/, replacement: src("ui/remove-scroll.tsx") },
    ],
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: { "/api": server, "/v1": server, "/hooks": server, "/docs": server, "/healthz": server, "/readyz": server },
  },
  build: {
    target: "es2023",
    outDir: "dist",
    manifest: true,
    // Nothing as data: URLs: fonts and scripts from them are forbidden too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What each page needs, and changes only with an update of a library.
            { name: "vendor", test: /node_modules\/(react|react-dom|scheduler|@tanstack|use-sync-external-store)\//, priority: 20 },
            // Icons are tiny: one file instead of a request for each.
            { name: "icons", test: /node_modules\/lucide-react\//, priority: 10 },
          ],
        },
      },
    },
  },
});
