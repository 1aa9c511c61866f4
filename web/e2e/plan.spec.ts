import { Chat } from "./support/chat.ts";
import { calls, plan, text, when } from "./support/model.ts";
import { expect, test } from "./support/test.ts";

const write = (content: string) => plan(["write", { path: "notes.txt", content }, `put ${content.trim()} into the notes`]);

test.describe("a plan", () => {
  test.beforeEach(({ api }) => api.narrow("read", "write"));
  test.use({
    script: {
      rules: [when("in German", write("Reiher\n"), { times: 2 }), when("Note the heron", write("heron\n"), { times: 2 })],
      otherwise: text("I wrote notes.txt."),
    },
  });

  test("is shown with what it would change, approved and carried out", async ({ studio, workspace }) => {
    const chat = new Chat(studio);
    await chat.mode("Plan first");
    await chat.say("Note the heron");
    await expect(chat.waiting).toContainText("May I do this? 1 step");
    await expect(chat.waiting).toContainText("put heron into the notes");
    await expect(chat.waiting).toContainText("notes.txt");
    expect(await workspace.file("notes.txt")).toBeNull();
    await chat.waiting.getByRole("button", { name: "Approve plan" }).click();
    await chat.answered("I wrote notes.txt.");
    expect(await workspace.file("notes.txt")).toBe("heron\n");
    await expect(chat.waiting).toBeHidden();
  });

  test("is made anew from what a person says", async ({ studio, workspace }) => {
    const chat = new Chat(studio);
    await chat.mode("Plan first");
    await chat.say("Note the heron");
    await chat.waiting.getByRole("button", { name: /^Refine/ }).click();
    await chat.waiting.getByRole("textbox", { name: "What should be different?" }).fill("Write it in German");
    await chat.waiting.getByRole("button", { name: "Plan again" }).click();
    await expect(chat.waiting).toContainText("put Reiher into the notes");
    await chat.waiting.getByRole("button", { name: "Approve plan" }).click();
    await chat.answered("I wrote notes.txt.");
    expect(await workspace.file("notes.txt")).toBe("Reiher\n");
  });

  test("is rejected: nothing is done", async ({ studio, workspace }) => {
    const chat = new Chat(studio);
    await chat.mode("Plan first");
    await chat.say("Note the heron");
    await chat.waiting.getByRole("button", { name: /^Reject/ }).click();
    await chat.waiting.getByRole("button", { name: "Deny" }).click();
    await expect(chat.last).toContainText("The plan was rejected; nothing was done.");
    expect(await workspace.file("notes.txt")).toBeNull();
  });
});

test.describe("a write", () => {
  test.use({
    script: {
      rules: [
        when("Write the heron", calls(["write", { path: "notes.txt", content: "heron\n" }])),
        when("no birds", text("Then I leave it."), { role: "tool" }),
      ],
      otherwise: text("It is written."),
    },
  });

  test("is denied with a reason that the agent reads", async ({ studio, workspace, model }) => {
    const chat = new Chat(studio);
    await chat.say("Write the heron");
    await expect(chat.waiting).toContainText("May I use write?");
    await expect(chat.waiting).toContainText("If you say no:");
    await chat.waiting.getByRole("button", { name: /^Deny/ }).click();
    await chat.waiting.getByRole("textbox").fill("no birds today");
    await chat.waiting.getByRole("button", { name: "Deny" }).click();
    await chat.answered("Then I leave it.");
    expect(await workspace.file("notes.txt")).toBeNull();
    expect(JSON.stringify((await model.chats()).at(-1)?.body.messages)).toContain("no birds today");
  });

  test("is approved, and taken back byte for byte", async ({ studio, workspace }) => {
    await workspace.write("notes.txt", "before\r\nwith \u{1F600}");
    const chat = new Chat(studio);
    await chat.say("Write the heron");
    await chat.waiting.getByRole("button", { name: "Approve once" }).click();
    await chat.answered("It is written.");
    // The ends of its lines stay.
    expect(await workspace.file("notes.txt")).toBe("heron\r\n");
    await chat.tools.first().getByRole("button").first().click();
    await chat.tools.first().getByRole("button", { name: "Undo this" }).click();
    await expect(chat.tools.first()).toContainText("undone");
    expect(await workspace.file("notes.txt")).toBe("before\r\nwith \u{1F600}");
    await expect(chat.tools.first().getByRole("button", { name: "Undo this" })).toBeHidden();
  });

  test("waits in the inbox too, and an answer there is seen in the chat", async ({ studio, workspace, context }) => {
    const chat = new Chat(studio);
    await chat.say("Write the heron");
    await expect(chat.waiting).toBeVisible();
    const inbox = await context.newPage();
    await inbox.goto("/approvals");
    await expect(inbox.getByRole("link", { name: /1 approval waits for you/ })).toBeVisible();
    await inbox.getByText("notes.txt").first().click();
    await inbox.getByRole("button", { name: /^Approve/ }).first().click();
    await chat.answered("It is written.");
    expect(await workspace.file("notes.txt")).toBe("heron\n");
    await inbox.close();
  });
});
