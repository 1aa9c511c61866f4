import { Chat } from "./support/chat.ts";
import { text, when } from "./support/model.ts";
import { ADMIN } from "./support/server.ts";
import { enter, expect, test } from "./support/test.ts";

test.describe("two models", () => {
  test.use({ script: { models: ["scripted", "other"], otherwise: text("Said by a model.") } });

  test("a request is run again with the other one, in a branch", async ({ page: studio, api, model }) => {
    const [found] = (await api.call<{ items: { id: string }[] }>("GET", "/connections")).items;
    await api.call("POST", "/connections", { name: "second", provider: "compatible", base_url: model.baseUrl, model: "other", auth: { kind: "none" } });
    await api.call("POST", `/connections/${found?.id}/default`);
    await enter(studio, api);
    const chat = new Chat(studio);
    await chat.say("Who are you?");
    await chat.answered("Said by a model.");
    const first = await chat.conversation();
    await chat.more(/^Run again with another model/);
    const dialog = studio.getByRole("dialog", { name: "Run again with another model" });
    await dialog.getByRole("combobox", { name: "Model" }).selectOption({ label: "second · other" });
    await dialog.getByRole("button", { name: "Run" }).click();
    await expect.poll(() => studio.url()).not.toContain(first);
    await chat.answered("Said by a model.");
    await expect(chat.last).toContainText("other");
    expect((await model.chats()).map((chat) => chat.body.model)).toEqual(["scripted", "other"]);
    // The first one is as it was.
    await studio.getByRole("link", { name: "branch" }).click();
    await expect.poll(() => studio.url()).toContain(first);
    await expect(chat.exchanges).toHaveCount(1);
  });
});

test("conversations are searched, renamed, deleted and taken back", async ({ studio, api }) => {
  for (const title of ["Herons in the reeds", "Rows of airports"]) await api.ask(title);
  await studio.goto("/chat");
  const chat = new Chat(studio);
  const rows = chat.conversations.getByRole("link");
  await expect(rows).toHaveCount(2);
  const search = studio.getByRole("searchbox", { name: "Search conversations" });
  await search.fill("heron");
  await expect(rows).toHaveText(["Herons in the reeds"]);
  await search.fill("zebra");
  await expect(studio.getByText("Nothing found")).toBeVisible();
  await search.fill("");
  await expect(rows).toHaveCount(2);

  await chat.conversations.getByRole("button", { name: "Actions for “Herons in the reeds”" }).click();
  await studio.getByRole("menuitem", { name: "Rename" }).click();
  await studio.getByRole("textbox", { name: "Title" }).fill("Grey herons");
  await studio.getByRole("textbox", { name: "Title" }).press("Enter");
  await expect(rows.filter({ hasText: "Grey herons" })).toBeVisible();

  await chat.conversations.getByRole("button", { name: "Actions for “Grey herons”" }).click();
  await studio.getByRole("menuitem", { name: "Delete" }).click();
  await expect(rows).toHaveCount(1);
  await studio.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(rows).toHaveCount(2);
  await studio.reload();
  await expect(rows.filter({ hasText: "Grey herons" })).toBeVisible();
});

test.describe("a session that ends in mid-chat", () => {
  test.use({ script: { rules: [when("First", text("One."))], otherwise: text("Two.") }, expected: [/status of 401/] });

  test("loses nothing that was typed", async ({ studio, context, api, model }) => {
    const chat = new Chat(studio);
    await chat.say("First");
    await chat.answered("One.");
    const conversation = await chat.conversation();
    const draft = "A long thought,\nin two lines, about herons";
    await chat.composer.fill(draft);
    // The session is gone: no cookie to renew it with, and the server refuses the token.
    await context.clearCookies();
    let ended = true;
    await studio.route("**/api/**", (route) => {
      const headers = route.request().headers();
      if (route.request().url().endsWith("/api/auth/login")) ended = false;
      else if (ended && headers.authorization) headers.authorization = "Bearer ended";
      return route.continue({ headers });
    });
    await chat.composer.press("Enter");
    const dialog = studio.getByRole("dialog", { name: "Sign in again" });
    await expect(dialog).toContainText("Nothing is lost");
    await expect(chat.page.locator("textarea").first()).toHaveValue(draft);
    expect((await model.chats()).length).toBe(1);
    await expect(dialog.getByLabel("E-mail")).toHaveValue(ADMIN.email);
    await dialog.getByLabel("Password", { exact: true }).fill(ADMIN.password);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(chat.exchanges).toHaveCount(2);
    await chat.answered("Two.");
    expect(await chat.conversation()).toBe(conversation);
    const detail = await api.call<{ messages: { role: string; text: string }[] }>("GET", `/conversations/${conversation}`);
    expect(detail.messages.filter((message) => message.role === "user").map((message) => message.text)).toEqual(["First", draft]);
  });

  test("keeps a draft over a reload", async ({ studio }) => {
    const chat = new Chat(studio);
    await chat.composer.fill("not sent yet");
    await studio.reload();
    await expect(chat.composer).toHaveValue("not sent yet");
  });
});
