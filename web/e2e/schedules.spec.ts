// Schedules: one is made by words, rests, works again, is run by hand and brought back; another one runs by itself.
import type { Page } from "@playwright/test";
import type { Api } from "./support/api.ts";
import { faultsOf, looks } from "./support/axe.ts";
import { text } from "./support/model.ts";
import { expect, login, test, visit } from "./support/test.ts";

const ANN = { email: "ann@example.org", password: "a coot nests by the mill" };
/** As long as a run may take on a busy machine. */
const LONG = { timeout: 120_000 };
const main = (page: Page) => page.getByRole("main");
const history = (page: Page) => main(page).getByRole("table", { name: "History" }).getByRole("row");

test.use({ script: { otherwise: text("Counted.") } });

/** Opens the form and says what is to be done. */
async function begin(page: Page, name: string, request: string) {
  await main(page).getByRole("button", { name: "New schedule" }).click();
  const form = page.getByRole("dialog", { name: "New schedule" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Request").fill(request);
  return form;
}

test("a schedule is made by words, rests, works again, is run by hand, deleted and brought back", async ({ studio: page, api }) => {
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: "Schedules" }).click();
  await expect(main(page).getByText("No schedules yet")).toBeVisible();
  const form = await begin(page, "Boxes", "Count the boxes of {{date}}.");
  const make = form.getByRole("button", { name: "Make the schedule" });
  await make.click();
  await expect(form.getByText("Say when, such as", { exact: false })).toBeVisible();
  await form.getByLabel("Time zone").fill("Europe/Berlin");

  // What the words leave open is asked, and answered by a choice.
  const words = form.getByRole("textbox", { name: "In words" });
  const reading = form.getByRole("region", { name: "What was read" });
  await words.fill("every weekday");
  await expect(reading.getByText("At what time?")).toBeVisible();
  await words.fill("on the 31st of every month at 9");
  const choices = reading.getByRole("group").getByRole("button");
  await expect(choices.first()).toBeVisible();
  const chosen = (await choices.first().textContent()) ?? "";
  await choices.first().click();
  const times = reading.getByRole("list", { name: "Next times" }).getByRole("listitem");
  await expect(times).toHaveCount(5);
  await expect(reading.getByText(chosen, { exact: true })).toBeVisible();

  await words.fill("every weekday at 8");
  await expect(reading.getByText("every weekday (Monday to Friday) at 08:00 in Europe/Berlin")).toBeVisible();
  await expect(times).toHaveCount(5);
  for (const time of await times.allTextContents()) expect(time).toMatch(/08:00.*UTC\+0[12]:00/);
  await expect(reading.getByText(/Next change: .* minutes (forward|back)/)).toBeVisible();
  // What was read is the start of the other ways, where what is wrong is said at its field.
  await form.getByRole("tab", { name: "Cron" }).click();
  await expect(form.getByLabel("Cron expression")).toHaveValue(/^0 8 \* \* /);
  await form.getByRole("tab", { name: "In words" }).click();
  await make.click();

  await expect(main(page).getByRole("heading", { level: 1, name: "Boxes" })).toBeVisible();
  await expect(main(page).getByRole("list", { name: "Next times" }).getByRole("listitem")).toHaveCount(5);
  await visit(page, "/schedules");
  const row = main(page).getByRole("list", { name: "Schedules" }).getByRole("listitem").filter({ hasText: "Boxes" });
  await expect(row).toContainText("every weekday (Monday to Friday) at 08:00 in Europe/Berlin");
  await expect(row).toContainText("08:00 (UTC+0");
  await row.getByRole("link", { name: "Boxes" }).click();

  await main(page).getByRole("button", { name: "Pause" }).click();
  const pause = page.getByRole("dialog", { name: "Pause Boxes?" });
  await pause.getByLabel("Note").fill("Stocktaking");
  await pause.getByRole("button", { name: "Pause" }).click();
  await expect(main(page).getByText("Stocktaking")).toBeVisible();
  await expect(main(page).getByText("Paused", { exact: true })).toBeVisible();
  await main(page).getByRole("button", { name: "Resume" }).click();
  await expect(main(page).getByText("Stocktaking")).toBeHidden();

  await main(page).getByRole("button", { name: "Run now" }).click();
  await expect(page).toHaveURL(/\/runs\/[\w-]+$/);
  const run = page.url().split("/").at(-1) ?? "";
  await api.settled(run);
  await page.goBack();
  const done = history(page).filter({ hasText: "by hand" });
  await expect(done).toContainText("done", LONG);
  await expect(done.getByRole("link", { name: "Run" })).toHaveAttribute("href", `/runs/${run}`);

  await main(page).getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Boxes" });
  await edit.getByLabel("Name").fill("Crates");
  await edit.getByRole("button", { name: "More settings" }).click();
  await edit.getByLabel("Rest after failed runs").fill("0");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit.getByText("A whole number from 1 to", { exact: false })).toBeVisible();
  await edit.getByLabel("Rest after failed runs").fill("2");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(main(page).getByRole("heading", { level: 1, name: "Crates" })).toBeVisible();
  await expect(main(page).getByText("After 2 failed runs")).toBeVisible();

  await main(page).getByRole("button", { name: "Delete" }).click();
  await expect(main(page).getByText("No schedules yet")).toBeVisible();
  await page.locator("[data-toast]").filter({ hasText: "Crates was deleted" }).getByRole("button", { name: "Undo" }).click();
  await expect(main(page).getByRole("link", { name: "Crates" })).toBeVisible();
});

test("one of every second runs without anybody, until it is deleted", async ({ studio: page }) => {
  await visit(page, "/schedules");
  const form = await begin(page, "Pulse", "Say that you are there at {{time}}.");
  await form.getByRole("tab", { name: "Every …" }).click();
  await form.getByLabel("Every", { exact: true }).fill("1");
  await form.getByLabel("Unit").selectOption("seconds");
  await expect(form.getByRole("list", { name: "Next times" }).getByRole("listitem")).toHaveCount(5);
  await form.getByRole("button", { name: "Make the schedule" }).click();
  await expect(main(page).getByRole("heading", { level: 1, name: "Pulse" })).toBeVisible();
  const done = history(page).filter({ hasText: "done" });
  await expect(done.first()).toBeVisible(LONG);
  await expect(done.first()).not.toContainText("by hand");
  await done.first().getByRole("link", { name: "Run" }).click();
  await expect(page).toHaveURL(/\/runs\/[\w-]+$/);
  await expect(main(page).getByText("Counted.").first()).toBeVisible();
  await page.goBack();
  await main(page).getByRole("button", { name: "Delete" }).click();
  await expect(main(page).getByText("No schedules yet")).toBeVisible();
});

// The list of all pages has none with a dialog.
for (const look of looks) {
  test.describe(look.name, { tag: look.tag }, () => {
    test.use(look.use);

    test("the form has no fault that axe finds", async ({ studio: page }) => {
      await visit(page, "/schedules?new=1");
      const form = page.getByRole("dialog", { name: "New schedule" });
      await form.getByRole("textbox", { name: "In words" }).fill("every month on the 31st at 8");
      await expect(form.getByRole("region", { name: "What was read" }).getByRole("group").getByRole("button").first()).toBeVisible();
      await form.getByRole("button", { name: "More settings" }).click();
      await form.getByRole("button", { name: "Make the schedule" }).click();
      await expect(form.getByText("Give it a name.")).toBeVisible();
      expect((await faultsOf(page, "schedule-new", look.rules)).join("\n\n"), "faults").toBe("");
    });
  });
}

test.describe("of others", () => {
  /** Ann is a developer with a schedule. */
  async function prepare(api: Api, page: Page): Promise<void> {
    const { invitation } = await api.call<{ invitation: { token: string } }>("POST", "/users", { email: ANN.email, role: "developer" });
    await api.call("POST", "/auth/invitation", { token: invitation.token, password: ANN.password });
    await login(page, api.loginPath, ANN);
    await visit(page, "/schedules");
    const form = await begin(page, "Ann's", "Look after the mill.");
    await form.getByRole("textbox", { name: "In words" }).fill("every 90 minutes");
    await form.getByRole("button", { name: "Make the schedule" }).click();
    await expect(main(page).getByRole("heading", { level: 1, name: "Ann's" })).toBeVisible();
  }

  test("operators pause and delete, and don't change or run", async ({ studio: page, api, browser, baseURL }) => {
    const ann = await (await browser.newContext({ locale: "en-GB", ...(baseURL && { baseURL }) })).newPage();
    await prepare(api, ann);
    await visit(page, "/schedules");
    const list = main(page).getByRole("list", { name: "Schedules" });
    await expect(list.getByRole("listitem")).toContainText(ANN.email);
    await main(page).getByRole("checkbox", { name: "Only mine" }).click();
    await expect(main(page).getByText("There is no such schedule")).toBeVisible();
    await main(page).getByRole("button", { name: "Show all" }).click();
    await list.getByRole("link", { name: "Ann's" }).click();
    await expect(main(page).getByText(`This schedule is ${ANN.email}’s`, { exact: false })).toBeVisible();
    for (const name of ["Run now", "Edit"]) await expect(main(page).getByRole("button", { name })).toBeHidden();
    await main(page).getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog", { name: "Pause Ann's?" }).getByRole("button", { name: "Pause" }).click();
    await expect(main(page).getByText("Paused", { exact: true })).toBeVisible();
    await main(page).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete Ann's?" }).getByRole("button", { name: "Delete" }).click();
    await expect(main(page).getByText("No schedules yet")).toBeVisible();

    // Only she brings it back.
    await visit(ann, "/schedules?deleted=1");
    await main(ann).getByRole("button", { name: "Actions for Ann's" }).click();
    await ann.getByRole("menuitem", { name: "Restore" }).click();
    await expect(ann.locator("[data-toast]").filter({ hasText: "Ann's is back" })).toBeVisible();
    await ann.context().close();
  });
});
