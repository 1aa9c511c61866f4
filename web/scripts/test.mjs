// Bundles src/**/*.test.ts with the bundler that is here anyway and runs them with node's own runner.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { build } from "vite";

const root = new URL("..", import.meta.url).pathname;
const out = `${root}node_modules/.cache/tests`;
rmSync(out, { recursive: true, force: true });
const tests = readdirSync(`${root}src`, { recursive: true }).filter((file) => file.endsWith(".test.ts")).map((file) => `src/${file}`);
if (tests.length === 0) throw new Error("no tests found under src/");
await build({
  root,
  configFile: `${root}vite.config.ts`,
  logLevel: "warn",
  publicDir: false,
  build: { ssr: true, outDir: out, manifest: false, rolldownOptions: { input: Object.fromEntries(tests.map((t) => [t.replace(/^src\//, "").replace(/[/.]/g, "_"), root + t])) } },
});
const files = readdirSync(out).filter((f) => f.includes("_test_ts") && f.endsWith(".js")).map((f) => `${out}/${f}`);
const run = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit", timeout: 120_000 });
process.exit(run.status ?? 1);
