// What stands in an answer, and what can be done where there is none.
import { Chat } from "./support/chat.ts";
import { calls, text, when } from "./support/model.ts";
import { expect, test } from "./support/test.ts";

test.describe("an answer", () => {
  const rich = String.raw`See [the list](notes/todo.md). So \(a\_1 \\ b\) holds.` + "\n\n- [x] milk\n- [ ] heron\n\n| Stadt | Einwohner |\n|---|---|\n| München | 1,5 Mio. |";
  test.use({ script: { otherwise: text(rich) } });

  test("opens files of the workspace beside itself, keeps formulas and names boxes", async ({ studio: page, workspace }) => {
    await workspace.write("notes/todo.md", "- feed the heron\n");
    const chat = new Chat(page);
    await chat.say("What is on it?");
    await chat.answered("the list");
    await expect(chat.last).toContainText(String.raw`\(a\_1 \\ b\)`);
    await expect(chat.last.getByRole("checkbox", { name: "not done" })).toHaveCount(1);
    const at = page.url();
    await chat.last.getByRole("link", { name: "the list" }).click();
    const file = page.getByRole("dialog", { name: "todo.md" });
    await expect(file).toContainText("feed the heron");
    const [download] = await Promise.all([page.waitForEvent("download"), file.getByRole("button", { name: /^Download/ }).click()]);
    expect(download.suggestedFilename()).toBe("todo.md");
    await page.keyboard.press("Escape");
    await expect(file).toBeHidden();
    expect(page.url()).toBe(at);
  });
});

test.describe("a failure", () => {
  test.use({ script: { rules: [when("Hello", { kind: "status", status: 400, body: { error: { message: "The scripted model refuses." } } }, { times: 1 })], otherwise: text("Now it works.") } });

  test("says one plain sentence, folds the details and can be tried again", async ({ studio: page }) => {
    const chat = new Chat(page);
    await chat.say("Hello");
    const alert = chat.last.getByRole("alert");
    await expect(alert).toContainText("The model's server refused the request.");
    await expect(alert.getByText("The scripted model refuses.").first()).toBeHidden();
    await alert.getByText("Details").click();
    await expect(alert.getByText("The scripted model refuses.").first()).toBeVisible();
    await expect(alert.getByRole("link", { name: "Open the connection" })).toBeVisible();
    await alert.getByRole("button", { name: "Try again" }).click();
    await chat.answered("Now it works.");
    await expect(chat.exchanges).toHaveCount(2);
  });
});

test.describe("an effect that is undone", () => {
  test.use({ script: { rules: [when("Write it", calls(["write", { path: "undo.md", content: "x" }]), { role: "user" })], otherwise: text("I created undo.md.") } });

  test("proves nothing any more", async ({ studio: page, workspace }) => {
    const chat = new Chat(page);
    await chat.say("Write it");
    await chat.waiting.getByRole("button", { name: "Approve once" }).click();
    await chat.answered("I created undo.md.");
    const badge = chat.last.getByRole("button", { name: /^(un)?verified/ });
    await expect(badge).toHaveText(/^verified/);
    await chat.tools.first().getByRole("button").first().click();
    await chat.tools.first().getByRole("button", { name: "Undo this" }).click();
    await expect(badge).toHaveText(/^unverified/);
    expect(await workspace.file("undo.md")).toBeNull();
    await page.reload();
    await expect(badge).toHaveText(/^unverified/);
  });
});

test.describe("a conversation that is not there", () => {
  test.use({ expected: [/status of 404/] });

  test("says so and leads back", async ({ studio: page }) => {
    await page.goto("/chat/019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11");
    await expect(page.getByRole("heading", { level: 1, name: "Not found" })).toBeVisible();
    await expect(page.getByRole("main")).toContainText("This conversation is not here");
    await page.getByRole("main").getByRole("link", { name: "New conversation" }).last().click();
    await expect(new Chat(page).composer).toBeEnabled();
  });
});
