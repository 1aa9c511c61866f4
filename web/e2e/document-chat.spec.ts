// A document in the chat: dropped, read, asked about, cited; the passage opens on its page; what was removed says so. Two settings
// of a search beside each other.
import type { Page } from "@playwright/test";
import { faultsOf, looks } from "./support/axe.ts";
import { Chat } from "./support/chat.ts";
import { text, when } from "./support/model.ts";
import { handbook } from "./support/pdf.ts";
import { expect, test, visit } from "./support/test.ts";

const QUESTION = "How long is the notice period?";

/** Drops a file beside the composer, as from another window. */
async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  await page.locator("[data-composer]").waitFor();
  const dataTransfer = await page.evaluateHandle(
    ([file, base64]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(base64 as string), (char) => char.charCodeAt(0))], file as string));
      return data;
    },
    [name, bytes.toString("base64")],
  );
  await page.dispatchEvent("main", "drop", { dataTransfer });
}

test.describe("a document in the chat", () => {
  // What is gone answers with 404.
  test.use({ expected: [/status of 404/], script: { rules: [when("notice period", text("The notice period is three months to the end of a quarter [1].", { piece: 6, ms: 15 }))], otherwise: text("I have it.") } });

  test("is read, asked about and cited; the passage opens on its page", async ({ studio: page, api, model }) => {
    const chat = new Chat(page);
    await drop(page, "handbook.pdf", handbook(40, 23));
    const attached = page.getByRole("list", { name: "Attachments" });
    await expect(attached.getByText("handbook.pdf")).toBeVisible();
    await expect(attached.getByText(/40 pages|found by words/)).toBeVisible();
    const [own] = (await api.call<{ items: { name: string; id: string }[] }>("GET", "/collections")).items.filter((one) => one.name === "Attachments");
    expect(own, "a collection of one's own").toBeDefined();

    await chat.say(QUESTION);
    await chat.answered("The notice period is three months");
    const asked = JSON.stringify((await model.chats()).at(-1)?.body.messages);
    expect(asked).toContain("Documents that the user gave: handbook.pdf");
    expect(asked).toContain("[1] handbook.pdf, page 23");
    await expect(chat.last.getByRole("list", { name: "Attachments" }).getByRole("link", { name: "handbook.pdf" })).toBeVisible();
    const sources = chat.last.getByRole("region", { name: "Passages that the answer cites" });
    await expect(sources.getByRole("link")).toHaveCount(1);
    await expect(sources.getByRole("link")).toContainText("page 23");

    // By the keyboard, from the answer to the passage and back.
    const cite = chat.last.getByRole("link", { name: /^Source 1: handbook\.pdf, page 23/ });
    await cite.focus();
    await page.keyboard.press("Enter");
    const sheet = page.getByRole("dialog", { name: "handbook.pdf" });
    const mark = sheet.locator("[data-area][aria-pressed=true]").first();
    await expect(sheet.locator("[data-drawn]")).toBeVisible();
    await expect(mark).toBeInViewport();
    await expect(sheet.getByLabel("Page", { exact: true })).toHaveValue("23");
    await expect(sheet.locator("[data-passage][aria-current]")).toContainText("three months to the end of a quarter");
    await expect(page).toHaveURL(/document=[0-9a-f-]{36}.*chunk=\d+/);
    const ink = await sheet.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let dark = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at]! < 100 && data[at + 3]! > 200) dark += 1;
      return dark;
    });
    expect(ink, "the page has letters").toBeGreaterThan(200);

    // Pages are turned by keys; a passage of the list and its place on the page are one.
    await sheet.locator("[data-preview]").focus();
    await page.keyboard.press("PageDown");
    await expect(sheet.getByLabel("Page", { exact: true })).toHaveValue("24");
    await expect(sheet.getByRole("heading", { name: "Passages on page 24" })).toBeVisible();
    await sheet.locator("[data-area]").first().click();
    await expect(sheet.locator("[data-passage][aria-current]")).toContainText("part 24 of the rules");
    await page.keyboard.press("Escape");
    await expect(sheet).toBeHidden();
    await expect(page).not.toHaveURL(/document=/);
    await expect(cite).toBeFocused();

    // The address leads there again, also to a stored conversation.
    await cite.click();
    await expect(mark).toBeVisible();
    await page.reload();
    await expect(sheet.locator("[data-drawn]")).toBeVisible();
    await expect(mark).toBeInViewport();
    await page.keyboard.press("Escape");
    await expect(chat.last.getByRole("link", { name: /^Source 1:/ })).toBeVisible();

    // A later question needs no second file.
    await chat.say("And what about the notice period of whoever is on trial?");
    await chat.answered("three months");
    expect(JSON.stringify((await model.chats()).at(-1)?.body.messages)).toContain("handbook.pdf, page 23");

    // The trace says what the run was given, and by which scores.
    await chat.last.getByRole("link", { name: "Trace" }).click();
    await page.getByRole("button", { name: "Expand all" }).click();
    await expect(page.getByRole("main").getByRole("heading", { name: "Passages that the run was given" })).toBeVisible();
    await expect(page.getByRole("main").getByText(/^near \d/).first()).toBeVisible();
    await page.getByRole("main").getByRole("link", { name: /^handbook\.pdf, page 23/ }).first().click();
    await expect(sheet.locator("[data-area][aria-pressed=true]").first()).toBeVisible();
    await page.keyboard.press("Escape");
    await page.goBack();

    // What was removed says so where it was used.
    const { items } = await api.call<{ items: { id: string; name: string }[] }>("GET", "/documents");
    await api.call("DELETE", `/documents/${items.find((one) => one.name === "handbook.pdf")?.id}`);
    await page.reload();
    await expect(chat.exchanges.first().getByText("is removed")).toBeVisible();
    await chat.exchanges.first().getByRole("link", { name: /^Source 1:/ }).click();
    await expect(page.getByRole("dialog").getByText(/is gone|was removed|no longer/i).first()).toBeVisible();
  });

  test("that is dropped before the page knows its agent is taken all the same", async ({ studio: page }) => {
    let known = () => {};
    const wait = new Promise<void>((done) => (known = done));
    await page.route(/\/api\/agents\b/, async (route) => (await wait, route.continue()));
    await page.reload();
    await drop(page, "handbook.pdf", handbook(2, 1));
    await expect(page.getByRole("list", { name: "Attachments" }).getByText(/2 pages|found by words/)).toBeVisible();
    await expect(new Chat(page).composer).toBeDisabled();
    known();
    await expect(new Chat(page).composer).toBeEnabled();
    await expect(page.getByRole("list", { name: "Attachments" }).getByText("handbook.pdf")).toBeVisible();
  });

  test("that can't be read says why, and the question waits until it is taken off", async ({ studio: page }) => {
    const chat = new Chat(page);
    await drop(page, "broken.pdf", Buffer.from("%PDF-1.7\nnot really"));
    const attached = page.getByRole("list", { name: "Attachments" });
    await expect(attached.getByRole("alert")).toBeVisible();
    await chat.composer.fill("What is in it?");
    await expect(chat.send).toBeDisabled();
    await expect(page.getByText("Remove what can't be read, then send the question.")).toBeVisible();
    await attached.getByRole("button", { name: "Remove broken.pdf" }).click();
    await expect(chat.send).toBeEnabled();
    await chat.say("What is in it?");
    await chat.answered("I have it.");
  });
});

test.describe("originals", () => {
  test("of pictures are shown, of HTML only what was read, and nothing of them runs", async ({ studio: page, api }) => {
    const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
    const EVIL = "<!doctype html><title>Prices</title><h1>Prices</h1><p>A crate of pears is 12 euros.</p><img src=x onerror='window.ran=1'><script>window.ran = 1</script>";
    await api.call("POST", "/collections", { name: "Rules" });
    const picture = await api.document("Rules", "scan.png", PIXEL);
    const html = await api.document("Rules", "prices.html", EVIL);
    const renamed = await api.document("Rules", "prices.pdf", `${EVIL}<p>Plums are 9 euros.</p>`);
    await visit(page, `/documents?document=${picture}`);
    const sheet = page.getByRole("dialog");
    const image = sheet.getByRole("img", { name: "scan.png" });
    await expect(image).toBeVisible();
    expect(await image.evaluate((shown: HTMLImageElement) => shown.naturalWidth)).toBe(1);
    await page.keyboard.press("Escape");
    for (const id of [html, renamed]) {
      await visit(page, `/documents?document=${id}`);
      await expect(sheet.locator("[data-passage]").first()).toContainText("A crate of pears is 12 euros.");
      await expect(sheet.locator("iframe, object, embed, canvas")).toHaveCount(0);
      await page.keyboard.press("Escape");
    }
    expect(await page.evaluate(() => "ran" in window)).toBe(false);
  });

  test("that can't be drawn say so, with what is wrong", async ({ studio: page, api }) => {
    await api.call("POST", "/collections", { name: "Rules" });
    const id = await api.document("Rules", "broken.pdf", "%PDF-1.7\nnot really");
    await visit(page, `/documents?document=${id}`);
    const sheet = page.getByRole("dialog");
    await expect(sheet.getByText("The file can't be shown as it is.")).toBeVisible();
    await expect(sheet.getByRole("alert")).toContainText("damaged");
  });
});

for (const look of looks) {
  test.describe(look.name, { tag: look.tag }, () => {
    test.use({ ...look.use, reducedMotion: "reduce", script: { otherwise: text("Three months [1]. Two weeks on trial [1, 2].") } });

    test("the answer, the page of the original and a failed attachment have no serious fault that axe finds", async ({ studio: page, api }) => {
      const chat = new Chat(page);
      await api.call("POST", "/collections", { name: "Rules" });
      const id = await api.document("Rules", "handbook.pdf", handbook(40, 23));
      const { run_id, conversation_id } = await api.chat(QUESTION, { documents: [id] });
      await api.settled(run_id);
      await visit(page, `/chat/${conversation_id}`);
      await drop(page, "broken.pdf", Buffer.from("%PDF-1.7\nnot really"));
      await expect(page.getByRole("list", { name: "Attachments" }).getByRole("alert")).toBeVisible();
      await expect(chat.last.getByRole("link", { name: /^Source 2:/ })).toBeVisible();
      const faults = await faultsOf(page, "answer", look.rules);
      await chat.last.getByRole("link", { name: /^Source 1:/ }).first().click();
      await expect(page.getByRole("dialog").locator("[data-drawn]")).toBeVisible();
      await expect(page.getByRole("dialog").locator("[data-area][aria-pressed=true]").first()).toBeInViewport();
      faults.push(...(await faultsOf(page, "page", look.rules)));
      expect(faults.join("\n\n"), "faults").toBe("");
    });
  });
}

test("two settings of a search stand beside each other, with what differs", async ({ studio: page, api }) => {
  await api.call("POST", "/collections", { name: "Rules" });
  await api.document("Rules", "leave.md", "# Leave\n\nEverybody has 28 days of holiday a year. What is not taken by March is lost.\n");
  await api.document("Rules", "vacation.md", "# Cover\n\nWho is on vacation names somebody who takes over.\n");
  await api.document("Rules", "travel.md", "# Travel\n\nTrains are booked second class. Employees get a card for reductions.\n");
  await visit(page, "/documents?tab=search");
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "Compare settings" }).click();
  await main.getByLabel("Question").fill("how much vacation do employees get");
  await main.getByLabel("Question").press("Enter");
  const [a, b] = [main.getByRole("region", { name: "Setting A" }), main.getByRole("region", { name: "Setting B" })];
  await expect(a.getByRole("listitem").filter({ hasText: "leave.md" }).first()).toBeVisible();
  await expect(b.getByRole("button", { name: "leave.md" })).toHaveCount(0);
  await expect(a.locator("[data-move=alone]").filter({ hasText: "leave.md" })).toContainText("only here");
  await b.getByRole("combobox").selectOption("vectors");
  await expect(b.getByRole("button", { name: "leave.md" })).toBeVisible();
  await b.getByRole("combobox").selectOption("hybrid");
  await expect(main.getByText("Both settings find the same passages in the same order. The settings are the same")).toBeVisible();
  await a.getByRole("slider").fill("0");
  await expect(page).toHaveURL(/meaning=0/);
  await page.reload();
  await expect(a.getByRole("slider")).toHaveValue("0");
  await a.getByRole("button", { name: "travel.md" }).click();
  await expect(page.getByRole("dialog", { name: "travel.md" })).toBeVisible();
});
