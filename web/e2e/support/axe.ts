import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { root } from "./paths.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Faults that are known, as `page: rule`; the file says why each stays. */
const known = readFileSync(join(root, "scripts/prove/axe.exceptions"), "utf8")
  .split("\n")
  .filter((line) => line && !line.startsWith("#"))
  .map((line) => new RegExp(line.split("\t")[0] as string));
type Violation = { id: string; impact: string | null; help: string; nodes: { target: unknown[]; failureSummary?: string; html: string }[] };

/** What axe finds on the page, in the gate only what is serious, and a sideways scroll. The page's security policy must be off (`bypassCSP`). */
export async function faultsOf(page: Page, name: string, rules: object = {}): Promise<string[]> {
  const faults: string[] = [];
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const found = await page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    return (await axe.run({ resultTypes: ["violations"], ...only })).violations;
  }, rules);
  for (const { id, impact, help, nodes } of found) {
    if ((!process.env.STEWARD_PROVE && impact !== "serious" && impact !== "critical") || known.some((pattern) => pattern.test(`${name}: ${id}`))) continue;
    faults.push(`${name}: ${id} (${impact}): ${help}\n${nodes.slice(0, 4).map((node) => `    ${node.target.join(" ")}\n    ${node.html.slice(0, 200)}\n    ${node.failureSummary?.replaceAll("\n", " ") ?? ""}`).join("\n")}`);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) faults.push(`${name}: the page is ${wide} px wider than the window`);
  return faults;
}

/** How pages are looked at: in the light in the gate, in the dark and on a phone where it is proved at length. */
export const looks = [
  { name: "light", tag: "@axe", use: { colorScheme: "light", viewport: { width: 1280, height: 820 }, bypassCSP: true }, rules: {} },
  // It differs from the light in nothing but colours.
  { name: "dark", tag: "@prove", use: { colorScheme: "dark", viewport: { width: 1280, height: 820 }, bypassCSP: true }, rules: { runOnly: ["color-contrast"] } },
  { name: "phone", tag: "@prove", use: { colorScheme: "light", viewport: { width: 390, height: 844 }, bypassCSP: true, hasTouch: true }, rules: {} },
] as const;
