// The pages besides the chat, each through what it is for.
import { Chat } from "./support/chat.ts";
import { calls, text, when } from "./support/model.ts";
import { ADMIN } from "./support/server.ts";
import { expect, test, visit } from "./support/test.ts";

test.describe("runs", () => {
  test.use({
    script: {
      rules: [when("Fail", { kind: "status", status: 400, body: { error: { message: "no" } } }), when("Read it", calls(["read", { path: "a.txt" }]), { role: "user" })],
      otherwise: text("I read a.txt."),
    },
  });

  test("are filtered, opened as a tree, replayed, kept as a test and forked", async ({ studio: page, workspace, api }) => {
    await workspace.write("a.txt", "heron\n");
    await api.ask("Fail please");
    await api.ask("Read it");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Runs" }).click();
    const links = page.getByRole("table", { name: "Runs" }).getByRole("link");
    await expect(links).toHaveCount(2);
    await page.getByRole("combobox", { name: "Outcome" }).selectOption("failed");
    await expect(links).toHaveText(["Fail please"]);
    expect(page.url(), "a filtered list can be linked").toContain("failed");
    await page.getByRole("combobox", { name: "Outcome" }).selectOption("limited");
    await expect(page.getByText("No run matches")).toBeVisible();
    await page.getByRole("button", { name: "Clear filters" }).last().click();
    await page.getByRole("searchbox", { name: "Search runs" }).fill("read it");
    await expect(links).toHaveText(["Read it"]);
    await links.first().click();

    await expect(page.getByRole("heading", { level: 1, name: "Read it" })).toBeVisible();
    await page.getByRole("button", { name: "Expand all" }).click();
    await page.getByText("Prompt as sent").first().click();
    await expect(page.getByText("You are Steward").first()).toBeVisible();
    await expect(page.getByText("heron").first()).toBeVisible();
    await page.getByRole("tab", { name: "Answer and receipts" }).click();
    await expect(page.getByRole("main")).toContainText("I read");
    await expect(page.getByText("Proven by").first()).toBeVisible();
    await page.getByRole("tab", { name: "Raw log" }).click();
    await expect(page.getByText("run.finished").first()).toBeVisible();

    const more = async (item: string) => {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await more("Replay");
    const replay = page.getByRole("dialog", { name: "Replay from the log" });
    await replay.getByRole("button", { name: "Replay" }).click();
    await expect(replay).toContainText(/Same decisions: \d+ in \d+ events/);
    await page.keyboard.press("Escape");
    await more("Keep as test");
    await page.getByRole("dialog").getByLabel("Name").fill("reads-a-file");
    await page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
    await expect(page.getByText("Kept as “reads-a-file”").first()).toBeVisible();
    await more("Fork");
    const original = page.url();
    await page.getByRole("dialog", { name: "Fork this run" }).getByRole("button", { name: "Fork" }).click();
    await expect.poll(() => page.url()).not.toBe(original);
    await visit(page, "/runs/kept");
    await page.getByRole("button", { name: "Run all" }).click();
    await expect(page.getByText("1 of 1 decide the same")).toBeVisible();
  });
});

test.describe("a message while it works", () => {
  test.use({ script: { rules: [when("in German", text("Eins."))], otherwise: text("one two three four five six seven eight nine ten", { piece: 4 }) } });

  test("steers the run", async ({ studio, model }) => {
    const chat = new Chat(studio);
    model.hold("three");
    await chat.say("Count");
    await expect(chat.last).toContainText("two");
    const steered = studio.waitForResponse((answer) => answer.url().endsWith("/steer"));
    await chat.composer.fill("in German please");
    await chat.composer.press("Control+Enter");
    await steered;
    model.release();
    await chat.answered("Eins.");
    await expect(chat.exchanges).toHaveCount(1);
    expect(JSON.stringify((await model.chats()).at(-1)?.body.messages)).toContain("in German please");
  });
});

test("an agent is made, seen in the prompt, used, deleted and taken back", async ({ studio: page, model }) => {
  await visit(page, "/agents");
  await page.getByRole("link", { name: "New agent" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("Bookkeeper");
  await page.getByLabel("Instructions").fill("You keep the books of a small company.");
  await expect(page.locator("pre, code").filter({ hasText: "You keep the books" }).first()).toBeVisible();
  await expect(page.getByText(/^Fits: [\d,]+ of [\d,]+ tokens$/)).toBeVisible();
  await page.getByRole("button", { name: "Create the agent" }).first().click();
  await expect(page.getByText("The agent was created")).toBeVisible();
  await visit(page, "/agents");
  await page.getByRole("button", { name: "Chat: Bookkeeper" }).click();
  const chat = new Chat(page);
  await expect(page.getByRole("button", { name: "Agent: Bookkeeper" })).toBeVisible();
  await chat.say("Who are you?");
  await chat.answered(/./);
  expect(JSON.stringify((await model.chats())[0]?.body.messages)).toContain("You keep the books of a small company.");
  await visit(page, "/agents");
  await page.getByRole("button", { name: "Edit: Bookkeeper" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(page.getByRole("button", { name: "Chat: Bookkeeper" })).toBeHidden();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(page.getByRole("button", { name: "Chat: Bookkeeper" })).toBeVisible();
});

test("the password is changed and an API key made, shown once", async ({ studio: page, server, api }) => {
  await visit(page, "/settings");
  await page.getByLabel("Current password").fill(ADMIN.password);
  await page.getByLabel("New password", { exact: true }).fill("two herons stand in the reeds");
  await page.getByLabel("New password again").fill("two herons");
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByText("The two do not agree.")).toBeVisible();
  await page.getByLabel("New password again").fill("two herons stand in the reeds");
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByText("The password is changed; other sessions have ended")).toBeVisible();
  const login = (password: string) => fetch(`${server.url}/api/auth/login`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ email: ADMIN.email, password, tenant: api.tenant }) });
  expect((await login(ADMIN.password)).status).toBe(401);
  expect((await login("two herons stand in the reeds")).status).toBe(200);

  await page.getByRole("button", { name: "Make a key" }).click();
  await page.getByRole("alertdialog").or(page.getByRole("dialog")).getByRole("button", { name: "Make a key" }).click();
  const shown = page.getByRole("dialog", { name: "Your new key" });
  const key = (await shown.locator("code").textContent()) ?? "";
  expect(key).toMatch(/^sk-steward-/);
  await shown.getByRole("button", { name: "I have it" }).click();
  await expect(page.getByText(key)).toBeHidden();
  const answer = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
});

test.describe("attachments", () => {
  test.use({ script: { otherwise: text("I have it.") } });

  test("are put into the workspace and named to the agent", async ({ studio, workspace, model }) => {
    const chat = new Chat(studio);
    await studio.locator('input[type="file"]').setInputFiles({ name: "rows.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") });
    // It can be taken off once it is up.
    await expect(studio.getByRole("list", { name: "Attachments" }).getByRole("button", { name: "Remove rows.csv" })).toBeVisible();
    // What is typed next is the text.
    await expect(chat.composer).toBeFocused();
    await chat.say("Look at it");
    await chat.answered("I have it.");
    expect(await workspace.file("uploads/rows.csv")).toBe("a,b\n1,2\n");
    expect(JSON.stringify((await model.chats())[0]?.body.messages)).toContain("uploads/rows.csv");
  });
});
