// The vault: what goes in, who uses it, and that it never comes out.
import type { Page } from "@playwright/test";
import { calls, text, when } from "./support/model.ts";
import { expect, test, visit } from "./support/test.ts";

const CANARY = "canary-5f1e9c3a";
/** Everything that a page keeps or shows. */
const traces = (page: Page) =>
  page.evaluate(async () => {
    const kept = [document.documentElement.outerHTML, ...[...document.querySelectorAll("input,textarea")].map((field) => (field as HTMLInputElement).value)];
    for (const store of [localStorage, sessionStorage]) for (const key of Object.keys(store)) kept.push(key, store.getItem(key) ?? "");
    kept.push(JSON.stringify(history.state), location.href, JSON.stringify(await indexedDB.databases()), JSON.stringify(await caches.keys()));
    return kept.join("\n");
  });

test.describe("problems", () => {
  test.use({ expected: [/status of 422/] });

  test("of a form are said at its fields, and the vault's own above them", async ({ studio: page }) => {
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Credentials" }).click();
    const main = page.getByRole("main");
    await expect(main.getByRole("heading", { name: "No credential yet" })).toBeVisible();
    await expect(main.getByText(/A credential is what a skill shows/)).toBeVisible();
    await main.getByRole("button", { name: "Add a credential" }).click();
    const form = page.getByRole("dialog", { name: "Add a credential" });
    await form.getByRole("button", { name: "Save" }).click();
    await expect(form.getByText("Give it a name.")).toBeVisible();
    await expect(form.getByText("This is needed.")).toHaveCount(2);
    await expect(form.getByLabel("Name", { exact: true })).toBeFocused();

    await form.getByLabel("Kind", { exact: true }).selectOption("ssh_key");
    await form.getByLabel("Name", { exact: true }).fill("web1");
    await form.getByLabel("User name").fill("deploy");
    await form.getByLabel("Private key", { exact: true }).fill("no key at all");
    await form.getByRole("button", { name: "Save" }).click();
    await expect(form.getByRole("alert")).toContainText("not PEM");
    // A key comes from its file; it is hidden until one asks to see it.
    await form.getByLabel("File: Private key").setInputFiles({ name: "id_ed25519", mimeType: "text/plain", buffer: Buffer.from(`-----BEGIN OPENSSH PRIVATE KEY-----\n${CANARY}\n-----END OPENSSH PRIVATE KEY-----\n`) });
    const key = form.getByLabel("Private key", { exact: true });
    await expect(key).toHaveValue(new RegExp(CANARY));
    await expect(key).toHaveCSS("-webkit-text-security", "disc");
    await form.getByRole("button", { name: "Show what is typed: Private key" }).click();
    await expect(key).toHaveCSS("-webkit-text-security", "none");
    await form.getByRole("button", { name: "Save" }).click();
    await expect(form).toBeHidden();
    await expect(main.getByRole("list", { name: "Credentials" }).getByRole("listitem")).toContainText("SSH key");
    expect(await traces(page)).not.toContain(CANARY);
  });
});

test("a credential is added, found, changed and replaced, and its secret is nowhere to be seen", async ({ studio: page, api }) => {
  for (const name of ["mail", "shop"]) await api.call("POST", "/credentials", { name, kind: "token", fields: { token: "x" } });
  await visit(page, "/credentials");
  const main = page.getByRole("main");
  const rows = main.getByRole("list", { name: "Credentials" }).getByRole("listitem");
  await main.getByRole("button", { name: "Add a credential" }).click();
  const form = page.getByRole("dialog", { name: "Add a credential" });
  await form.getByLabel("Name", { exact: true }).fill("web1");
  await form.getByLabel("Description").fill("The web server at the harbour");
  await form.getByLabel("User name").fill("deploy");
  const password = form.getByLabel("Password", { exact: true });
  await expect(password).toHaveAttribute("type", "password");
  await expect(password).toHaveAttribute("autocomplete", "new-password");
  await password.fill(CANARY);
  await form.getByRole("button", { name: "Add a field" }).click();
  await form.getByLabel("Name of the field").fill("account_id");
  await form.getByLabel("Value", { exact: true }).fill(`${CANARY}-further`);
  await form.getByLabel("operators").check();
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  await form.getByLabel("Ends").fill(soon);
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form).toBeHidden();
  const row = rows.filter({ hasText: "web1" });
  await expect(row).toContainText("runs of: operators");
  await expect(row).toContainText("never used");
  await expect(row).toContainText(/ends in [45] days/);
  await expect(main.getByText("1 credential has ended or ends within two weeks")).toBeVisible();
  expect(await traces(page)).not.toContain(CANARY);
  const kept = await api.call<{ items: { id: string; name: string }[] }>("GET", "/credentials");
  expect(JSON.stringify(kept)).not.toContain(CANARY);

  await main.getByRole("searchbox", { name: "Search credentials" }).fill("harbour deploy");
  await expect(rows).toHaveCount(1);
  expect(page.url(), "a search can be linked").toContain("q=harbour");
  await main.getByRole("searchbox", { name: "Search credentials" }).fill("nobody");
  await expect(main.getByText("Nothing fits")).toBeVisible();
  await main.getByRole("button", { name: "Show all" }).last().click();
  await main.getByLabel("Kind", { exact: true }).selectOption("token");
  await expect(rows).toHaveCount(2);
  await main.getByLabel("Kind", { exact: true }).selectOption("");
  await main.getByRole("button", { name: "Show only these" }).click();
  await expect(rows).toHaveCount(1);

  await row.getByRole("link", { name: "web1" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "web1" })).toBeVisible();
  await expect(main.getByText("sealed", { exact: true })).toHaveCount(2);
  await expect(main).toContainText("deploy");
  await expect(main.getByText("It has not been used yet.")).toBeVisible();
  await main.getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit “web1”" });
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit.getByText(/^Nothing was changed/)).toBeVisible();
  await edit.getByLabel("Name", { exact: true }).fill("web2");
  await edit.getByLabel("Found by kind").check();
  await edit.getByLabel("Ends").fill("");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "web2" })).toBeVisible();
  await expect(main).toContainText("any skill that asks for its kind");

  await main.getByRole("button", { name: "Replace values" }).click();
  const replace = page.getByRole("dialog", { name: "Replace the values of “web2”" });
  await expect(replace.getByLabel("User name")).toHaveValue("deploy");
  await expect(replace.getByLabel("Password", { exact: true })).toHaveValue("");
  await replace.getByLabel("Password", { exact: true }).fill(`${CANARY}-second`);
  await replace.getByLabel("Take away: account id").check();
  await replace.getByRole("button", { name: "Replace", exact: true }).click();
  await expect(replace).toBeHidden();
  await expect(main.getByText("sealed", { exact: true })).toHaveCount(1);
  expect(await traces(page)).not.toContain(CANARY);
});

test("a secret leaves the page's memory when it is saved: no state, no cache of queries holds it", async ({ studio: page }) => {
  const devtools = await page.context().newCDPSession(page);
  const held = async () => {
    const chunks: string[] = [];
    const take = ({ chunk }: { chunk: string }) => void chunks.push(chunk);
    devtools.on("HeapProfiler.addHeapSnapshotChunk", take);
    await devtools.send("HeapProfiler.collectGarbage");
    await devtools.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
    devtools.off("HeapProfiler.addHeapSnapshotChunk", take);
    return chunks.join("").split(CANARY).length - 1;
  };
  await visit(page, "/credentials");
  await page.getByRole("main").getByRole("button", { name: "Add a credential" }).click();
  const form = page.getByRole("dialog", { name: "Add a credential" });
  await form.getByLabel("Name", { exact: true }).fill("web1");
  await form.getByLabel("User name").fill("deploy");
  await form.getByLabel("Password", { exact: true }).fill(CANARY);
  expect(await held(), "it is found where it is").toBeGreaterThan(0);
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form).toBeHidden();
  await expect.poll(held).toBe(0);
});

test.describe("a credential in use", () => {
  // A private host is for the installation's own organisation.
  test.use({ own: true, script: { rules: [when("Look at the shop", calls(["shop_status", {}]), { role: "user" })], otherwise: text("The shop is open.") } });

  test("says which run used it, and who will miss it", async ({ studio: page, api, model }) => {
    const kept = await api.call<{ id: string }>("POST", "/credentials", { name: "shop", kind: "token", fields: { token: CANARY } });
    await api.call("POST", `/universal-agents/${await api.agentId()}/skills:create_and_attach`, {
      name: "shop_status",
      description: "Whether the shop is open.",
      type: "http",
      config: { method: "GET", url: `http://127.0.0.1:${model.port}/v1/models`, headers: { Authorization: "Bearer {{credential.token}}" }, allow: [`127.0.0.1:${model.port}`] },
      credential: { name: "shop" },
      risk: "read",
      effect: "read",
    });
    // What an agent names is its own to use.
    await api.call("PATCH", `/universal-agents/${await api.agentId()}`, { credentials: { shop_status: kept.id } });
    const run = await api.ask("Look at the shop");
    expect((await api.run(run)).outcome?.status).toBe("completed");
    await visit(page, "/credentials");
    const main = page.getByRole("main");
    const row = main.getByRole("list", { name: "Credentials" }).getByRole("listitem");
    await expect(row).toContainText(/last used/);
    await row.getByRole("link", { name: "shop" }).click();
    const use = main.getByRole("table", { name: "Uses" }).getByRole("row").nth(1);
    await expect(use).toContainText("shop_status");
    await use.getByRole("link", { name: "Open the run" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Look at the shop" })).toBeVisible();
    expect(await traces(page)).not.toContain(CANARY);

    await visit(page, `/credentials/${kept.id}`);
    await expect(main.getByRole("link", { name: "shop_status" })).toBeVisible();
    await expect(main.getByText("agent, for shop_status")).toBeVisible();
    await main.getByRole("button", { name: "Remove" }).click();
    const ask = page.getByRole("dialog", { name: "Remove “shop”?" });
    await expect(ask).toContainText("These use it");
    await expect(ask.getByRole("listitem")).toHaveCount(2);
    await ask.getByRole("button", { name: "Remove for good" }).click();
    await expect(main.getByRole("heading", { name: "No credential yet" })).toBeVisible();
  });
});

test("the vault's key is changed, and says how many are sealed anew", async ({ studio: page, api }) => {
  for (const name of ["one", "two"]) await api.call("POST", "/credentials", { name, kind: "token", fields: { token: "x" } });
  await visit(page, "/credentials");
  await page.getByRole("button", { name: "Actions for the vault" }).click();
  await page.getByRole("menuitem", { name: "Change the vault's key" }).click();
  const ask = page.getByRole("dialog", { name: "Change the vault's key?" });
  await ask.getByRole("button", { name: "Change the key" }).click();
  await expect(ask.getByText("2 credentials are sealed with a new key.")).toBeVisible();
  await ask.getByRole("button", { name: "Done" }).click();
  await expect(ask).toBeHidden();
});

test("a list of many pages is searched whole", async ({ studio: page, api }) => {
  for (let n = 0; n < 104; n++) await api.call("POST", "/credentials", { name: `token ${String(n).padStart(3, "0")}`, kind: "token", fields: { token: "x" } });
  await visit(page, "/credentials");
  const rows = page.getByRole("list", { name: "Credentials" }).getByRole("listitem");
  await expect(rows).toHaveCount(100);
  await page.getByRole("searchbox", { name: "Search credentials" }).fill("103");
  await expect(rows).toHaveCount(1);
  await page.getByRole("searchbox", { name: "Search credentials" }).fill("");
  await expect(rows).toHaveCount(104);
});

test("a viewer has no such page, a developer sees no way to change it", async ({ studio: page, api }) => {
  await api.call("POST", "/credentials", { name: "shop", kind: "token", fields: { token: "x" } });
  // The server's own refusals are tested where they are made.
  const as = async (role: string) => {
    await page.route("**/api/auth/me", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), role } });
    });
    await page.goto("/credentials");
  };
  const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Credentials" });
  await as("viewer");
  await expect(page.getByRole("heading", { name: "This page is not for your role" })).toBeVisible();
  await expect(link).toBeHidden();
  await page.unroute("**/api/auth/me");
  await as("developer");
  await expect(page.getByRole("link", { name: "shop" })).toBeVisible();
  await expect(link).toBeVisible();
  await expect(page.getByRole("button", { name: "Add a credential" })).toBeHidden();
  await expect(page.getByRole("button", { name: "Actions for shop" })).toBeHidden();
});
