// Webhooks: one is made by the form and called as programs do, with signatures made here; what is wrong is refused, and what came starts once more.
import { createHmac, randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import type { Api } from "./support/api.ts";
import { faultsOf, looks } from "./support/axe.ts";
import { text } from "./support/model.ts";
import { expect, login, test, visit } from "./support/test.ts";

const ANN = { email: "ann@example.org", password: "a coot nests by the mill" };
/** As long as a run may take on a busy machine; also what no event tells is looked for again by then. */
const LONG = { timeout: 120_000 };
const main = (page: Page) => page.getByRole("main");
const deliveries = (page: Page) => main(page).getByRole("table", { name: "Deliveries" }).getByRole("row");
const row = (page: Page, event: string) => deliveries(page).filter({ hasText: event });
const DOCKED = { action: "docked", ship: "Albatros" };

// A browser says in the console what the server refuses.
test.use({ script: { otherwise: text("Weighed.") }, expected: [/status of 422/] });

type Call = { secret: string; body?: object; id?: string; /** Seconds before now. */ age?: number };
/** Calls as Standard Webhooks say; the status of the answer. */
async function call(api: Api, address: string, { secret, body = DOCKED, id = `msg_${randomUUID()}`, age = 0 }: Call): Promise<number> {
  const sent = JSON.stringify(body);
  const time = String(Math.floor(Date.now() / 1000) - age);
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${time}.${sent}`).digest("base64");
  const headers = { "content-type": "application/json", "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
  return (await fetch(`${api.url}${new URL(address).pathname}`, { method: "POST", headers, body: sent })).status;
}

/** Opens the form and says what is to be done. */
async function begin(page: Page, name: string, request: string) {
  await main(page).getByRole("button", { name: "New webhook" }).click();
  const form = page.getByRole("dialog", { name: "New webhook" });
  await form.getByLabel("Name", { exact: true }).fill(name);
  await form.getByRole("textbox", { name: "Request" }).fill(request);
  return form;
}

/** What is shown once, and ends with Done. */
async function shownOnce(page: Page, title: string) {
  const dialog = page.getByRole("dialog", { name: title });
  const secret = (await dialog.locator("[data-secret]").textContent()) ?? "";
  const address = dialog.locator("[data-address]");
  const shown = { secret, address: (await address.count()) > 0 ? ((await address.textContent()) ?? "") : "" };
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(dialog).toBeHidden();
  return shown;
}

/** A webhook that is there without the form. */
async function made(api: Api, more: object = {}): Promise<{ id: string; path: string; secret: string }> {
  const input = { name: "Harbour", agent_id: await api.agentId(), request: "Weigh {{payload.ship}}.", signing: { kind: "standard" }, ...more };
  const { hook, secret } = await api.call<{ hook: { id: string; path: string }; secret: string }>("POST", "/hooks", input);
  return { ...hook, secret };
}

test("a webhook is made by the form, and a signed call becomes a run", async ({ studio: page, api, baseURL }) => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Webhooks" }).click();
  await expect(main(page).getByText("No webhooks yet")).toBeVisible();
  const form = await begin(page, "Harbour", "Weigh .");
  const make = form.getByRole("button", { name: "Make the webhook" });
  const request = form.getByRole("textbox", { name: "Request" });
  // What is marked of a field that is put in gives way to what one types.
  await request.press("ArrowLeft");
  await form.getByRole("button", { name: "{{payload.…}}" }).click();
  await page.keyboard.type("ship");
  await expect(request).toHaveValue("Weigh {{payload.ship}}.");
  await form.getByRole("button", { name: "Add a filter" }).click();
  await form.getByLabel("Filter 1: Place").fill("action");
  await make.click();
  await expect(form.getByText("Write the keys with a / before each", { exact: false })).toBeVisible();
  await form.getByLabel("Filter 1: Place").fill("/action");
  await form.getByLabel("Filter 1: Test").selectOption({ label: "is one of" });
  await form.getByLabel("Filter 1: Value").fill("docked, moored");
  // What only the server knows is said at its field, too.
  await request.fill("Weigh {{ship}}.");
  await make.click();
  await expect(form.getByText("`{{ship}}` is unknown", { exact: false })).toBeVisible();
  await request.fill("Weigh {{payload.ship}}.");
  await make.click();

  const once = page.getByRole("dialog", { name: "Harbour is there" });
  await expect(once.getByText("it is shown this once", { exact: false })).toBeVisible();
  for (const name of ["Copy the address", "Copy the secret"]) await expect(once.getByRole("button", { name })).toBeVisible();
  await page.keyboard.press("Escape");
  const { secret, address } = await shownOnce(page, "Harbour is there");
  expect(address).toMatch(new RegExp(`^${baseURL}/hooks/[\\w-]+$`));
  expect(secret).toMatch(/^whsec_/);
  await expect(main(page).getByRole("heading", { level: 1, name: "Harbour" })).toBeVisible();
  await expect(main(page).locator("[data-address]")).toHaveText(address);
  await expect(main(page).getByText("Payload /action is one of docked, moored")).toBeVisible();

  expect(await call(api, address, { secret, id: "msg_1" })).toBe(202);
  await expect(row(page, "msg_1")).toContainText("done", LONG);
  // The same event starts nothing more; what a filter leaves out is kept with the reason.
  expect(await call(api, address, { secret, id: "msg_1" })).toBe(200);
  expect(await call(api, address, { secret, id: "msg_2", body: { action: "left" } })).toBe(202);
  await expect(row(page, "msg_2")).toContainText("A filter wants `/action` of the payload", LONG);
  await expect(row(page, "msg_1")).toContainText("came 1 more time", LONG);
  await row(page, "msg_1").getByRole("link", { name: "Run" }).click();
  await expect(page).toHaveURL(/\/runs\/[\w-]+$/);
  await expect(main(page).getByText("Weigh Albatros.").first()).toBeVisible();
  await expect(main(page).getByText("Started by")).toBeVisible();
  await main(page).getByRole("link", { name: "Harbour" }).click();
  // It leads to the delivery, with what was sent.
  const sheet = page.getByRole("dialog", { name: "Delivery" });
  await expect(sheet.getByText('"ship": "Albatros"')).toBeVisible();
  await expect(sheet.getByText("webhook-timestamp")).toBeVisible();
  await expect(sheet.getByText("webhook-signature")).toBeHidden();
});

test("wrong calls are refused, and it rests, works again, is changed, deleted and brought back", async ({ studio: page, api }) => {
  const { id, path, secret } = await made(api);
  const address = `${api.url}${path}`;
  expect(await call(api, address, { secret, age: 3_600 })).toBe(401);
  await visit(page, `/webhooks/${id}`);
  const refused = main(page).getByRole("region", { name: "Refused calls" });
  await expect(refused).toContainText(/signed 36\d\d s ago/);
  await expect(refused).toContainText("1 call was refused");
  expect(await call(api, address, { secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` })).toBe(401);
  await expect(refused).toContainText("The signature doesn't match.", LONG);
  await expect(refused).toContainText("2 calls were refused");
  await expect(main(page).getByText("Nothing came yet.")).toBeVisible();
  await visit(page, "/webhooks");
  const listed = main(page).getByRole("list", { name: "Webhooks" }).getByRole("listitem").filter({ hasText: "Harbour" });
  for (const said of ["Works", "Refused calls", "Nothing came yet", "2 refused calls"]) await expect(listed).toContainText(said);
  await listed.getByRole("link", { name: "Harbour" }).click();

  await main(page).getByRole("button", { name: "Pause" }).click();
  const pause = page.getByRole("dialog", { name: "Pause Harbour?" });
  await pause.getByLabel("Note").fill("Low tide");
  await pause.getByRole("button", { name: "Pause" }).click();
  await expect(main(page).getByText("Low tide")).toBeVisible();
  expect(await call(api, address, { secret, id: "msg_low" })).toBe(202);
  await expect(row(page, "msg_low")).toContainText("the webhook rested", LONG);
  await main(page).getByRole("button", { name: "Resume" }).click();
  await expect(main(page).getByText("Low tide")).toBeHidden();

  await main(page).getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Harbour" });
  await edit.getByLabel("Name", { exact: true }).fill("Port");
  await edit.getByRole("button", { name: "More settings" }).click();
  await edit.getByLabel("Signed at most").fill("9");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit.getByText("A whole number from 10 to", { exact: false })).toBeVisible();
  await edit.getByLabel("Signed at most").fill("60");
  await edit.getByLabel("Id of an event").selectOption({ label: "A place in the payload" });
  await edit.getByLabel("Place of the id").fill("/ship");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(main(page).getByRole("heading", { level: 1, name: "Port" })).toBeVisible();
  await expect(main(page).getByText("60 seconds ago")).toBeVisible();
  expect(await call(api, address, { secret, id: "msg_5" })).toBe(202);
  await expect(row(page, "Albatros")).toContainText("done", LONG);

  await main(page).getByRole("button", { name: "Delete" }).click();
  await expect(main(page).getByText("No webhooks yet")).toBeVisible();
  expect(await call(api, address, { secret })).toBe(404);
  await page.locator("[data-toast]").filter({ hasText: "Port was deleted" }).getByRole("button", { name: "Undo" }).click();
  await expect(main(page).getByRole("link", { name: "Port" })).toBeVisible();
  expect(await call(api, address, { secret, body: { ship: "Heron" } })).toBe(202);
});

test("a secret takes the place of another, and a call is tried and started again", async ({ studio: page, api }) => {
  const { id, path, secret } = await made(api, { filters: [{ pointer: "/action", equals: "docked" }] });
  const address = `${api.url}${path}`;
  await visit(page, `/webhooks/${id}`);
  const secrets = main(page).getByRole("list", { name: "Secrets" }).getByRole("listitem");
  await expect(secrets).toHaveCount(1);
  await expect(main(page).getByText("The only secret can’t be removed", { exact: false })).toBeVisible();
  await main(page).getByRole("button", { name: "Add a secret" }).click();
  const add = page.getByRole("dialog", { name: "Add a secret" });
  await add.getByRole("textbox", { name: "Secret from the sender" }).fill("short");
  await add.getByRole("button", { name: "Add" }).click();
  await expect(add.getByText("The secret is", { exact: false })).toBeVisible();
  await add.getByRole("textbox", { name: "Secret from the sender" }).fill("");
  await add.getByRole("button", { name: "Add" }).click();
  const { secret: other } = await shownOnce(page, "A new secret of Harbour");
  await expect(secrets).toHaveCount(2);
  for (const one of [secret, other]) expect(await call(api, address, { secret: one })).toBe(202);
  await main(page).getByRole("button", { name: `Remove the secret that ends with ${secret.slice(-4)}` }).click();
  await page.getByRole("dialog", { name: `Remove the secret that ends with ${secret.slice(-4)}?` }).getByRole("button", { name: "Remove" }).click();
  await expect(secrets).toHaveCount(1);
  expect(await call(api, address, { secret })).toBe(401);
  expect(await call(api, address, { secret: other, id: "msg_first" })).toBe(202);
  await expect(row(page, "msg_first")).toContainText("done", LONG);

  await main(page).getByRole("button", { name: "Try" }).click();
  const trial = page.getByRole("dialog", { name: "Try Harbour" });
  const result = trial.getByRole("region", { name: "What would happen" });
  await trial.getByLabel("Body").fill('{"action": "left"}');
  await trial.getByRole("button", { name: "See what happens" }).click();
  await expect(result).toContainText("It would start nothing: A filter wants");
  await trial.getByLabel("Headers").fill("no header");
  await trial.getByRole("button", { name: "See what happens" }).click();
  await expect(trial.getByText("Write one header on each line", { exact: false })).toBeVisible();
  await trial.getByRole("button", { name: "Take the last delivery" }).click();
  await expect(trial.getByLabel("Headers")).toHaveValue(/webhook-id: msg_first/);
  await trial.getByRole("button", { name: "See what happens" }).click();
  await expect(result).toContainText("It would start a run.");
  await expect(result).toContainText("Event: msg_first");
  await expect(result).toContainText("Weigh Albatros.");
  await trial.getByRole("button", { name: "Close" }).click();

  await row(page, "msg_first").getByRole("link", { name: /ago|now/ }).click();
  const sheet = page.getByRole("dialog", { name: "Delivery" });
  await sheet.getByRole("button", { name: "Start again" }).click();
  await page.locator("[data-toast]").filter({ hasText: "It starts once more" }).getByRole("button", { name: "Show" }).click();
  await expect(sheet.getByText("started again")).toBeVisible();
  await expect(sheet.getByText("done")).toBeVisible(LONG);
  await sheet.getByRole("button", { name: "Close" }).click();
  await expect(row(page, "msg_first")).toHaveCount(2);
});

test("the secret that Stripe makes takes the place of the one that was made here", async ({ studio: page, api }) => {
  await visit(page, "/webhooks");
  const form = await begin(page, "Payments", "Note {{payload.id}}.");
  await form.getByLabel("Who calls").selectOption({ label: "Stripe" });
  await form.getByRole("button", { name: "Make the webhook" }).click();
  const dialog = page.getByRole("dialog", { name: "Payments is there" });
  await expect(dialog.locator("[data-secret]")).toBeHidden();
  const address = (await dialog.locator("[data-address]").textContent()) ?? "";
  const secret = `whsec_${randomUUID()}`;
  await dialog.getByRole("textbox", { name: "Secret of Stripe" }).fill("sk_test_123456789");
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await expect(dialog.getByText("This is a key of Stripe's API", { exact: false })).toBeVisible();
  await dialog.getByRole("textbox", { name: "Secret of Stripe" }).fill(secret);
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await expect(dialog.getByText("calls of Stripe are taken from now on", { exact: false })).toBeVisible();
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(main(page).getByRole("list", { name: "Secrets" }).getByRole("listitem")).toHaveText([new RegExp(`ends with ${secret.slice(-4)}`)]);
  const sent = JSON.stringify({ id: "evt_1" });
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", secret).update(`${time}.${sent}`).digest("hex");
  const answer = await fetch(`${api.url}${new URL(address).pathname}`, { method: "POST", headers: { "content-type": "application/json", "stripe-signature": `t=${time},v1=${signature}` }, body: sent });
  expect(answer.status).toBe(202);
  await expect(row(page, "evt_1")).toContainText("done", LONG);
});

// The list of all pages has none with a dialog.
for (const look of looks) {
  test.describe(look.name, { tag: look.tag }, () => {
    test.use(look.use);

    test("no dialog has a fault that axe finds", async ({ studio: page, api }) => {
      const faults: string[] = [];
      const inspect = async (name: string) => {
        // What fades in has other colours.
        await page.waitForFunction(() => !document.getAnimations().some((one) => one.playState === "running" && one.effect?.getComputedTiming().endTime !== Infinity));
        faults.push(...(await faultsOf(page, name, look.rules)));
      };
      await visit(page, "/webhooks?new=1");
      const form = page.getByRole("dialog", { name: "New webhook" });
      await form.getByRole("button", { name: "Add a filter" }).click();
      await form.getByRole("button", { name: "More settings" }).click();
      await form.getByRole("button", { name: "Make the webhook" }).click();
      await expect(form.getByText("Give it a name.")).toBeVisible();
      await inspect("webhook-new");
      await form.getByRole("button", { name: "Remove filter 1" }).click();
      await form.getByLabel("Name", { exact: true }).fill("Port");
      await form.getByRole("textbox", { name: "Request" }).fill("Weigh {{payload}}.");
      await form.getByLabel("Who calls").selectOption({ label: "Token in a header" });
      await form.getByRole("button", { name: "Make the webhook" }).click();
      await expect(page.getByRole("dialog", { name: "Port is there" }).locator("[data-secret]")).toBeVisible();
      await inspect("webhook-made");

      const { id, path, secret } = await made(api);
      await page.getByRole("button", { name: "Done" }).click();
      expect(await call(api, `${api.url}${path}`, { secret, id: "msg_1" })).toBe(202);
      await visit(page, `/webhooks/${id}`);
      await expect(row(page, "msg_1")).toContainText("done", LONG);
      await inspect("webhook-deliveries");
      await row(page, "msg_1").getByRole("link", { name: /ago|now/ }).click();
      const sheet = page.getByRole("dialog", { name: "Delivery" });
      await expect(sheet.getByText('"ship": "Albatros"')).toBeVisible();
      await inspect("webhook-delivery");
      await sheet.getByRole("button", { name: "Try it" }).click();
      const trial = page.getByRole("dialog", { name: "Try Harbour" });
      await trial.getByRole("button", { name: "See what happens" }).click();
      await expect(trial.getByText("It would start a run.")).toBeVisible();
      await inspect("webhook-try");
      expect(faults.join("\n\n"), "faults").toBe("");
    });
  });
}

test.describe("of others", () => {
  /** Ann is a developer with a webhook. */
  async function prepare(api: Api, page: Page): Promise<void> {
    const { invitation } = await api.call<{ invitation: { token: string } }>("POST", "/users", { email: ANN.email, role: "developer" });
    await api.call("POST", "/auth/invitation", { token: invitation.token, password: ANN.password });
    await login(page, api.loginPath, ANN);
    await visit(page, "/webhooks");
    const form = await begin(page, "Ann's", "Look after the mill.");
    await form.getByRole("button", { name: "Make the webhook" }).click();
    const { address, secret } = await shownOnce(page, "Ann's is there");
    expect(await call(api, address, { secret, id: "msg_mill" })).toBe(202);
    await expect(row(page, "msg_mill")).toContainText("done", LONG);
  }

  test("operators pause and delete, and neither change nor read what was sent", async ({ studio: page, api, browser, baseURL }) => {
    const ann = await (await browser.newContext({ locale: "en-GB", ...(baseURL && { baseURL }) })).newPage();
    await prepare(api, ann);
    await visit(page, "/webhooks");
    const list = main(page).getByRole("list", { name: "Webhooks" });
    await expect(list.getByRole("listitem")).toContainText(ANN.email);
    await main(page).getByRole("checkbox", { name: "Only mine" }).click();
    await expect(main(page).getByText("There is no such webhook")).toBeVisible();
    await main(page).getByRole("button", { name: "Show all" }).click();
    await list.getByRole("link", { name: "Ann's" }).click();
    await expect(main(page).getByText(`This webhook is ${ANN.email}’s`, { exact: false })).toBeVisible();
    await expect(row(page, "msg_mill")).toContainText("done");
    await expect(row(page, "msg_mill").getByRole("link", { name: /ago|now/ })).toBeHidden();
    for (const name of ["Edit", "Add a secret"]) await expect(main(page).getByRole("button", { name })).toBeHidden();
    await main(page).getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog", { name: "Pause Ann's?" }).getByRole("button", { name: "Pause" }).click();
    await expect(main(page).getByText("Paused", { exact: true })).toBeVisible();
    await main(page).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete Ann's?" }).getByRole("button", { name: "Delete" }).click();
    await expect(main(page).getByText("No webhooks yet")).toBeVisible();

    // Only she brings it back.
    await visit(ann, "/webhooks?deleted=1");
    await main(ann).getByRole("button", { name: "Actions for Ann's" }).click();
    await ann.getByRole("menuitem", { name: "Restore" }).click();
    await expect(ann.locator("[data-toast]").filter({ hasText: "Ann's is back" })).toBeVisible();
    await ann.context().close();
  });
});
