import { expect, test, visit } from "./support/test.ts";

test.describe("settings", () => {
  // A value that can't be is refused once.
  test.use({ own: true, expected: [/status of 422/] });

  test("an administrator changes a setting, sees what is not saved, and takes it back", async ({ studio: page }) => {
    await visit(page, "/system");
    const main = page.getByRole("main");
    const runs = main.getByRole("textbox", { name: "MAX_RUNS" });
    await runs.fill("64");
    await expect(main.getByText("1 change is not saved")).toBeVisible();
    await main.getByRole("button", { name: "Discard", exact: true }).click();
    await expect(runs).toHaveValue("256");

    await runs.fill("many");
    await main.getByRole("button", { name: "Save" }).click();
    await expect(main.getByText("write a whole number from 1 to 100000").first()).toBeVisible();
    await runs.fill("64");
    await main.getByRole("combobox", { name: "DEEP_AGENT_PLAN_STYLE" }).selectOption("concise");
    await expect(main.getByText("2 changes are not saved")).toBeVisible();
    await main.getByRole("button", { name: "Save" }).click();
    // They act at once.
    await expect(main.getByText("2 changes are not saved")).toBeHidden();
    await expect(main.getByText("Start the program anew")).toBeHidden();
    await page.reload();
    await expect(runs).toHaveValue("64");
    for (const name of ["MAX_RUNS", "DEEP_AGENT_PLAN_STYLE"]) await main.getByRole("button", { name: `Default again for ${name}` }).click();
    await main.getByRole("button", { name: "Save" }).click();
    await expect(main.getByText("Start the program anew")).toBeHidden();

    await expect(main.getByText("--listen").first(), "who says what a setting is").toBeVisible();
    await main.getByRole("tab", { name: "Health" }).click();
    await expect(main.getByText("data folder")).toBeVisible();
    await main.getByRole("button", { name: "Check again" }).click();
    await expect(main.getByText(/^sqlite .* answers$/)).toBeVisible();
  });
});

test("the dashboard shows what happened lately", async ({ studio: page, api }) => {
  await api.ask("Hello");
  await visit(page, "/dashboard");
  const main = page.getByRole("main");
  await expect(main.getByRole("img", { name: /by the time at which/ })).toBeVisible();
  await main.getByRole("button", { name: "30 days" }).click();
  await expect(page).toHaveURL(/period=month/);
  await expect(main.getByRole("table", { name: "Models" })).toBeVisible();
});
