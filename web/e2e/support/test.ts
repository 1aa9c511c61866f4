import { test as base, type Page } from "@playwright/test";
import { Api } from "./api.ts";
import { Model, type Script } from "./model.ts";
import { ADMIN, Server, type Workspace } from "./server.ts";

type Options = {
  /** What the model says. */
  script: Script;
  /** Whether the test has a server of its own, since it is about the installation or kills it. Otherwise it has an
   * organisation of its own on the server that all tests of the worker share. */
  own: boolean;
  /** Whether an administrator is there from the start; with `own`. */
  admin: boolean;
  /** Seconds after which a run is taken over from a server that is gone; with `own`. */
  lease: number | undefined;
  /** Whether the model that Steward brings along answers, and not the scripted one. */
  builtin: boolean;
  /** Console errors that the test provokes, such as a refused login. */
  expected: RegExp[];
};
/** Where a test is at home. */
type Home = { server: Server; workspace: Workspace; api: () => Promise<Api> };
type Fixtures = {
  model: Model;
  home: Home;
  /** The program: the test's own, or the one that it shares. */
  server: Server;
  /** The folder of the test's organisation. */
  workspace: Workspace;
  /** For preparing and for looking, as the administrator. */
  api: Api;
  /** Logged in, on the chat page. */
  studio: Page;
  quiet: string[];
};
/** The server of this worker, with the key of its administrator. */
type Shared = { shared: { server: Server; operator: Api } };

let organisations = 0;

/** Makes an organisation whose only model is the given one, or the built-in one; it is disabled afterwards. */
async function withOrganisation({ server, operator }: Shared["shared"], model: Model | null, use: (home: Home) => Promise<void>): Promise<void> {
  type Made = { tenant: { id: string }; invitation: { token: string } };
  const slug = `test-${(organisations += 1)}`;
  const { tenant, invitation } = await operator.call<Made>("POST", "/tenants", { slug, administrator: ADMIN.email });
  const api = await Api.accept(server, invitation.token, slug);
  if (model) {
    const { id } = await api.call<{ id: string }>("POST", "/connections", { name: "scripted", provider: "open_ai", base_url: model.baseUrl, model: "scripted", auth: { kind: "none" } });
    await api.call("POST", `/connections/${id}/default`);
  }
  await use({ server, workspace: server.workspaceOf(tenant.id), api: () => Promise.resolve(api) });
  await operator.call("PATCH", `/tenants/${tenant.id}`, { disabled: true });
}

export const test = base.extend<Options & Fixtures, Shared>({
  script: [{}, { option: true }],
  own: [false, { option: true }],
  admin: [true, { option: true }],
  lease: [undefined, { option: true }],
  builtin: [false, { option: true }],
  expected: [[], { option: true }],
  shared: [
    async ({}, use) => {
      const server = await Server.start(null, { admin: true });
      await use({ server, operator: await (await Api.login(server)).withKey() });
      await server.stop();
    },
    { scope: "worker", timeout: 300_000 },
  ],
  model: async ({ script }, use) => {
    const model = await Model.start(script);
    await use(model);
    await model.stop();
  },
  home: async ({ shared, model, own, admin, lease, builtin }, use, info) => {
    const { server } = shared;
    const answers = builtin ? null : model;
    const seen = async (home: Home, from: number) => {
      await use(home);
      if (info.status === info.expectedStatus) return;
      await info.attach("server", { body: home.server.said.slice(from) });
      await info.attach("model", { body: JSON.stringify(await model.state(), null, 1) });
    };
    if (!own) return withOrganisation(shared, answers, (home) => seen(home, server.said.length));
    const alone = await Server.start(answers, { admin, lease });
    await seen({ server: alone, workspace: alone.workspace, api: () => Api.login(alone) }, 0);
    await alone.stop();
  },
  server: ({ home }, use) => use(home.server),
  workspace: ({ home }, use) => use(home.workspace),
  baseURL: async ({ server }, use) => use(server.url),
  api: async ({ home }, use) => use(await home.api()),
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
  await page.addInitScript((tenant) => {
    if (localStorage.getItem("steward.test")) return;
    for (const mark of ["steward.test", "steward.session", "steward.known"]) localStorage.setItem(mark, "1");
    if (tenant) localStorage.setItem("steward.tenant", tenant);
  }, api.tenant);
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
export async function login(page: Page, path = "/login", person: { email: string; password: string } = ADMIN): Promise<void> {
  await page.goto(path);
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password", { exact: true }).fill(person.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(/\/chat/);
}
