import type { Locator, Page } from "@playwright/test";
import { expect } from "./test.ts";

/** The chat page, as a person sees it. */
export class Chat {
  /** Where one writes. Its name says what for, so only its place is fixed. */
  readonly composer: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  /** Requests with all that came of them, oldest first. */
  readonly exchanges: Locator;
  /** The newest of them. */
  readonly last: Locator;
  /** Calls of tools in it. */
  readonly tools: Locator;
  /** The card that waits for a person. */
  readonly waiting: Locator;
  readonly conversations: Locator;

  constructor(readonly page: Page) {
    const main = page.getByRole("main");
    this.composer = main.getByRole("textbox", { name: /^(Ask, or say|Answer the question|Say what the plan|Add something)/ });
    this.send = main.getByRole("button", { name: /^(Send|Answer|Plan again)$/ });
    this.stop = main.getByRole("button", { name: "Stop", exact: true });
    this.exchanges = main.getByRole("article");
    this.last = this.exchanges.last();
    this.tools = this.last.getByRole("list", { name: "Tool calls" }).getByRole("listitem");
    this.waiting = main.locator("[data-waiting]");
    this.conversations = page.getByRole("navigation", { name: "Conversations" });
  }

  /** Types and sends. */
  async say(text: string): Promise<void> {
    const before = await this.exchanges.count();
    await this.composer.fill(text);
    await this.composer.press("Enter");
    await expect(this.exchanges).toHaveCount(before + 1);
  }

  /** The answer is there and nothing is at work any more. */
  async answered(text: string | RegExp): Promise<void> {
    await expect(this.last).toContainText(text);
    await expect(this.last.getByRole("link", { name: "Trace" })).toBeVisible();
    await expect(this.stop).toBeHidden();
  }

  /** `Auto`, `Plan first` or `Dry run`. */
  async mode(name: string): Promise<void> {
    await this.page.getByRole("button", { name: /^How:/ }).click();
    await this.page.getByRole("menuitemradio", { name: new RegExp(`^${name}`) }).click();
  }

  /** Something of the menu under the newest answer. */
  async more(item: RegExp): Promise<void> {
    await this.last.getByRole("button", { name: "More actions" }).click();
    await this.page.getByRole("menuitem", { name: item }).click();
  }

  /** The id of the open conversation. */
  async conversation(): Promise<string> {
    await this.page.waitForURL(/\/chat\/[0-9a-f-]{36}/);
    return new URL(this.page.url()).pathname.split("/").at(-1) as string;
  }
}
