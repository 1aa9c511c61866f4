// What a person does while an answer comes in: stop it, read back, press Escape elsewhere.
import { Chat } from "./support/chat.ts";
import { text, when } from "./support/model.ts";
import { expect, test, visit } from "./support/test.ts";

const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(" ");

test.describe("an answer that is stopped", () => {
  test.use({ script: { rules: [when("continue where you stopped", text("And on it goes."))], otherwise: text(words(300), { piece: 8 }) } });
  test.beforeEach(({ model }) => model.hold("word20"));

  test("stays, marked, in chat, trace and log, and is continued", async ({ studio: page, api, model }) => {
    const chat = new Chat(page);
    await chat.say("Count for me");
    await expect(chat.last).toContainText("word20");
    await page.keyboard.press("Escape");
    await expect(chat.last).toContainText("Stopped by");
    await expect(chat.last).toContainText("stopped here");
    await expect(chat.last).toContainText("word20");
    await expect(chat.last.getByRole("alert")).toHaveCount(0);
    const [run] = (await api.call<{ items: { id: string; answer: string }[] }>("GET", "/runs")).items;
    expect(run?.answer).toMatch(/^word0 word1 .*word20/);
    await page.reload();
    await expect(chat.last).toContainText("word20");

    await chat.last.getByRole("button", { name: "Continue" }).click();
    await chat.answered("And on it goes.");
    await expect(chat.exchanges).toHaveCount(2);
    const told = JSON.stringify((await model.chats()).at(-1)?.body.messages);
    expect(told, "the model gets what it had said").toContain("word20");

    await visit(page, `/runs/${run?.id}`);
    await page.getByRole("button", { name: "Expand all" }).click();
    await expect(page.getByRole("main")).toContainText("word20");
    await page.getByRole("tab", { name: "Answer and receipts" }).click();
    await expect(page.getByRole("main")).toContainText("word20");
  });

  test("is not stopped by Escape in another field or in a half-written message", async ({ studio: page, model }) => {
    const chat = new Chat(page);
    await chat.say("Count for me");
    await expect(chat.last).toContainText("word9");
    const search = page.getByRole("searchbox", { name: "Search conversations" });
    await search.fill("heron");
    await search.press("Escape");
    await chat.composer.fill("and then");
    await chat.composer.press("Escape");
    model.hold("word60");
    await expect(chat.last).toContainText("word60");
    await expect(chat.stop).toBeVisible();
    await expect(chat.last).not.toContainText("Stopped by");
    await chat.composer.fill("");
    await chat.composer.press("Escape");
    await expect(chat.last).toContainText("Stopped by");
  });
});

test.describe("a fast answer", () => {
  const table = ["| bird | found |", "|---|---|", ...Array.from({ length: 60 }, (_, n) => `| heron ${n} | in the reeds, at the far end of pond ${n} |`)].join("\n");
  const code = ["```python", ...Array.from({ length: 60 }, (_, n) => `print("heron ${n}")`), "```"].join("\n");
  const all = `${table}\n\n${words(300)}\n\n${code}\n\nThat was all.`;
  test.use({ script: { otherwise: text(all, { piece: 6 }) } });

  // As it is painted: between a change and the next frame the end may be out of sight for nobody to see.
  const gap = (page: Chat["page"]) => page.getByTestId("chat-log").evaluate((box) => new Promise<number>((told) => requestAnimationFrame(() => requestAnimationFrame(() => told(box.scrollHeight - box.scrollTop - box.clientHeight)))));
  const scrolls = (page: Chat["page"]) => page.getByTestId("chat-log").evaluate((box) => box.scrollHeight > box.clientHeight + 400);

  test("is followed to its end", async ({ studio: page, model }) => {
    const chat = new Chat(page);
    model.hold("heron 50");
    await chat.say("Tell me all");
    // Where it rests in mid-answer, and at its end.
    await expect(chat.last).toContainText("heron 50");
    expect(await scrolls(page)).toBe(true);
    await expect.poll(() => gap(page)).toBeLessThan(60);
    model.release();
    await chat.answered("That was all.");
    await expect.poll(() => gap(page)).toBeLessThan(60);
  });

  test("is left where the reader goes, until they come back", async ({ studio: page, model }) => {
    const chat = new Chat(page);
    model.hold("heron 50");
    await chat.say("Tell me all");
    await expect(chat.last).toContainText("heron 50");
    expect(await scrolls(page)).toBe(true);
    await page.getByTestId("chat-log").hover();
    await page.mouse.wheel(0, -300);
    const top = () => page.getByTestId("chat-log").evaluate((box) => box.scrollTop);
    await expect.poll(() => gap(page)).toBeGreaterThan(250);
    const at = await top();
    model.release();
    await expect.poll(() => gap(page)).toBeGreaterThan(900);
    expect(Math.abs((await top()) - at)).toBeLessThan(5);
    await page.getByRole("button", { name: "Latest" }).click();
    await chat.answered("That was all.");
    await expect.poll(() => gap(page)).toBeLessThan(60);
  });

  test.describe("at its own pace", () => {
    // 150 pieces a second, about a token each.
    test.use({ script: { otherwise: text(all, { piece: 6, ms: 6 }) } });

    // How much comes between two frames depends on how busy the machine is.
    test("is never far from its end", { tag: "@prove" }, async ({ studio: page }) => {
      const chat = new Chat(page);
      await chat.say("Tell me all");
      await expect.poll(() => scrolls(page)).toBe(true);
      let farthest = 0;
      while (!((await chat.last.textContent()) ?? "").includes("That was all.")) farthest = Math.max(farthest, await gap(page));
      expect(farthest, "how far the end was ever out of sight, pixels").toBeLessThan(300);
    });
  });
});
