// Users: an administrator invites somebody, who chooses a password and works; and is shut out again.
import type { Page } from "@playwright/test";
import { expect, test, visit } from "./support/test.ts";

const ANN = { email: "ann@example.org", password: "a coot nests by the mill" };
const rows = (page: Page) => page.getByRole("list", { name: "Users" }).getByRole("listitem");
const act = async (page: Page, email: string, item: string) => {
  await page.getByRole("button", { name: `Actions for ${email}` }).click();
  await page.getByRole("menuitem", { name: item }).click();
};

test("somebody is invited, accepts, works, and is shut out", async ({ studio: page, browser, baseURL }) => {
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: "Users" }).click();
  await expect(page.getByText("Nobody else yet")).toBeVisible();
  await page.getByRole("button", { name: "Invite" }).click();
  const form = page.getByRole("dialog", { name: "Invite somebody" });
  await form.getByRole("button", { name: "Make the link" }).click();
  await expect(form.getByText("An address like ann@example.org.")).toBeVisible();
  await form.getByLabel("E-mail").fill(ANN.email);
  await form.getByLabel("Role").selectOption({ label: "Viewer" });
  await form.getByRole("button", { name: "Make the link" }).click();
  const shown = page.getByRole("dialog", { name: `The link for ${ANN.email}` });
  const link = (await shown.locator("[data-link]").textContent()) ?? "";
  expect(link).toContain(`${baseURL}/invitation#token=`);
  await shown.getByRole("button", { name: "I have it" }).click();
  const row = rows(page).filter({ hasText: ANN.email });
  await expect(row).toContainText("invited");
  expect(await page.content(), "the link is shown once").not.toContain(link.split("token=")[1]);

  const context = await browser.newContext({ locale: "en-GB", baseURL: baseURL ?? "" });
  const anns = await context.newPage();
  await anns.goto(link);
  await expect(anns.getByLabel("E-mail")).toHaveValue(ANN.email);
  expect(new URL(anns.url()).hash, "the token leaves the address").toBe("");
  await anns.getByLabel("Name").fill("Ann");
  await anns.getByLabel("Password", { exact: true }).fill("short");
  await expect(anns.getByText("The password needs at least 10 characters.")).toBeVisible();
  await anns.getByLabel("Password", { exact: true }).fill(ANN.password);
  await anns.getByRole("button", { name: "Set password and sign in" }).click();
  await anns.waitForURL(/\/chat/);
  const annsPages = anns.getByRole("navigation", { name: "Pages" });
  await expect(annsPages.getByRole("link", { name: "Runs" })).toBeVisible();
  await expect(annsPages.getByRole("button", { name: "People" })).toHaveCount(0);
  await visit(anns, "/users");
  await expect(anns.getByText("Only administrators manage users")).toBeVisible();
  // The link is used up.
  await anns.goto(link);
  await anns.getByLabel("Password", { exact: true }).fill(ANN.password);
  await anns.getByRole("button", { name: "Set password and sign in" }).click();
  await expect(anns.getByText("This link is not good any more")).toBeVisible();
  await anns.goto("/chat");
  await expect(pages.getByRole("link", { name: "Runs" })).toBeVisible();

  await page.reload();
  await expect(row).toContainText("last login");
  await act(page, ANN.email, "Change name and role");
  const edit = page.getByRole("dialog", { name: `Change ${ANN.email}` });
  await expect(edit.getByLabel("Name")).toHaveValue("Ann");
  await edit.getByLabel("Role").selectOption({ label: "Developer" });
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("Developer");

  await page.getByRole("searchbox", { name: "Search users" }).fill("ANN@");
  await expect(rows(page)).toHaveCount(1);
  expect(page.url(), "a search can be linked").toContain("q=ANN");
  await page.getByLabel("State").selectOption({ label: "active" });
  await act(page, ANN.email, "Disable");
  await expect(page.getByText("Nobody is like that")).toBeVisible();
  await anns.reload();
  await anns.waitForURL(/\/login/);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row).toBeVisible();

  await act(page, ANN.email, "Disable");
  await page.getByRole("button", { name: "Show all" }).click();
  await act(page, ANN.email, "Remove");
  const ask = page.getByRole("dialog", { name: `Remove ${ANN.email}?` });
  await ask.getByRole("button", { name: "Remove for good" }).click();
  await expect(row).toHaveCount(0);
  await context.close();
});
