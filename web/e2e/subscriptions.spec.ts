// Subscriptions: one is made by the form and told; this server may not reach this machine, so each message says so.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import type { Api } from "./support/api.ts";
import { faultsOf, looks } from "./support/axe.ts";
import { expect, login, test as base, visit } from "./support/test.ts";

const ANN = { email: "ann@example.org", password: "a coot nests by the mill" };
/** As long as a message may take on a busy machine. */
const LONG = { timeout: 120_000 };
const REFUSED = "not on the public internet";
const main = (page: Page) => page.getByRole("main");
const messages = (page: Page) => main(page).getByRole("list", { name: "Messages" }).getByRole("listitem");
const listed = (page: Page, name: string) => main(page).getByRole("list", { name: "Outgoing" }).getByRole("listitem").filter({ hasText: name });

/** A program of this test, and how often it was asked. */
type Receiver = { receiver: { address: string; asked: () => number } };
const test = base.extend<Receiver>({
  receiver: async ({}, use) => {
    let asked = 0;
    const server = createServer((_, answer) => ((asked += 1), answer.writeHead(204).end()));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await use({ address: `${origin}/steward?key=hidden`, asked: () => asked });
    server.close();
  },
});
// A browser says in the console what the server refuses.
test.use({ expected: [/status of 422/] });

/** A subscription that is there without the form. */
async function made(api: Api, address: string, more: object = {}): Promise<string> {
  const input = { name: "Harbour", form: "standard", address, kinds: ["schedule.missed"], ...more };
  return (await api.call<{ subscription: { id: string } }>("POST", "/subscriptions", input)).subscription.id;
}

test("a subscription is made by the form, and a test says what came of it", async ({ studio: page, receiver, baseURL }) => {
  await visit(page, "/webhooks");
  await main(page).getByRole("tab", { name: "Outgoing" }).click();
  await expect(page).toHaveURL(/\/webhooks\?view=outgoing$/);
  await expect(main(page).getByText("Nobody is told yet")).toBeVisible();
  await main(page).getByRole("button", { name: "New subscription" }).click();
  const form = page.getByRole("dialog", { name: "New subscription" });
  const address = form.getByLabel("Address", { exact: true });
  const make = form.getByRole("button", { name: "Make the subscription" });
  await expect(form.getByLabel("Address of this studio")).toHaveValue(baseURL!);
  await make.click();
  for (const said of ["Give it a name.", "Say where messages are sent."]) await expect(form.getByText(said)).toBeVisible();
  await form.getByLabel("Name", { exact: true }).fill("Harbour");
  // What only the server knows is said at its field.
  await form.getByLabel("Service").selectOption({ label: "Matrix" });
  await address.fill("https://matrix.example.org/harbour");
  await make.click();
  await expect(form.getByText("This service asks for a token.")).toBeVisible();
  await form.getByRole("textbox", { name: "Token" }).fill("abc");
  await make.click();
  await expect(form.getByText("the address of a Matrix room is", { exact: false })).toBeVisible();
  await form.getByLabel("Service").selectOption({ label: "A program" });
  await form.getByRole("textbox", { name: "Token" }).fill("");
  await address.fill(receiver.address);
  await form.getByRole("checkbox", { name: "Run failed" }).click();
  await form.getByRole("checkbox", { name: "Backup failed" }).click();
  await form.getByRole("checkbox", { name: "Also what is others’" }).click();
  await make.click();

  const once = page.getByRole("dialog", { name: "Harbour is there" });
  await expect(once.locator("[data-secret]")).toHaveText(/^whsec_/);
  await once.getByRole("button", { name: "Done" }).click();
  await expect(main(page).getByRole("heading", { level: 1, name: "Harbour" })).toBeVisible();
  await expect(main(page).getByText("Run failed, Backup failed · also what is others’")).toBeVisible();
  // Only the host is shown of the address.
  await expect(main(page).getByText(new URL(receiver.address).origin, { exact: true })).toBeVisible();
  await expect(main(page).getByText("key=hidden")).toBeHidden();
  await expect(main(page).getByText("Nothing was told yet.")).toBeVisible();

  await main(page).getByRole("button", { name: "Send a test" }).click();
  await expect(main(page).getByRole("status").filter({ hasText: "The test didn’t arrive:" })).toContainText(REFUSED, LONG);
  await expect(messages(page)).toHaveCount(1);
  await expect(messages(page)).toContainText("is tried again");
  await expect(messages(page)).toContainText("next one");
  await messages(page).getByRole("button", { name: "What happened" }).click();
  await expect(messages(page).getByText('"kind": "test"')).toBeVisible();
  expect(receiver.asked()).toBe(0);
});

test("it rests, works again, is changed, deleted and brought back", async ({ studio: page, api, receiver }) => {
  const id = await made(api, receiver.address);
  await visit(page, "/webhooks?view=outgoing");
  for (const said of ["Works", "A program", "Schedule missed", "Nothing was told yet"]) await expect(listed(page, "Harbour")).toContainText(said);
  await listed(page, "Harbour").getByRole("link", { name: "Harbour" }).click();
  await main(page).getByRole("button", { name: "Send a test" }).click();
  await expect(messages(page)).toContainText(REFUSED, LONG);

  await main(page).getByRole("button", { name: "Pause" }).click();
  const pause = page.getByRole("dialog", { name: "Pause Harbour?" });
  await pause.getByLabel("Note").fill("Low tide");
  await pause.getByRole("button", { name: "Pause" }).click();
  await expect(main(page).getByText("Low tide")).toBeVisible();
  await expect(messages(page)).toContainText("given up", LONG);
  await expect(messages(page)).toContainText("the subscription was paused");
  await main(page).getByRole("checkbox", { name: "Only given up" }).click();
  await expect(page).toHaveURL(/failed=1/);
  await expect(messages(page)).toHaveCount(1);
  await main(page).getByRole("button", { name: "Resume" }).click();
  await expect(main(page).getByText("Low tide")).toBeHidden();
  await messages(page).getByRole("button", { name: "Send again" }).click();
  await expect(main(page).getByText("None was given up.")).toBeVisible();
  await main(page).getByRole("checkbox", { name: "Only given up" }).click();
  await expect(messages(page)).toContainText(REFUSED, LONG);

  await main(page).getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Harbour" });
  await edit.getByLabel("Name", { exact: true }).fill("Port");
  await expect(edit.getByLabel("Address", { exact: true })).toHaveValue("");
  await edit.getByLabel("Language of messages").selectOption({ label: "German" });
  await edit.getByLabel("Address of this studio").fill("nowhere");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit.getByText("Write an address such as https://steward.example.org", { exact: false })).toBeVisible();
  await edit.getByLabel("Address of this studio").fill("");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(main(page).getByRole("heading", { level: 1, name: "Port" })).toBeVisible();
  await expect(main(page).getByText("No links")).toBeVisible();
  // The address stayed.
  expect(await api.call<{ place: string; language: string }>("GET", `/subscriptions/${id}`)).toMatchObject({ place: new URL(receiver.address).origin, language: "de" });

  await main(page).getByRole("button", { name: "Delete" }).click();
  await expect(page).toHaveURL(/\/webhooks\?view=outgoing$/);
  await expect(main(page).getByText("Nobody is told yet")).toBeVisible();
  await page.locator("[data-toast]").filter({ hasText: "Port was deleted" }).getByRole("button", { name: "Undo" }).click();
  await expect(listed(page, "Port")).toBeVisible();
  await main(page).getByRole("button", { name: "Actions for Port" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await visit(page, "/webhooks?view=outgoing&deleted=1");
  await main(page).getByRole("button", { name: "Actions for Port" }).click();
  await page.getByRole("menuitem", { name: "Restore" }).click();
  await expect(main(page).getByText("None was deleted")).toBeVisible();
});

test("a secret takes the place of another, also where one begins to sign", async ({ studio: page, api, receiver }) => {
  await visit(page, `/webhooks/outgoing/${await made(api, receiver.address)}`);
  const secrets = main(page).getByRole("list", { name: "Secrets" }).getByRole("listitem");
  await expect(secrets).toHaveCount(1);
  const [, hint = ""] = /ends with (\S+)/.exec((await secrets.textContent()) ?? "") ?? [];
  await main(page).getByRole("button", { name: "Add a secret" }).click();
  const added = page.getByRole("dialog", { name: "A new secret of Harbour" });
  await expect(added.locator("[data-secret]")).toHaveText(/^whsec_/);
  await added.getByRole("button", { name: "Done" }).click();
  await expect(secrets).toHaveCount(2);
  await main(page).getByRole("button", { name: `Remove the secret that ends with ${hint}` }).click();
  await page.getByRole("dialog", { name: `Remove the secret that ends with ${hint}?` }).getByRole("button", { name: "Remove" }).click();
  await expect(secrets).toHaveCount(1);

  await visit(page, `/webhooks/outgoing/${await made(api, receiver.address, { name: "Room", form: "slack" })}`);
  await expect(main(page).getByRole("button", { name: "Send a test" })).toBeVisible();
  await expect(secrets).toHaveCount(0);
  await main(page).getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Room" });
  await edit.getByLabel("Service").selectOption({ label: "A program" });
  await edit.getByLabel("Address", { exact: true }).fill(receiver.address);
  await edit.getByRole("button", { name: "Save" }).click();
  const begun = page.getByRole("dialog", { name: "A new secret of Room" });
  const secret = (await begun.locator("[data-secret]").textContent()) ?? "";
  await begun.getByRole("button", { name: "Done" }).click();
  await expect(secrets).toHaveText([new RegExp(`ends with ${secret.slice(-4).replace(/[+]/g, "\\+")}`)]);
});

// The list of all pages has none with a dialog.
for (const look of looks) {
  test.describe(look.name, { tag: look.tag }, () => {
    test.use(look.use);

    test("no dialog has a fault that axe finds", async ({ studio: page, receiver }) => {
      const faults: string[] = [];
      const inspect = async (name: string) => {
        // What fades in has other colours.
        await page.waitForFunction(() => !document.getAnimations().some((one) => one.playState === "running" && one.effect?.getComputedTiming().endTime !== Infinity));
        faults.push(...(await faultsOf(page, name, look.rules)));
      };
      await visit(page, "/webhooks?view=outgoing&new=1");
      const form = page.getByRole("dialog", { name: "New subscription" });
      await form.getByRole("button", { name: "Make the subscription" }).click();
      await expect(form.getByText("Give it a name.")).toBeVisible();
      await inspect("subscription-new");
      await form.getByLabel("Name", { exact: true }).fill("Port");
      await form.getByLabel("Address", { exact: true }).fill(receiver.address);
      await form.getByRole("checkbox", { name: "Schedule missed" }).click();
      await form.getByRole("button", { name: "Make the subscription" }).click();
      await expect(page.getByRole("dialog", { name: "Port is there" }).locator("[data-secret]")).toBeVisible();
      await inspect("subscription-made");
      await page.getByRole("button", { name: "Done" }).click();
      await main(page).getByRole("button", { name: "Send a test" }).click();
      await expect(messages(page)).toContainText(REFUSED, LONG);
      await messages(page).getByRole("button", { name: "What happened" }).click();
      await inspect("subscription-messages");
      await visit(page, "/webhooks?view=outgoing");
      await expect(listed(page, "Port")).toContainText(REFUSED);
      await inspect("subscriptions");
      expect(faults.join("\n\n"), "faults").toBe("");
    });
  });
}

test("operators pause and delete, and neither change nor read what was told", async ({ studio: page, api, receiver, browser, baseURL }) => {
  const ann = await (await browser.newContext({ locale: "en-GB", ...(baseURL && { baseURL }) })).newPage();
  const { invitation } = await api.call<{ invitation: { token: string } }>("POST", "/users", { email: ANN.email, role: "developer" });
  await api.call("POST", "/auth/invitation", { token: invitation.token, password: ANN.password });
  await login(ann, api.loginPath, ANN);
  await visit(ann, "/webhooks?view=outgoing&new=1");
  const form = ann.getByRole("dialog", { name: "New subscription" });
  // Neither is for developers.
  await expect(form.getByRole("checkbox", { name: "Run failed" })).toBeVisible();
  for (const name of ["Also what is others’", "Backup failed"]) await expect(form.getByRole("checkbox", { name })).toBeHidden();
  await form.getByLabel("Name", { exact: true }).fill("Ann's");
  await form.getByLabel("Service").selectOption({ label: "Slack" });
  await form.getByLabel("Address", { exact: true }).fill(receiver.address);
  await form.getByRole("button", { name: "Make the subscription" }).click();
  await expect(main(ann).getByRole("heading", { level: 1, name: "Ann's" })).toBeVisible();

  await visit(page, "/webhooks?view=outgoing");
  await expect(listed(page, "Ann's")).toContainText(ANN.email);
  await main(page).getByRole("checkbox", { name: "Only mine" }).click();
  await expect(main(page).getByText("There is no such subscription")).toBeVisible();
  await main(page).getByRole("button", { name: "Show all" }).click();
  await listed(page, "Ann's").getByRole("link", { name: "Ann's" }).click();
  await expect(main(page).getByText(`This subscription is ${ANN.email}’s`, { exact: false })).toBeVisible();
  for (const name of ["Edit", "Send a test"]) await expect(main(page).getByRole("button", { name })).toBeHidden();
  await expect(main(page).getByText("Only given up")).toBeHidden();
  await main(page).getByRole("button", { name: "Pause" }).click();
  await page.getByRole("dialog", { name: "Pause Ann's?" }).getByRole("button", { name: "Pause" }).click();
  await expect(main(page).getByText("Paused", { exact: true })).toBeVisible();
  await main(page).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete Ann's?" }).getByRole("button", { name: "Delete" }).click();
  await expect(main(page).getByText("Nobody is told yet")).toBeVisible();

  // Only she brings it back.
  await visit(ann, "/webhooks?view=outgoing&deleted=1");
  await main(ann).getByRole("button", { name: "Actions for Ann's" }).click();
  await ann.getByRole("menuitem", { name: "Restore" }).click();
  await expect(ann.locator("[data-toast]").filter({ hasText: "Ann's is back" })).toBeVisible();
  await ann.context().close();
});
