// Groups and grants: an administrator makes a group and closes an agent; a developer gets in by the group, may change it by a grant, and asks why not.
import type { Browser, Page } from "@playwright/test";
import type { Api } from "./support/api.ts";
import { expect, login, test, visit } from "./support/test.ts";

const ANN = { email: "ann@example.org", password: "a coot nests by the mill" };
const BEN = "ben@example.org";

/** Invites Ann and Ben as developers, and logs Ann in. */
async function people(api: Api, browser: Browser, baseURL: string): Promise<Page> {
  type Invited = { invitation: { token: string } };
  const { invitation } = await api.call<Invited>("POST", "/users", { email: ANN.email, role: "developer" });
  await api.call("POST", "/users", { email: BEN, role: "developer" });
  await api.call("POST", "/auth/invitation", { token: invitation.token, password: ANN.password });
  const page = await (await browser.newContext({ locale: "en-GB", baseURL })).newPage();
  await login(page, api.loginPath, ANN);
  return page;
}

test("a group is made, filled, renamed and removed", async ({ studio: page, api }) => {
  for (const email of [ANN.email, BEN]) await api.call("POST", "/users", { email, role: "developer" });
  const pages = page.getByRole("navigation", { name: "Pages" });
  await pages.getByRole("link", { name: "Groups" }).click();
  const main = page.getByRole("main");
  await expect(main.getByText("No groups yet")).toBeVisible();
  await main.getByRole("button", { name: "New group" }).click();
  const form = page.getByRole("dialog", { name: "New group" });
  await form.getByRole("button", { name: "Make the group" }).click();
  await expect(form.getByText("Give it a name.")).toBeVisible();
  await form.getByLabel("Name").fill("Editors");
  await form.getByRole("button", { name: "Make the group" }).click();
  await expect(main.getByRole("heading", { level: 1, name: "Editors" })).toBeVisible();

  const members = main.getByRole("list", { name: "Members" }).getByRole("listitem");
  const add = async (email: string) => {
    await main.getByLabel("Add by e-mail").fill(email);
    await main.getByRole("button", { name: "Add", exact: true }).click();
  };
  await add("nobody@example.org");
  await expect(main.getByText("Nobody here has the e-mail nobody@example.org.")).toBeVisible();
  await add(ANN.email);
  await add(BEN);
  await expect(members).toHaveCount(2);
  await main.getByRole("button", { name: `Take ${BEN} out` }).click();
  await expect(members).toHaveCount(1);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(members).toHaveCount(2);

  await main.getByRole("button", { name: "Change" }).click();
  const change = page.getByRole("dialog", { name: "Change Editors" });
  await change.getByLabel("Name").fill("Writers");
  await change.getByRole("button", { name: "Save" }).click();
  await expect(main.getByRole("heading", { level: 1, name: "Writers" })).toBeVisible();

  await visit(page, "/users");
  await page.getByRole("button", { name: `Actions for ${ANN.email}` }).click();
  await page.getByRole("menuitem", { name: "Groups and grants" }).click();
  const sheet = page.getByRole("dialog", { name: `What ${ANN.email} may use` });
  await expect(sheet.getByRole("list", { name: "Groups" })).toContainText("Writers");
  await expect(sheet.getByText("They have no grants")).toBeVisible();
  await sheet.getByRole("link", { name: "Writers" }).click();

  await main.getByRole("button", { name: "Remove the group" }).click();
  await page.getByRole("dialog", { name: "Remove the group Writers?" }).getByRole("button", { name: "Remove for good" }).click();
  await expect(main.getByText("No groups yet")).toBeVisible();
});

test.describe("grants", () => {
  // Ann is refused once, and names somebody once who is not there.
  test.use({ expected: [/status of (403|422)/] });

  test("of an agent open it, let it be changed, and say why not", async ({ studio: page, api, browser, baseURL }) => {
    const ann = await people(api, browser, baseURL ?? "");
    const group = await api.call<{ id: string }>("POST", "/groups", { name: "Editors" });
    const users = await api.call<{ items: { id: string }[] }>("GET", `/users?search=${ANN.email}`);
    await api.call("PUT", `/groups/${group.id}/members/${users.items[0]?.id}`);
    const agent = await api.agentId();
    await visit(page, `/agents/${agent}`);
    const open = (from: Page) => from.getByRole("main").getByRole("button", { name: "Access" }).click();
    await open(page);
    const dialog = page.getByRole("dialog", { name: /^Access to / });
    await dialog.getByRole("switch", { name: /^Only with a grant/ }).click();
    await expect(dialog.getByText("only operators and administrators may use it")).toBeVisible();

    await visit(ann, `/agents/${agent}`);
    await expect(ann.getByText("needs the grant `use`")).toBeVisible();

    const give = async (to: "User" | "Group", who: string, level: "use" | "edit" | "share") => {
      await dialog.getByLabel("To", { exact: true }).selectOption(to);
      await dialog.getByLabel(to === "User" ? "E-mail" : "Name of the group", { exact: true }).fill(who);
      await dialog.getByLabel("Reaches", { exact: true }).selectOption(level);
      await dialog.getByRole("button", { name: "Give" }).click();
    };
    const grants = dialog.getByRole("list", { name: "Grants" }).getByRole("listitem");
    await give("User", "nobody@example.org", "use");
    await expect(dialog.getByRole("alert")).toContainText("there is no user");
    await give("Group", "editors", "use");
    await expect(grants).toHaveCount(1);
    await expect(grants.first()).toContainText("Editors");

    await ann.reload();
    const field = ann.getByRole("main").getByLabel("Name", { exact: true });
    await expect(field).toBeDisabled();
    await open(ann);
    const own = ann.getByRole("dialog", { name: /^Access to / });
    await expect(own).toContainText("the group Editors, which they are in");
    await expect(own).toContainText("the grant `edit`");
    await own.getByRole("button", { name: "Close" }).last().click();

    await give("User", ANN.email, "edit");
    await expect(grants).toHaveCount(2);
    await ann.reload();
    await expect(field).toBeEnabled();
    await expect(ann.getByLabel("Budget")).toBeDisabled();
    await field.fill("Ann's own");
    await ann.getByRole("button", { name: "Save" }).click();
    await expect(ann.getByText("Saved", { exact: false }).first()).toBeVisible();

    await dialog.getByLabel("E-mail of the user").fill(BEN);
    await dialog.getByRole("button", { name: "Explain" }).click();
    await expect(dialog.getByText("the grant `use`, for them or a group of theirs")).toBeVisible();
    await dialog.getByRole("button", { name: "Take the grant of Editors" }).click();
    await expect(grants).toHaveCount(1);
    await page.locator("[data-toast]").filter({ hasText: "Editors has no grant" }).getByRole("button", { name: "Undo" }).click();
    await expect(grants).toHaveCount(2);
    await visit(ann, "/settings");
    await expect(ann.getByRole("main").getByRole("list", { name: "Grants" }).getByRole("listitem")).toHaveCount(2);
    await ann.context().close();
  });
});
