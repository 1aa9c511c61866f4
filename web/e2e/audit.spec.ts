import { readFileSync } from "node:fs";
import { expect, test, visit } from "./support/test.ts";

test("an administrator finds an entry, follows it to its run, exports and checks the trail", async ({ studio: page, api }) => {
  await api.ask("Hello");
  await visit(page, "/audit");
  const main = page.getByRole("main");
  const table = main.getByRole("table", { name: "Audit" });
  await expect(table.getByRole("button", { name: "run.finished" })).toBeVisible();

  await main.getByRole("combobox", { name: "Action" }).selectOption("run");
  await expect(table.getByRole("row")).toHaveCount(3);
  expect(page.url(), "what is shown can be linked").toContain("action=run");
  await table.getByRole("button", { name: "run.started" }).click();
  const entry = page.getByRole("dialog", { name: /^Entry \d+/ });
  await expect(entry).toContainText("scripted");
  await entry.getByRole("button", { name: "All of this run" }).click();
  await expect(main.getByRole("button", { name: /^Run …/ })).toBeVisible();
  await table.getByRole("button", { name: "run.started" }).click();
  await entry.getByRole("link", { name: "Open the run" }).click();
  await expect(page).toHaveURL(/\/runs\//);

  await visit(page, "/audit?result=failed");
  await expect(main.getByText("No entry fits")).toBeVisible();
  await main.getByRole("button", { name: "Clear the filters" }).last().click();
  await expect(table).toBeVisible();

  const saved = page.waitForEvent("download");
  await main.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "As a table (CSV)" }).click();
  const file = await (await saved).path();
  expect(readFileSync(file, "utf8")).toContain("run.started");

  await main.getByRole("button", { name: "Check" }).click();
  const check = page.getByRole("dialog", { name: "Check of the chain" });
  await expect(check.getByText("The chain is whole")).toBeVisible();
  await check.getByRole("button", { name: "Close" }).last().click();

  await main.getByRole("button", { name: "Kept for good" }).click();
  const kept = page.getByRole("dialog", { name: "How long entries are kept" });
  await kept.getByLabel("Days").fill("0");
  await expect(kept.getByText("A whole number from 1 to 36,500, or empty.")).toBeVisible();
  await kept.getByLabel("Days").fill("365");
  await kept.getByRole("button", { name: "Save" }).click();
  await expect(main.getByRole("button", { name: "Kept 365 days" })).toBeVisible();
});
