// Databases: described by talking and in the editor, shown as applications, asked, drawn, changed and taken back.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { faultsOf, looks } from "./support/axe.ts";
import type { Api } from "./support/api.ts";
import { Chat } from "./support/chat.ts";
import { makeShop, SHOP_TEXT } from "./support/database.ts";
import { calls, text, when } from "./support/model.ts";
import { settled } from "./support/pages.ts";
import type { Workspace } from "./support/server.ts";
import { expect, test, visit } from "./support/test.ts";

/** A shop with its datasource, and its texts unless they are what the test is about. */
async function shop(workspace: Workspace, api: Api, described = true): Promise<string> {
  makeShop(join(workspace.path, "shop.db"));
  const { id } = await api.call<{ id: string }>("POST", "/datasources", { name: "shop", database: "sqlite:shop.db", writable: true });
  if (described) await api.call("PUT", "/domains/texts", { text: SHOP_TEXT });
  return id;
}
const agentCalled = async (api: Api, name: string): Promise<string> => (await api.call<{ items: { id: string; name: string }[] }>("GET", "/agents?limit=100")).items.find((agent) => agent.name === name)?.id ?? "";
const editor = (page: Page): Locator => page.getByRole("textbox", { name: /^Text of/ });
const problems = (page: Page): Locator => page.getByRole("region", { name: "Problems" });

test("a folder of files says which of them are not read, and why", async ({ studio: page, workspace, api }) => {
  await mkdir(join(workspace.path, "numbers", "old"), { recursive: true });
  for (const file of ["stations.csv", "old/before.csv"]) await writeFile(join(workspace.path, "numbers", file), "id,name\n1,Oslo\n");
  await api.call("POST", "/datasources", { name: "numbers", database: "folder:numbers" });
  await visit(page, "/data/sources");
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "Check" }).click();
  await expect(main.getByText("It can be asked: 1 table")).toBeVisible();
  const left = main.getByRole("region", { name: "1 item is not read" });
  await expect(left).toContainText("`old`: a folder inside of the folder");
  await main.getByRole("button", { name: "Describe tables" }).click();
  await expect(page.getByRole("dialog", { name: "Describe tables of “numbers”" }).getByRole("region", { name: "1 item is not read" })).toBeVisible();
});

const WRONG = SHOP_TEXT.replace('column price "Price"', 'column prise "Price"');
const GROUPED = { domain: "products", group: [{ field: "category.name" }], aggregate: [{ fn: "count", as: "count" }] };

test.describe("from nothing", () => {
  test.use({
    script: {
      rules: [
        when("Describe the shop", text(`Here is a first description.\n\n\`\`\`oos\n${WRONG}\`\`\`\n`), { role: "user" }),
        when("How many products", calls(["oos_query", { query: GROUPED }]), { role: "user" }),
      ],
      otherwise: text("There are three categories."),
    },
  });

  test("a database is added, described by talking, put right, opened as an application, asked, drawn, changed and taken back", async ({ studio: page, workspace, api }) => {
    makeShop(join(workspace.path, "shop.db"));
    const main = page.getByRole("main");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Data" }).click();
    await expect(main.getByRole("heading", { name: "No data to ask yet" })).toBeVisible();
    await main.getByRole("link", { name: "Add a datasource" }).click();
    const form = page.getByRole("dialog", { name: "Add a datasource" });
    await expect(form.getByLabel("Name", { exact: true })).toBeFocused();
    await form.getByLabel("Database", { exact: true }).fill("postgres://reader:secret@db/shop");
    await form.getByRole("button", { name: "Add and check" }).click();
    await expect(form.getByText("Others could read a password here.")).toBeVisible();
    await form.getByLabel("Name", { exact: true }).fill("shop");
    await form.getByLabel("Database", { exact: true }).fill("sqlite:shop.db");
    await form.getByLabel("People may confirm changes of its rows").click();
    await form.getByRole("button", { name: "Add and check" }).click();
    await expect(main.getByText("It can be asked: 2 tables")).toBeVisible();
    await main.getByRole("button", { name: "Describe its tables" }).click();
    await page.getByRole("dialog", { name: "Describe tables of “shop”" }).getByRole("button", { name: "Cancel" }).click();

    // By talking: what the agent wrote opens in the editor.
    await visit(page, `/chat?agent=${await agentCalled(api, "oosd")}`);
    const chat = new Chat(page);
    await chat.say("Describe the shop");
    await chat.last.getByRole("button", { name: "Open in the editor" }).click();
    await expect(editor(page)).toContainText("domain categories");
    const wrong = problems(page).getByRole("button", { name: /prise/ });
    await expect(wrong).toContainText("error");
    await wrong.click();
    for (let n = 0; n < "prise".length; n++) await page.keyboard.press("Delete");
    await page.keyboard.type("price");
    await page.keyboard.press("Escape");
    await expect(problems(page)).toContainText("Nothing is wrong with it.");
    await main.getByRole("toolbar", { name: "What to do with the text" }).getByRole("button", { name: "Save", exact: true }).click();
    const save = page.getByRole("dialog", { name: "Save 3 texts?" });
    await expect(save).toContainText("+domain categories from categories@shop {");
    await save.getByRole("button", { name: "Save", exact: true }).click();
    await expect(main.getByText("Version 1")).toBeVisible();

    // The view as an application.
    await main.getByRole("navigation", { name: "Data" }).getByRole("link", { name: "Domains" }).click();
    await main.getByRole("link", { name: "Products", exact: true }).click();
    const rows = main.getByRole("table", { name: "Rows of products" });
    await expect(rows.getByRole("row").filter({ hasText: "Assam" })).toContainText("€4.50");
    await expect(rows.getByRole("row").filter({ hasText: "Assam" }), "a choice is shown by its label").toContainText("Tea");
    await rows.getByRole("row").filter({ hasText: "Assam" }).click();
    const name = main.getByLabel("name", { exact: true });
    await expect(name).toHaveValue("Assam");
    await expect(page).toHaveURL(/row=/);
    await main.getByLabel("price", { exact: true }).fill("cheap");
    await expect(main.getByText("This must be a number.")).toBeVisible();
    await expect(main.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
    await main.getByLabel("price", { exact: true }).fill("4.80");
    await main.getByLabel("category_id", { exact: true }).selectOption({ label: "Coffee" });
    await main.getByRole("button", { name: "Save", exact: true }).click();
    const change = page.getByRole("dialog", { name: "Change this row of products?" });
    const difference = change.getByRole("table", { name: "What changes in products" });
    await expect(difference.getByRole("row").filter({ hasText: "price" })).toContainText(/4\.5.*4\.8/);
    await expect(difference.getByRole("row")).toHaveCount(3);
    await change.getByRole("button", { name: "Confirm" }).click();
    const done = page.getByRole("dialog", { name: "The change was written" });
    await expect(done).toBeVisible();
    await expect(page.locator("[data-view=products] tr", { hasText: "Assam" }), "behind the dialog").toContainText("€4.80");
    await done.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByRole("dialog", { name: "The change was taken back" })).toBeVisible();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    await expect(rows.getByRole("row").filter({ hasText: "Assam" })).toContainText("€4.50");

    // Asked by an agent: drawn in the chat.
    await visit(page, `/chat?agent=${await agentCalled(api, "oos")}`);
    await chat.say("How many products are there in each category?");
    await chat.answered("There are three categories.");
    await expect(chat.tools.first().locator("[data-chart=bars] canvas")).toBeVisible();
    await chat.tools.first().getByRole("button", { name: "Table" }).click();
    await expect(chat.tools.first().getByRole("table").getByRole("row").filter({ hasText: "Tea" })).toContainText("3");
    await chat.last.getByRole("link", { name: "Trace" }).click();
    await main.getByRole("button", { name: /oos_query/ }).first().click();
    await expect(main.locator("[data-shape=series]")).toBeVisible();
  });
});

test("a domain is asked: filtered, sorted, grouped, drawn, paged and exported", async ({ studio: page, workspace, api }) => {
  await shop(workspace, api);
  await visit(page, "/data");
  const main = page.getByRole("main");
  await main.getByRole("searchbox", { name: "Find data in your own words" }).fill("what does it sell and for how much");
  await expect(main.getByRole("list", { name: "Domains" }).getByRole("listitem").first()).toContainText("products");
  await main.getByRole("list", { name: "Domains" }).getByRole("link", { name: "products", exact: true }).click();
  const rows = main.getByRole("table", { name: "Rows of products" });
  await expect(rows.getByRole("row")).toHaveCount(7);
  await rows.getByRole("button", { name: "price" }).click();
  await rows.getByRole("button", { name: "price" }).click();
  await expect(rows.getByRole("columnheader", { name: "price" })).toHaveAttribute("aria-sort", "descending");
  await expect(rows.getByRole("row").nth(1)).toContainText("Harbour cup");
  await main.getByRole("button", { name: "Filter" }).click();
  await main.getByLabel("Field of the filter").selectOption("category.name");
  await main.getByLabel("Comparison").selectOption("contains");
  await main.getByLabel("Value", { exact: true }).fill("coff");
  await expect(rows.getByRole("row")).toHaveCount(3);
  await expect(page).toHaveURL(/q=/);
  await main.getByText("Query and SQL").click();
  await expect(main.getByText(/select /i).first()).toBeVisible();
  const download = page.waitForEvent("download");
  await main.getByRole("button", { name: "Export CSV" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  expect(csv.split("\r\n")[0]).toBe("\ufeffid,name,price,category_id,in_stock,added,note");
  expect(csv, "no cell is a formula").toContain(",'=1+1");
  await page.reload();
  await expect(rows.getByRole("row"), "the question is in the address").toHaveCount(3);
  await main.getByRole("button", { name: "Start over" }).click();
  await main.getByRole("button", { name: "Group" }).click();
  await main.getByLabel("Field of the group").selectOption("added");
  await main.getByLabel("Part of the date").selectOption("month");
  await expect(main.locator("[data-chart=line] canvas")).toBeVisible();
  await main.getByLabel("Field of the group").selectOption("category.name");
  await expect(main.locator("[data-chart=bars] canvas")).toBeVisible();
  await main.getByRole("button", { name: "Remove the group" }).click();
  await main.getByRole("button", { name: "Number" }).click();
  await expect(main.locator("[data-shape=number]")).toContainText("6");
});

test("somebody else is faster: nothing is written, and what was typed stays", async ({ studio: page, workspace, api }) => {
  await shop(workspace, api);
  await visit(page, `/data/views/products?${new URLSearchParams({ row: '{"id":2}' })}`);
  const main = page.getByRole("main");
  await expect(main.getByLabel("name", { exact: true })).toHaveValue("Darjeeling");
  await main.getByLabel("name", { exact: true }).fill("Darjeeling 2025");
  await main.getByRole("button", { name: "Save", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Change this row of products?" });
  await expect(dialog).toBeVisible();
  const theirs = await api.call<{ change: { id: string } }>("POST", "/record-changes", { change: { change: "update", domain: "products", key: { id: 2 }, set: { name: "Darjeeling (second flush)", price: 8 } } });
  await api.call("POST", `/record-changes/${theirs.change.id}/confirm`);
  await dialog.getByRole("button", { name: "Confirm" }).click();
  const failed = page.getByRole("dialog", { name: "The change was not written" });
  await failed.getByRole("button", { name: "Look again" }).click();
  await expect(main.getByLabel("price", { exact: true })).toHaveValue("8");
  await expect(main.getByLabel("name", { exact: true })).toHaveValue("Darjeeling 2025");
  await main.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Confirm" }).click();
  await expect(page.getByRole("dialog", { name: "The change was written" })).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();

  await visit(page, "/data/changes");
  const list = main.getByRole("list", { name: "Changes" });
  await expect(list.getByRole("listitem")).toHaveCount(3);
  await main.getByLabel("State").selectOption("not written");
  await expect(list.getByRole("listitem")).toHaveCount(1);
  await expect(list.getByRole("listitem")).toContainText("Darjeeling 2025");
});

test("a row that the database refuses stays in the form; another one is deleted", async ({ studio: page, workspace, api }) => {
  await shop(workspace, api);
  await visit(page, "/data/views/products");
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "New", exact: true }).click();
  await main.getByLabel("name", { exact: true }).fill("Mint");
  await main.getByLabel("price", { exact: true }).fill("3,2");
  await main.getByLabel("category_id", { exact: true }).selectOption({ label: "Tea" });
  await main.getByRole("button", { name: "Save", exact: true }).click();
  // The form has no field for the day, which the table asks for.
  const dialog = page.getByRole("dialog", { name: "Add this row to products?" });
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await expect(page.getByRole("dialog", { name: "The change was not written" })).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await expect(main.getByLabel("name", { exact: true }), "what was typed stays").toHaveValue("Mint");

  await main.getByRole("table", { name: "Rows of products" }).getByRole("row").filter({ hasText: "Sencha" }).click();
  await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Discard" }).click();
  await expect(main.getByLabel("name", { exact: true })).toHaveValue("Sencha");
  await main.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog", { name: "Delete this row of products?" }).getByRole("button", { name: "Confirm" }).click();
  await expect(page.getByRole("dialog", { name: "The change was written" })).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await expect(main.getByRole("table", { name: "Rows of products" }).getByRole("row")).toHaveCount(6);
});

test("the editor completes, explains, renames and formats; versions come back; a conflict is seen", async ({ studio: page, workspace, api, expected }) => {
  await shop(workspace, api);
  expected.push(/409/);
  await visit(page, "/data/editor?kind=view&name=products");
  const main = page.getByRole("main");
  await expect(editor(page)).toContainText('view products "Products"');
  await expect(main.getByRole("region", { name: "Preview" }).getByRole("table", { name: "Rows of products" }).getByRole("row")).toHaveCount(7);

  // A column more, by completion: the preview shows it at once.
  await editor(page).getByText("category_id").first().click();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("column in_st");
  // By the mouse: the editor takes no key before a person could have read the list.
  await page.getByRole("option", { name: /in_stock/ }).click();
  await page.keyboard.type(' "In stock"');
  await page.keyboard.press("Escape");
  await expect(main.getByRole("region", { name: "Preview" }).getByRole("columnheader", { name: "In stock" })).toBeVisible();
  await expect(problems(page)).toContainText("Nothing is wrong with it.");
  await main.getByRole("button", { name: "Format" }).click();
  await expect(editor(page)).toContainText('column in_stock "In stock"');

  await editor(page).getByText("width", { exact: true }).first().hover();
  await expect(page.locator(".cm-hover")).toContainText(/characters|wide|width/i);
  await page.mouse.move(0, 0);

  // Somebody else saves meanwhile.
  const before = await api.call<{ text: string; version: number }>("GET", "/domains/texts/view/products");
  await api.call("PUT", "/domains/texts", { text: before.text.replace('"Products"', '"Goods"'), version: before.version });
  await editor(page).press("Control+s");
  const save = page.getByRole("dialog", { name: "Save this text?" });
  await save.getByRole("button", { name: "Save", exact: true }).click();
  await save.getByRole("button", { name: "Compare with what is there now" }).click();
  await expect(save).toContainText('-view products "Goods" over products {');
  await save.getByRole("button", { name: "Save over it" }).click();
  await expect(main.getByText("Version 3")).toBeVisible();

  await main.getByRole("button", { name: "Versions" }).click();
  const versions = page.getByRole("dialog", { name: "Versions of products" });
  await expect(versions.getByRole("listitem").filter({ hasText: "Version 3" })).toContainText("in use");
  await versions.getByRole("listitem").filter({ hasText: "Version 2" }).getByRole("button", { name: "Restore" }).click();
  await expect(editor(page)).toContainText('view products "Goods"');
  await expect(main.getByText("not saved")).toBeVisible();
  await main.getByRole("toolbar", { name: "What to do with the text" }).getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog", { name: "Save this text?" }).getByRole("button", { name: "Save", exact: true }).click();
  await expect(main.getByText("Version 4")).toBeVisible();
});

test("a name is renamed wherever a text uses it", async ({ studio: page, workspace, api }) => {
  await shop(workspace, api, false);
  await api.call("PUT", "/domains/texts", { text: SHOP_TEXT });
  await visit(page, "/data/editor?kind=domain&name=products");
  const main = page.getByRole("main");
  await editor(page).getByText("categories", { exact: true }).last().click();
  await page.keyboard.press("F2");
  const dialog = page.getByRole("dialog", { name: "Rename “categories”" });
  await dialog.getByLabel("New name").fill("kinds");
  await dialog.getByRole("button", { name: "Rename" }).click();
  await expect(editor(page)).toContainText("meta kinds from categories");
  await expect(editor(page)).toContainText("options=kinds");
  await expect(main.getByText("not saved").first()).toBeVisible();
});

test("standing instructions are added, ordered, switched off and brought back", async ({ studio: page, api }) => {
  await visit(page, "/data/instructions");
  const main = page.getByRole("main");
  for (const [name, said] of [["money", "Amounts are in euros."], ["year", "The year is 2025."]] as const) {
    await main.getByRole("button", { name: "Add an instruction" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Add an instruction" });
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog.getByText("Give it a name.")).toBeVisible();
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    await dialog.getByLabel("Text", { exact: true }).fill(said);
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(dialog).toBeHidden();
  }
  const list = main.getByRole("list", { name: "Standing instructions" }).getByRole("listitem");
  await expect(list).toHaveText([/money/, /year/]);
  await main.getByRole("button", { name: "Tell year earlier" }).click();
  await expect(list).toHaveText([/year/, /money/]);
  await list.first().getByLabel("told").click();
  await expect.poll(async () => (await api.call<{ items: { name: string; enabled: boolean }[] }>("GET", "/standing-instructions")).items.find((one) => one.name === "year")?.enabled).toBe(false);
  await main.getByRole("button", { name: "Remove money" }).click();
  await expect(list).toHaveCount(1);
  await page.locator("[data-toast]").filter({ hasText: "money" }).getByRole("button", { name: "Undo" }).click();
  await expect(list).toHaveCount(2);
});

for (const look of looks) {
  test.describe(look.name, { tag: look.tag }, () => {
    test.use(look.use);

    test("no page about data has a serious fault that axe finds, or a sideways scroll", async ({ studio: page, workspace, api }) => {
      await shop(workspace, api);
      await api.call("POST", "/record-changes", { change: { change: "delete", domain: "products", key: { id: 6 } } });
      const asked = JSON.stringify({ where: [{ field: "price", op: "gt", value: "5" }], group: [{ field: "category.name", by: "" }] });
      const faults: string[] = [];
      for (const path of ["/data", `/data/products?${new URLSearchParams({ q: JSON.stringify(asked) })}`, "/data/views/products", `/data/views/products?${new URLSearchParams({ row: '{"id":2}' })}`, "/data/changes", "/data/sources", "/data/editor?kind=view&name=products"]) {
        await visit(page, path);
        await settled(page);
        faults.push(...(await faultsOf(page, path, look.rules)));
      }
      expect(faults.join("\n\n"), "faults").toBe("");
    });
  });
}
