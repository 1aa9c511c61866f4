import { test as base, type Page } from "@playwright/test";
import { Api } from "./api.ts";
import { Model, type Script } from "./model.ts";
import { ADMIN, Server } from "./server.ts";

type Options = {
  /** What the model says. */
  script: Script;
  /** Whether an administrator is there from the start. */
  admin: boolean;
  /** Console errors that the test provokes, such as a refused login. */
  expected: RegExp[];
};
type Fixtures = {
  model: Model;
  server: Server;
  /** For preparing and for looking, as the same administrator. */
  api: Api;
  /** Logged in, on the chat page. */
  studio: Page;
  quiet: string[];
};

export const test = base.extend<Options & Fixtures>({
  script: [{}, { option: true }],
  admin: [true, { option: true }],
  expected: [[], { option: true }],
  model: async ({ script }, use) => {
    const model = await Model.start(script);
    await use(model);
    await model.stop();
  },
  server: async ({ model, admin }, use, info) => {
    const server = await Server.start(model, { admin });
    await use(server);
    await server.stop();
    if (info.status !== info.expectedStatus) {
      await info.attach("server", { body: server.said });
      await info.attach("model", { body: JSON.stringify(await model.state(), null, 1) });
    }
  },
  baseURL: async ({ server }, use) => use(server.url),
  api: async ({ server }, use) => use(await Api.login(server)),
  // Every test also says that the console stayed silent.
  quiet: [
    async ({ page, expected }, use) => {
      const errors: string[] = [];
      const note = (text: string) => {
        if (!expected.some((pattern) => pattern.test(text))) errors.push(text);
      };
      page.on("pageerror", (error) => note(`${error.message}\n${error.stack ?? ""}`));
      page.on("console", (message) => {
        if (message.type() === "error") note(`${message.text()} (${message.location().url})`);
      });
      await use(errors);
      base.expect(errors, "errors in the console").toEqual([]);
    },
    { auto: true },
  ],
  studio: async ({ page, server: _ }, use) => {
    await login(page);
    await use(page);
  },
});
export const { expect } = base;

/** Through the login page. */
export async function login(page: Page): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("E-mail").fill(ADMIN.email);
  await page.getByLabel("Password", { exact: true }).fill(ADMIN.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(/\/chat/);
}
