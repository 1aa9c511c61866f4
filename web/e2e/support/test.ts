import { test as base, type Page } from "@playwright/test";
import { Api } from "./api.ts";
import { Model, type Script } from "./model.ts";
import { ADMIN, Server } from "./server.ts";

type Options = {
  /** What the model says. */
  script: Script;
  /** Whether an administrator is there from the start. */
  admin: boolean;
  /** Seconds after which a run is taken over from a server that is gone. */
  lease: number | undefined;
  /** Whether the model that Steward brings along answers, and not the scripted one. */
  builtin: boolean;
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
  lease: [undefined, { option: true }],
  builtin: [false, { option: true }],
  expected: [[], { option: true }],
  model: async ({ script }, use) => {
    const model = await Model.start(script);
    await use(model);
    await model.stop();
  },
  server: async ({ model, admin, lease, builtin }, use, info) => {
    const server = await Server.start(model, { admin, lease, builtin });
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
  studio: async ({ page, api }, use) => {
    await enter(page, api);
    await use(page);
  },
});
export const { expect } = base;

/** With the session that the test has anyway: no second login, and no second page. */
export async function enter(page: Page, api: Api): Promise<void> {
  // With the server's own path: beside one of another path, what the server sets would be a second cookie.
  await page.context().addCookies([{ ...api.cookie, domain: new URL(api.url).hostname, path: "/api/auth", httpOnly: true, sameSite: "Strict" }]);
  // Once: whoever signs out later is out.
  await page.addInitScript(() => {
    if (localStorage.getItem("steward.test")) return;
    for (const mark of ["steward.test", "steward.session", "steward.known"]) localStorage.setItem(mark, "1");
  });
  await page.goto("/chat");
  await page.getByRole("navigation", { name: "Pages" }).waitFor({ state: "attached" });
}

/** Goes to a page as a link does, without loading the studio again. */
export async function visit(page: Page, path: string): Promise<void> {
  const left = await page.evaluate((to) => {
    const kind = (place: string) => place.split("/").map((part, at) => (at > 1 ? "" : part)).join("/");
    const before = document.querySelector("main > *");
    const other = kind(location.pathname) !== kind(new URL(to, location.href).pathname);
    if (other) before?.setAttribute("data-left", "");
    history.pushState({}, "", to);
    return other;
  }, path);
  // The page before stands until the next one's code is there.
  if (left) await page.locator("[data-left]").waitFor({ state: "detached" });
}

/** Through the login page. */
export async function login(page: Page): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("E-mail").fill(ADMIN.email);
  await page.getByLabel("Password", { exact: true }).fill(ADMIN.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(/\/chat/);
}
