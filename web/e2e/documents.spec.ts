// Documents: dropped, read, found by meaning, opened at their passage, removed and brought back; what failed; folders of the server.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { expect, test, visit } from "./support/test.ts";

const LEAVE = "# Leave\n\nEverybody has 28 days of holiday a year. What is not taken by March is lost.\n\n# Sick notes\n\nFrom the third day on a certificate of a doctor is wanted.\n";
const TRAVEL = "# Travel\n\nTrains are booked second class. Flights need the consent of the head of department.\n";

/** Drops files on the page, as from another window. */
async function drop(page: Page, ...files: [name: string, text: string][]): Promise<void> {
  const dataTransfer = await page.evaluateHandle((list) => {
    const data = new DataTransfer();
    for (const [name, text] of list) data.items.add(new File([text], name));
    return data;
  }, files);
  await page.dispatchEvent("main", "dragenter", { dataTransfer });
  await expect(page.getByText(/^Drop the files to add them/)).toBeVisible();
  await page.dispatchEvent("main", "drop", { dataTransfer });
}
const table = (page: Page): Locator => page.getByRole("main").getByRole("table", { name: "Documents" });
const row = (page: Page, name: string): Locator => table(page).getByRole("row").filter({ hasText: name });
const toast = (page: Page, text: string): Locator => page.locator("[data-toast]").filter({ hasText: text });

test("a dropped file makes a collection, is found by its meaning, opened, removed and brought back", async ({ studio: page, api }) => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Documents" }).click();
  const main = page.getByRole("main");
  await expect(main.getByText("No documents yet")).toBeVisible();
  await drop(page, ["leave.md", LEAVE], ["travel.md", TRAVEL]);
  await expect(main.getByRole("heading", { level: 2, name: "Documents" })).toBeVisible();
  for (const name of ["leave.md", "travel.md"]) await expect(row(page, name).getByText("ready", { exact: true })).toBeVisible();
  await expect(main.getByRole("navigation", { name: "Collections" }).getByRole("link", { name: /^Documents/ })).toContainText("2");

  // The same again is told, and is no second document.
  await drop(page, ["copy.md", LEAVE]);
  await expect(main.getByText("a document with this content is there already")).toBeVisible();
  await main.getByRole("button", { name: "Put away" }).click();
  await expect(row(page, ".md")).toHaveCount(2);

  // None of these words stands in the text.
  await main.getByRole("tab", { name: "Try a search" }).click();
  await main.getByLabel("Question").fill("how much vacation do employees get");
  await main.getByLabel("Question").press("Enter");
  const best = main.getByRole("table", { name: "Passages that were found" }).getByRole("row").nth(1);
  await expect(best).toContainText("leave.md");
  await expect(best).toContainText("meaning: place 1");
  await expect(page).toHaveURL(/q=how/);
  await best.getByRole("button", { name: "leave.md" }).click();
  const sheet = page.getByRole("dialog", { name: "leave.md" });
  const passage = sheet.locator("[data-passage][aria-current]");
  await expect(passage).toContainText("28 days of holiday");
  await expect(passage).toBeInViewport();

  const download = page.waitForEvent("download");
  await sheet.getByRole("button", { name: "Download" }).click();
  expect(await readFile(await (await download).path(), "utf8")).toBe(LEAVE);

  // The address leads there again.
  await page.reload();
  await expect(passage).toContainText("28 days of holiday");
  await sheet.getByRole("button", { name: "Remove" }).click();
  await main.getByRole("tab", { name: "Documents" }).click();
  await expect(row(page, ".md")).toHaveCount(1);
  await toast(page, "leave.md is removed").getByRole("button", { name: "Undo" }).click();
  await expect(row(page, ".md")).toHaveCount(2);
  const names = async () => (await api.call<{ items: { name: string }[] }>("GET", "/documents")).items.map((one) => one.name).sort();
  expect(await names()).toEqual(["leave.md", "travel.md"]);

  // Leaving the page sends what could still be taken back.
  await row(page, "leave.md").getByRole("button").click();
  await sheet.getByRole("button", { name: "Remove" }).click();
  await expect(row(page, ".md")).toHaveCount(1);
  await visit(page, "/chat");
  await expect.poll(names).toEqual(["travel.md"]);
});

test("a passage that holds a code of the question exactly says so", async ({ studio: page }) => {
  await visit(page, "/documents");
  await drop(page, ["pump.md", "# Pump\n\nThe seal has the number QX-48213 and is changed each May.\n"], ["valve.md", "# Valve\n\nThe valve is opened by hand, and its seal is never changed.\n"]);
  for (const name of ["pump.md", "valve.md"]) await expect(row(page, name).getByText("ready", { exact: true })).toBeVisible();
  await visit(page, "/documents?tab=search&q=where+is+the+seal+QX-48213");
  const found = page.getByRole("table", { name: "Passages that were found" });
  await expect(found.getByRole("row").nth(1)).toContainText(/exactly: .*48213/i);
  await expect(found.getByRole("row").filter({ hasText: "valve.md" })).not.toContainText("exactly:");
});

test("under all documents it is asked, and said, where files go", async ({ studio: page, api }) => {
  for (const name of ["Contracts", "Documents"]) await api.call("POST", "/collections", { name, description: "" });
  await visit(page, "/documents");
  await drop(page, ["leave.md", LEAVE]);
  const where = page.getByRole("dialog", { name: "Where does the file go?" });
  await expect(where.getByLabel("Collection").locator("option:checked")).toHaveText("Documents");
  await where.getByLabel("Collection").selectOption("Contracts");
  await where.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText("1 file goes into Contracts")).toBeVisible();
});

test("what can't be read says why; a collection is changed, tuned, shared and removed", async ({ studio: page, api }) => {
  await visit(page, "/documents");
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "New collection" }).first().click();
  const form = page.getByRole("dialog", { name: "New collection" });
  await form.getByLabel("Name").fill("Handbook");
  await form.getByRole("button", { name: "Make the collection" }).click();
  await expect(main.getByRole("heading", { level: 2, name: "Handbook" })).toBeVisible();
  await main.getByLabel("Choose files").setInputFiles([{ name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\nnot really") }, { name: "leave.md", mimeType: "text/markdown", buffer: Buffer.from(LEAVE) }, { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.from("") }]);
  await expect(main.getByText("The file is empty")).toBeVisible();
  await expect(row(page, "leave.md").getByText("ready", { exact: true })).toBeVisible();
  await expect(row(page, "broken.pdf").getByText("failed", { exact: true })).toBeVisible();
  await main.getByLabel("State").selectOption("failed");
  await expect(row(page, "leave.md")).toHaveCount(0);
  await row(page, "broken.pdf").getByRole("button").click();
  await expect(page.getByRole("dialog", { name: "broken.pdf" }).getByRole("alert")).toBeVisible();
  await page.keyboard.press("Escape");
  await main.getByRole("button", { name: "Clear filters" }).click();

  const menu = async (item: string) => {
    await main.getByRole("button", { name: /^Actions for the collection/ }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await menu("Settings of the search");
  const tuning = page.getByRole("dialog", { name: "How Handbook is searched" });
  await tuning.getByLabel("Length of passages").fill("100");
  await tuning.getByRole("button", { name: "Save" }).click();
  await expect(tuning.getByText("A whole number from 200 to 4,000.")).toBeVisible();
  await tuning.getByLabel("Length of passages").fill("400");
  await tuning.getByLabel("Overlap").fill("50");
  await tuning.getByLabel("Words or meaning").fill("50");
  await tuning.getByRole("checkbox", { name: /^Apply to the 2 documents/ }).click();
  await tuning.getByRole("button", { name: "Save" }).click();
  await expect(toast(page, "2 documents are read again")).toBeVisible();
  const [kept] = (await api.call<{ items: { chunking: unknown; weights: unknown }[] }>("GET", "/collections")).items;
  expect(kept).toMatchObject({ chunking: { max_chars: 400, overlap: 50 }, weights: { text: 0.5, vectors: 0.5 } });

  await main.getByRole("button", { name: "Access" }).click();
  const access = page.getByRole("dialog", { name: "Access to Handbook" });
  await access.getByRole("switch", { name: /^Only with a grant/ }).click();
  await expect(access.getByText("It is open: everybody may use it.")).toBeVisible();
  await access.getByRole("button", { name: "Close" }).last().click();
  await expect(main.getByText("open to all").first()).toBeVisible();
  await menu("Rename or describe");
  const change = page.getByRole("dialog", { name: "Change Handbook" });
  await change.getByLabel("Name").fill("Rules");
  await change.getByRole("button", { name: "Save" }).click();
  await expect(main.getByRole("heading", { level: 2, name: "Rules" })).toBeVisible();
  await menu("Remove the collection");
  const removal = page.getByRole("dialog", { name: "Remove the collection Rules?" });
  await expect(removal).toContainText("Its 2 documents go for good");
  await removal.getByRole("button", { name: "Remove for good" }).click();
  await expect(main.getByText("No documents yet")).toBeVisible();
});

test.describe("folders of the server", () => {
  // A path that is none is refused once. Folders of this machine are for administrators of the installation.
  test.use({ own: true, expected: [/status of 422/] });

  test("are read as a job, and watched", async ({ studio: page, api }) => {
    const folder = await mkdtemp(join(tmpdir(), "steward-folder-"));
    await writeFile(join(folder, "leave.md"), LEAVE);
    await writeFile(join(folder, "travel.md"), TRAVEL);
    await api.call("POST", "/collections", { name: "Server" });
    await visit(page, "/documents?tab=folders");
    const main = page.getByRole("main");
    await main.getByLabel("Folder or file").fill("here");
    await main.getByRole("button", { name: "Read once" }).click();
    await expect(main.getByRole("alert")).toContainText("absolute path");
    await main.getByLabel("Folder or file").fill(folder);
    await main.getByRole("button", { name: "Read once" }).click();
    const job = main.getByRole("list", { name: "Folders that are read" }).getByRole("listitem").filter({ hasText: folder });
    await expect(job).toContainText("2 of 2 done");
    await expect(job.getByText("done", { exact: true })).toBeVisible();
    await main.getByLabel("Folder or file").fill(folder);
    await main.getByRole("button", { name: "Watch", exact: true }).click();
    const watched = main.getByRole("list", { name: "Folders that are watched" }).getByRole("listitem");
    await expect(watched).toContainText(folder);
    await watched.getByRole("button", { name: /^Watch .* no more$/ }).click();
    await expect(watched).toHaveCount(0);
    await toast(page, "is watched no more").getByRole("button", { name: "Undo" }).click();
    await expect(watched).toHaveCount(1);
    await rm(folder, { recursive: true, force: true });
  });
});
