import { Chat } from "./support/chat.ts";
import { afterTool, calls, text, when } from "./support/model.ts";
import { expect, test } from "./support/test.ts";

test.describe("a tool", () => {
  test.use({
    script: {
      rules: [afterTool("heron", text("The word is **heron**.\n\n```python\nprint('heron')\n```")), when("Which word", calls(["read", { path: "a.txt" }]))],
    },
  });

  test("stands as a card between question and answer", async ({ studio, workspace, model }) => {
    await workspace.write("a.txt", "the word is heron\n");
    const chat = new Chat(studio);
    await chat.say("Which word is in a.txt?");
    await chat.answered("The word is heron.");
    await expect(chat.last.locator("strong")).toHaveText("heron");
    await expect(chat.last.locator("pre code")).toContainText("print('heron')");
    await expect(chat.tools).toHaveCount(1);
    const card = chat.tools.first();
    await expect(card.getByRole("button")).toContainText("read");
    await card.getByRole("button").first().click();
    await expect(card).toContainText("a.txt");
    await expect(card).toContainText("the word is heron");
    await expect(chat.conversations.getByRole("link", { name: "Which word is in a.txt?" })).toBeVisible();
    expect((await model.state()).violations).toEqual([]);
  });
});

test.describe("reasoning", () => {
  test.use({ script: { otherwise: text("Four.", undefined, { reasoning: "two and two make four" }) } });

  test("is folded, and opens", async ({ studio }) => {
    const chat = new Chat(studio);
    await chat.say("What is two and two?");
    await chat.answered("Four.");
    await expect(chat.last.getByText("two and two make four")).toBeHidden();
    await chat.last.getByText(/^Thought/).click();
    await expect(chat.last.getByText("two and two make four")).toBeVisible();
  });
});

test.describe("a long answer", () => {
  const long = Array.from({ length: 160 }, (_, n) => `word${n}`).join(" ");
  test.use({ script: { otherwise: text(long, { piece: 8 }) } });
  test.beforeEach(({ model }) => model.hold("word20"));

  test("is stopped, and the model's request is closed", async ({ studio, model, api }) => {
    const chat = new Chat(studio);
    await chat.say("Count for me");
    await expect(chat.last).toContainText("word20");
    expect(model.disconnects).toBe(0);
    await chat.stop.click();
    await expect.poll(() => model.disconnects).toBe(1);
    await expect(chat.last).toContainText(/Stopped by/);
    await expect(chat.last).not.toContainText("word159");
    const [run] = (await api.call<{ items: { outcome: { status: string } }[] }>("GET", "/runs")).items;
    expect(run?.outcome.status).toBe("stopped");
    // And one can go on at once.
    await expect(chat.composer).toBeEnabled();
  });

  test("is stopped within a second", { tag: "@prove" }, async ({ studio, model, api }) => {
    const chat = new Chat(studio);
    await chat.say("Count for me");
    await expect(chat.last).toContainText("word20");
    // From the press on: what the browser's driver takes to find the button is not ours.
    const pressed = studio.evaluate(() => new Promise<number>((at) => document.addEventListener("pointerdown", () => at(Date.now()), { once: true, capture: true })));
    const closed = (async () => {
      while (model.disconnects === 0) await new Promise((wake) => setTimeout(wake, 10));
      return Date.now();
    })();
    await chat.stop.click();
    expect((await closed) - (await pressed), "ms until the model's request was closed").toBeLessThan(1000);
    await expect(chat.last).toContainText(/Stopped by/);
    const [run] = (await api.call<{ items: { updated_at: number }[] }>("GET", "/runs")).items;
    expect((run?.updated_at ?? Infinity) - (await pressed), "ms until the run had ended").toBeLessThan(1000);
  });

  test("goes on after a reload in its middle, with nothing missing or doubled", async ({ studio, model }) => {
    const chat = new Chat(studio);
    await chat.say("Count for me");
    await expect(chat.last).toContainText("word20");
    await studio.reload();
    await expect(chat.last).toContainText("word20");
    await expect(chat.last).not.toContainText("word159");
    await expect(chat.stop).toBeVisible();
    model.release();
    await chat.answered(/word159/);
    const words = ((await chat.last.textContent()) ?? "").match(/word\d+/g) ?? [];
    expect(words).toEqual(long.split(" "));
  });

  test("takes a message in the queue, which follows by itself", async ({ studio, model }) => {
    const chat = new Chat(studio);
    await chat.say("Count for me");
    await expect(chat.last).toContainText("word9");
    await chat.composer.fill("and then?");
    await chat.composer.press("Enter");
    await expect(studio.getByRole("region", { name: "Messages in line" })).toContainText("and then?");
    model.release();
    await expect(chat.exchanges).toHaveCount(2);
    await chat.answered(/word159/);
    const [, second] = await model.chats();
    expect(JSON.stringify(second?.body.messages)).toContain("and then?");
  });
});

test.describe("a server that was killed", () => {
  test.use({ own: true, lease: 1, script: { rules: [when("Slow", text("one two three four five six seven eight nine ten", { piece: 4 }), { times: 1 })], otherwise: text("Here again: eleven.") }, expected: [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_NETWORK|status of 401/] });

  test("takes the run up again, and the open page follows", async ({ studio, server, model }) => {
    const chat = new Chat(studio);
    model.hold("three");
    await chat.say("Slow please");
    await expect(chat.last).toContainText("one");
    await server.kill();
    await server.up();
    await chat.answered(/Here again: eleven\./);
  });
});

test.describe("without an answer", () => {
  test.use({ script: { otherwise: { kind: "status", status: 400, body: { error: { message: "The scripted model refuses.", type: "invalid_request_error" } } } } });

  test("a failed run says why", async ({ studio }) => {
    const chat = new Chat(studio);
    await chat.say("Hello");
    await expect(chat.last.getByRole("alert")).toContainText("The run failed");
    await expect(chat.last.getByRole("alert")).toContainText("The scripted model refuses.");
  });
});
