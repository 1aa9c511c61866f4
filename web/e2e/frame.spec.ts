import { Chat } from "./support/chat.ts";
import { calls, text, when } from "./support/model.ts";
import { ADMIN } from "./support/server.ts";
import { expect, test } from "./support/test.ts";

test("the language is switched and remembered", async ({ studio: page }) => {
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitemradio", { name: "Deutsch" }).click();
  await expect(page.getByRole("navigation", { name: "Seiten" })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await page.reload();
  await page.getByRole("link", { name: "Läufe" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Läufe" })).toBeVisible();
  await page.getByRole("button", { name: "Konto" }).click();
  await page.getByRole("menuitemradio", { name: "English" }).click();
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
});

test("the theme is switched and remembered", async ({ studio: page }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  const dark = await ground();
  await page.reload();
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  expect(await ground()).toBe(dark);
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitemradio", { name: "Light" }).click();
  expect(await ground()).not.toBe(dark);
});

test.describe("keyboard only", () => {
  test.use({ script: { rules: [when("Write", calls(["write", { path: "a.txt", content: "x\n" }]), { role: "user" })], otherwise: text("Done by keyboard.") } });

  test("from the login to an approved write and every page", async ({ page, workspace, api }) => {
    const keys = page.keyboard;
    await page.goto(api.loginPath);
    await expect(page.getByLabel("E-mail")).toBeFocused();
    await keys.type(ADMIN.email);
    await keys.press("Tab");
    await keys.type(ADMIN.password);
    await keys.press("Enter");
    const chat = new Chat(page);
    await expect(chat.composer).toBeFocused();
    await keys.type("Write a file");
    await keys.press("Enter");
    await expect(chat.waiting).toBeVisible();
    // To the button as a person would: by Tab, at most once around.
    const approve = chat.waiting.getByRole("button", { name: "Approve once" });
    for (let presses = 0; presses < 60 && !(await approve.evaluate((button) => button === document.activeElement)); presses++) await keys.press("Shift+Tab");
    await expect(approve).toBeFocused();
    await keys.press("Enter");
    await chat.answered("Done by keyboard.");
    expect(await workspace.file("a.txt")).toBe("x\n");
    // The palette goes anywhere.
    for (const name of ["Runs", "Approvals", "Agents", "Connections", "Usage", "Settings", "About"]) {
      await keys.press("Control+k");
      await expect(page.getByRole("dialog", { name: "Command palette" })).toBeVisible();
      await keys.type(name);
      await keys.press("Enter");
      await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
    }
    // By another word for it, also to a dialog.
    await keys.press("Control+k");
    await keys.type("colleague");
    await keys.press("Enter");
    await expect(page.getByRole("dialog", { name: /^Invite/ })).toBeVisible();
    await keys.press("Escape");
    await expect(page.getByRole("dialog")).toBeHidden();
    // A link of the navigation leads to the heading.
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Agents" }).press("Enter");
    await expect(page.getByRole("heading", { level: 1, name: "Agents" })).toBeFocused();
    await keys.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
    await keys.press("Escape");
    await expect(page.getByRole("dialog")).toBeHidden();
  });
});

test("an address that is not there says so", async ({ studio: page }) => {
  await page.goto("/nothing/here");
  await expect(page.getByRole("main").getByRole("heading", { level: 1, name: "There is no such page" })).toBeVisible();
});

test("the pages are grouped, folded and narrowed, and that is remembered", async ({ studio: page }) => {
  const pages = page.getByRole("navigation", { name: "Pages" });
  const people = pages.getByRole("button", { name: "People" });
  // Open where there is room.
  await expect(people).toHaveAttribute("aria-expanded", "true");
  await page.setViewportSize({ width: 1280, height: 620 });
  await expect(people).toHaveAttribute("aria-expanded", "false");
  await people.press("Enter");
  await pages.getByRole("button", { name: "Knowledge" }).click();
  await expect(pages.getByRole("link", { name: "Documents" })).toHaveCount(0);
  await page.reload();
  await pages.getByRole("link", { name: "Users" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Users" })).toBeVisible();
  await expect(pages.getByRole("link", { name: "Documents" })).toHaveCount(0);
  // Narrow: the groups are menus.
  await page.keyboard.press("Control+b");
  await expect(people).not.toHaveAttribute("aria-expanded", "true");
  await pages.getByRole("button", { name: "Operations" }).click();
  await page.getByRole("menuitem", { name: "Usage" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Usage" })).toBeVisible();
  await pages.getByRole("link", { name: "Approvals" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Approvals" })).toBeVisible();
  await page.reload();
  await pages.getByRole("button", { name: "Show names" }).click();
  await expect(pages.getByRole("link", { name: "Users" })).toBeVisible();
});

test("on a phone all pages are one touch behind the bar", async ({ studio: page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "More" }).click();
  const more = page.getByRole("dialog", { name: "More" });
  await expect(more.getByRole("heading", { name: "Models and tools" })).toBeVisible();
  await more.getByRole("link", { name: "Usage" }).click();
  await expect(more).toBeHidden();
  await expect(page.getByRole("heading", { level: 1, name: "Usage" })).toBeVisible();
  await expect(page.getByRole("button", { name: "More" })).toHaveAttribute("aria-current", "true");
});
