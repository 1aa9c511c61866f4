import { createHmac } from "node:crypto";
import { ADMIN } from "./support/server.ts";
import { expect, test } from "./support/test.ts";

/** What an app shows for a key (RFC 6238). */
function codeOf(key: string, steps = 0): string {
  const bits = [...key.replace(/\s/g, "")].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const hash = createHmac("sha1", secret).update(counter).digest();
  const at = (hash[hash.length - 1] ?? 0) & 15;
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

test("a second factor is set up, asked for and switched off", async ({ studio: page }) => {
  await page.goto("/settings");
  await page.getByRole("button", { name: "Set up an app" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Go on" }).click();
  const key = await dialog.locator("code").innerText();
  await dialog.getByLabel("Code").fill(codeOf(key));
  await dialog.getByRole("button", { name: "Set up an app" }).click();
  await expect(dialog.getByRole("button", { name: "I have kept them" })).toBeVisible();
  const codes = await dialog.getByRole("list", { name: "Recovery codes" }).getByRole("listitem").allInnerTexts();
  expect(codes).toHaveLength(10);
  await dialog.getByRole("button", { name: "I have kept them" }).click();
  await expect(page.getByText("10 recovery codes are left.")).toBeVisible();

  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/\/login/);
  await page.getByLabel("E-mail").fill(ADMIN.email);
  await page.getByLabel("Password", { exact: true }).fill(ADMIN.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByLabel("Code").fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  // Back to where they were.
  await page.waitForURL(/\/settings/);
  await expect(page.getByText("9 recovery codes are left.")).toBeVisible();
  await page.getByRole("button", { name: "Switch it off" }).click();
  await dialog.getByLabel("Code").fill(codeOf(key, 1));
  await dialog.getByRole("button", { name: "Switch it off" }).click();
  await expect(page.getByRole("button", { name: "Set up an app" })).toBeVisible();
});

test("a provider gets a button on the page of logins", async ({ studio: page }) => {
  await page.goto("/settings");
  await page.getByRole("button", { name: "Add a provider" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name in addresses").fill("company");
  await expect(dialog.getByText(/\/api\/auth\/oidc\/company\/callback/)).toBeVisible();
  await dialog.getByLabel("Label").fill("Company");
  await dialog.getByLabel("Issuer").fill("https://login.example.org");
  await dialog.getByLabel("Client id").fill("steward");
  await dialog.getByLabel("Client secret").fill("only for this test");
  await dialog.getByLabel("Roles by group").fill("operator = ops");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("https://login.example.org")).toBeVisible();
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/\/login/);
  await expect(page.getByRole("button", { name: "Sign in with Company" })).toBeVisible();
  await page.goto("/login?sign_on=not_admitted");
  await expect(page.getByText("Your account may not enter here.")).toBeVisible();
});
