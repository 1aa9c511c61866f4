import { ADMIN } from "./support/server.ts";
import { expect, test } from "./support/test.ts";

test.describe("first start", () => {
  test.use({ own: true, admin: false });

  test("the printed link makes the administrator, once", async ({ page, server }) => {
    const link = server.setupLink;
    await page.goto("/");
    await expect(page.getByText("Steward has no user yet")).toBeVisible();
    await page.goto(link);
    await page.getByLabel("E-mail").fill(ADMIN.email);
    await page.getByLabel("Password", { exact: true }).fill("short");
    await expect(page.getByText(/at least 10 characters\.$/)).toBeVisible();
    await page.getByLabel("Password", { exact: true }).fill(ADMIN.password);
    expect(new URL(page.url()).hash, "the token leaves the address").toBe("");
    await page.getByRole("button", { name: "Create administrator" }).click();
    await page.waitForURL(/\/chat/);
    await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
    await page.goto(link);
    await expect(page.getByText("An administrator exists already. Sign in instead.")).toBeVisible();
  });
});

test("login, reload, sign out", async ({ studio: page }) => {
  await page.reload();
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  await page.goto("/runs");
  await expect(page.getByRole("heading", { level: 1, name: "Runs" })).toBeVisible();
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/\/login/);
  await page.goto("/runs");
  await page.waitForURL(/\/login/);
});

test.describe("wrong passwords", () => {
  test.use({ expected: [/status of (401|429)/] });

  test("after the fifth one the sixth has to wait", async ({ page, api }) => {
    await page.goto(api.loginPath);
    const password = page.getByLabel("Password", { exact: true });
    await page.getByLabel("E-mail").fill(ADMIN.email);
    for (let attempt = 1; attempt <= 5; attempt++) {
      await password.fill(`wrong password ${attempt}`);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await expect(password).toHaveValue("");
      await expect(page.getByText("E-mail or password is wrong.")).toBeVisible();
    }
    // Also the right one: else guessing would go on.
    await password.fill(ADMIN.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(page.getByText(/Try again in \d+ s/)).toBeVisible();
    await expect(page).toHaveURL(/\/login/);
  });
});
