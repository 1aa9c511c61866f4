import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
type Violation = { id: string; impact: string | null; help: string; nodes: { target: unknown[]; failureSummary?: string; html: string }[] };

/** Serious faults that axe finds on the page, and a sideways scroll. The page's security policy must be off (`bypassCSP`). */
export async function faultsOf(page: Page, name: string, rules: object = {}): Promise<string[]> {
  const faults: string[] = [];
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const found = await page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    return (await axe.run({ resultTypes: ["violations"], ...only })).violations;
  }, rules);
  for (const { id, impact, help, nodes } of found) {
    if (impact !== "serious" && impact !== "critical") continue;
    faults.push(`${name}: ${id} (${impact}): ${help}\n${nodes.slice(0, 4).map((node) => `    ${node.target.join(" ")}\n    ${node.html.slice(0, 200)}\n    ${node.failureSummary?.replaceAll("\n", " ") ?? ""}`).join("\n")}`);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) faults.push(`${name}: the page is ${wide} px wider than the window`);
  return faults;
}

/** Light and dark differ in nothing but colours. */
export const COLOURS = { runOnly: ["color-contrast"] };
