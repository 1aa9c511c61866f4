// Which model answers, what that costs, and plans that a run carries along.
import { Chat } from "./support/chat.ts";
import { calls, text, when } from "./support/model.ts";
import { enter, expect, test, visit } from "./support/test.ts";

test("a connection is recognised, tested, examined, changed and deleted", async ({ studio: page, model }) => {
  await visit(page, "/connections");
  await page.getByRole("link", { name: "Add a connection" }).first().click();
  const main = page.getByRole("main");
  await main.getByRole("button", { name: "Recognise" }).click();
  await expect(main.getByText(/^A whole address/)).toBeVisible();
  await main.getByLabel("Address of the server").fill(model.baseUrl);
  await main.getByRole("button", { name: "Recognise" }).click();
  // It lists one model, so that is chosen.
  await expect(main.getByLabel("Model", { exact: true })).toHaveValue("scripted");
  await main.getByLabel("Name", { exact: true }).fill("second");
  const kind = main.getByLabel("Kind of key");
  await kind.selectOption("bearer_env");
  await main.getByRole("button", { name: "Save and test" }).click();
  await expect(main.getByText(/^Letters, digits and underscores/)).toBeVisible();
  await main.getByLabel("Name of the variable").fill("SECOND_API_KEY");
  await main.getByText("If SECOND_API_KEY is not set yet").click();
  await expect(main.getByText(/start Steward again/)).toBeVisible();
  await kind.selectOption("none");
  await main.getByRole("button", { name: "Save and test" }).click();
  await expect(main.getByText("It works")).toBeVisible();
  await main.getByRole("button", { name: "Examine it" }).click();
  await expect(main.getByRole("heading", { name: "Grades" })).toBeVisible();
  await expect(main.getByRole("list", { name: "Checks" }).getByRole("listitem").first()).toContainText("Answers");
  await main.getByRole("button", { name: "Done" }).click();

  const card = main.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /second/ }) });
  await expect(card.getByText(/^last answered/)).toBeVisible();
  await card.getByRole("link", { name: "Report card" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "second" })).toBeVisible();
  await expect(main.getByRole("heading", { name: "What it can and can't" })).toBeVisible();
  await expect(main.getByRole("button", { name: "Examine again" })).toBeVisible();
  await page.getByRole("button", { name: "Edit" }).click();
  const form = page.getByRole("dialog", { name: "Edit “second”" });
  await form.getByText("Interface, price, weight, capabilities").click();
  await form.getByLabel("Prompt", { exact: true }).fill("0.5");
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(form.getByText(/prompt and reply belong together/)).toBeVisible();
  await form.getByLabel("Reply", { exact: true }).fill("2");
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(form).toBeHidden();
  await expect(main.getByText("$0.50 in · $2.00 out")).toBeVisible();
  await visit(page, "/connections");
  // One was there before, so a new one is not the default until somebody says so.
  const other = main.getByRole("listitem").filter({ has: page.getByRole("heading", { level: 2 }) }).filter({ hasNotText: "second" }).first();
  await expect(card.getByText("Default", { exact: true })).toBeHidden();
  for (const one of [card, other]) {
    await one.getByRole("button", { name: /^Actions for/ }).click();
    await page.getByRole("menuitem", { name: "Make it the default" }).click();
    await expect(one.getByText("Default", { exact: true })).toBeVisible();
  }
  await card.getByRole("button", { name: "Actions for second" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await expect(card).toBeHidden();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(card).toBeVisible();
});

test("a key is typed, used, replaced without a restart, and nowhere to be seen", async ({ studio: page, model, api, server }) => {
  const [first, second] = ["canary-typed-7a1e", "canary-typed-8b2f"];
  const sent = async () => (await model.state()).requests.map((request) => request.headers?.authorization ?? "");
  const nowhere = async () => {
    const shown = await page.evaluate(() => document.documentElement.outerHTML + [...document.querySelectorAll("input")].map((field) => field.value).join() + JSON.stringify([localStorage, sessionStorage, history.state]));
    const told = [shown, server.said, JSON.stringify(await api.call("GET", "/connections")), JSON.stringify(await api.call("GET", "/credentials"))].join("\n");
    for (const key of [first, second]) expect(told).not.toContain(key);
  };
  await visit(page, "/connections");
  await page.getByRole("link", { name: "Add a connection" }).first().click();
  const main = page.getByRole("main");
  await main.getByLabel("Address of the server").fill(model.baseUrl);
  await main.getByRole("button", { name: "Recognise" }).click();
  await main.getByLabel("Name", { exact: true }).fill("typed");
  await main.getByLabel("Kind of key").selectOption("bearer");
  await main.getByRole("button", { name: "Save and test" }).click();
  await expect(main.getByText(/^Type it in; none is stored/)).toBeVisible();
  const key = main.getByLabel("Key", { exact: true });
  await expect(key).toHaveAttribute("type", "password");
  await key.fill(first);
  await main.getByRole("button", { name: "Show what is typed: Key" }).click();
  await expect(key).toHaveAttribute("type", "text");
  await main.getByRole("button", { name: "Save and test" }).click();
  await expect(main.getByText("It works")).toBeInViewport();
  await expect(key).toHaveValue("");
  await expect(main.getByText(/^One is stored, sealed/)).toBeVisible();
  expect((await sent()).at(-1)).toBe(`Bearer ${first}`);
  await nowhere();

  await visit(page, "/connections");
  const card = main.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /typed/ }) });
  await expect(card).toContainText("key in the vault");
  await card.getByRole("button", { name: "Actions for typed" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const form = page.getByRole("dialog", { name: "Edit “typed”" });
  await form.getByLabel("Base URL").fill("http://127.0.0.1:9/v1");
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(form.getByText(/^Type it in; none is stored/)).toBeVisible();
  await form.getByLabel("Base URL").fill(model.baseUrl);
  await form.getByLabel("Key", { exact: true }).fill(second);
  await form.getByRole("button", { name: "Save and test" }).click();
  await expect(card.getByText("It works")).toBeInViewport();
  expect((await sent()).at(-1)).toBe(`Bearer ${second}`);
  await nowhere();

  await card.getByRole("button", { name: "Actions for typed" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete “typed”?" }).getByRole("button", { name: "Delete" }).click();
  await expect(card).toBeHidden();
  await expect.poll(async () => (await api.call<{ items: unknown[] }>("GET", "/credentials")).items).toEqual([]);
});

test("an agent's routing is set, tried out, and the trace says who answered and who did not", async ({ page, api }) => {
  const alive = await api.connectionId();
  // Nothing listens at port 9 of this machine.
  const dead = await api.call<{ id: string }>("POST", "/connections", { name: "dead", provider: "compatible", base_url: "http://127.0.0.1:9/v1", model: "gone", auth: { kind: "none" } });
  const agent = await api.agentId();
  await enter(page, api);
  await visit(page, `/agents/${agent}`);
  const main = page.getByRole("main");
  await main.getByLabel("Primary connection").selectOption(dead.id);
  await main.getByLabel("Add a connection…").selectOption(dead.id);
  await main.getByLabel("Add a connection…").selectOption(alive);
  const chain = main.getByRole("list", { name: "Fallback chain" }).getByRole("listitem");
  await expect(chain.first()).toContainText("dead");
  await chain.first().getByRole("button").first().focus();
  await page.keyboard.press("Alt+ArrowDown");
  await expect(chain.last()).toContainText("dead");
  await page.keyboard.press("Alt+ArrowUp");
  await expect(chain.first()).toContainText("dead");
  await chain.first().getByRole("button", { name: "Take dead out" }).click();
  await expect(chain).toHaveCount(1);
  await main.getByLabel("Try it out").fill("Translate this letter into French");
  const order = main.getByRole("list", { name: "Asked in this order" }).getByRole("listitem");
  await expect(order.first()).toContainText("dead");
  await expect(order.nth(1)).not.toContainText("dead");
  const plans = main.getByRole("list", { name: "Makes the plans" }).getByRole("listitem");
  await expect(plans).toHaveCount(0);
  await main.getByLabel("Connection that plans").selectOption(alive);
  await expect(plans.first()).not.toContainText("dead");
  await expect(order.first()).toContainText("dead");
  await main.getByLabel("Connection that plans").selectOption("");
  await expect(plans).toHaveCount(0);
  await expect(main.getByText("Translation", { exact: true }).last()).toBeVisible();
  await main.getByLabel("Deep planning").selectOption("false");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText(/^Saved; it is in force/)).toBeVisible();

  const run = await api.ask("Hello there");
  await visit(page, `/runs/${run}`);
  const step = main.getByRole("button", { name: /^Model call 1/ });
  await expect(step).toContainText("after 1 other");
  await step.click();
  const attempts = main.getByRole("list", { name: "Connections asked" }).getByRole("listitem");
  await expect(attempts.first()).toContainText("dead no connection");
  await expect(attempts.nth(1)).toContainText("answered");
  await visit(page, "/connections");
  await expect(main.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /dead/ }) })).toContainText("no connection");
});

test("usage is counted, a budget stops what would pass it, a key is made and revoked", async ({ studio: page, api, server }) => {
  await api.ask("Hello");
  await visit(page, "/usage");
  const main = page.getByRole("main");
  await expect(main.getByRole("img", { name: /by day, 30 days/ })).toBeVisible();
  await main.getByRole("button", { name: "7 days" }).click();
  await expect(main.getByRole("img", { name: /by day, 7 days/ })).toBeVisible();
  await expect(main.getByRole("region", { name: "By day" }).getByRole("row")).toHaveCount(8);
  await main.getByRole("combobox", { name: "Grouped by" }).selectOption("model");
  await expect(main.getByRole("table", { name: "By model" })).toContainText("scripted");
  expect(page.url(), "what is shown can be linked").toContain("by=model");

  await main.getByRole("tab", { name: "Budgets" }).click();
  await main.getByRole("button", { name: "Add a budget" }).click();
  const budget = page.getByRole("dialog", { name: "Add a budget" });
  await budget.getByRole("button", { name: "Save" }).click();
  await expect(budget.getByText("Give a limit for tokens or for money.")).toBeVisible();
  await budget.getByLabel("Tokens at most").fill("600");
  await budget.getByRole("button", { name: "Save" }).click();
  const entry = main.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /The whole installation/ }) });
  await expect(entry).toContainText("of 600");
  const stopped = await api.ask("Hello again");
  expect((await api.run(stopped)).outcome?.status).not.toBe("completed");
  await entry.getByRole("button", { name: /^Actions for the budget/ }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await expect(entry).toBeHidden();

  await main.getByRole("tab", { name: "Virtual keys" }).click();
  await main.getByRole("button", { name: "Make a key" }).click();
  const form = page.getByRole("dialog", { name: "Make a key" });
  await form.getByLabel("Name").fill("CI reviews");
  await form.getByLabel("Requests a minute").fill("30");
  await form.getByRole("button", { name: "Make the key" }).click();
  const shown = page.getByRole("dialog", { name: "The key “CI reviews”" });
  const secret = (await shown.locator("[data-secret]").textContent()) ?? "";
  expect(secret).toMatch(/^sk-steward-v-/);
  await shown.getByRole("button", { name: "I have it" }).click();
  await expect(page.getByText(secret)).toBeHidden();
  const models = () => fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
  expect((await models()).status).toBe(200);
  await main.getByRole("button", { name: "Actions for CI reviews" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(main.getByText("revoked", { exact: true })).toBeVisible();
  expect((await models()).status).toBe(401);
});

test.describe("a request of several steps", () => {
  const steps = [
    { goal: "Read the notes", tool: "read", risk: "", depends_on: [], expect: "the notes" },
    { goal: "Write the summary", tool: "write", risk: "the file may be there already", depends_on: [1], expect: "a receipt" },
  ];
  test.use({
    script: {
      rules: [
        when("2. [NOW] Write the summary", calls(["write", { path: "summary.md", content: "heron\n" }])),
        when("1. [NOW] Read the notes", calls(["read", { path: "notes.md" }])),
        when("Read notes.md", text(JSON.stringify({ steps })), { role: "user", times: 1 }),
      ],
      otherwise: text("The summary is written."),
    },
  });

  test("is planned, and the plan follows the work", async ({ studio: page, workspace, api }) => {
    // Only models that were found weak are planned for.
    const { items } = await api.call<{ items: { id: string; base_url: string; default: boolean; capabilities: object }[] }>("GET", "/connections");
    const own = items.find((one) => one.default);
    await api.call("PUT", `/connections/${own?.id}`, { name: "scripted", provider: "open_ai", base_url: own?.base_url, model: "scripted", auth: { kind: "none" }, capabilities: { ...own?.capabilities, trusted: false } });
    await workspace.write("notes.md", "a heron\n");
    const chat = new Chat(page);
    await chat.say("Read notes.md and then write a summary of it into summary.md");
    const plan = chat.last.getByRole("region", { name: "Plan" });
    await expect(chat.waiting).toContainText("May I use write?");
    await expect(plan.locator("[data-deep]").nth(0)).toHaveAttribute("data-deep", "done");
    await expect(plan.locator("[data-deep]").nth(1)).toHaveAttribute("data-deep", "work");
    await expect(plan).toContainText("the file may be there already");
    await expect(plan).toContainText("after 1");
    await chat.waiting.getByRole("button", { name: "Approve once" }).click();
    await chat.answered("The summary is written.");
    await expect(plan).toContainText("2 of 2 done");
    const [run] = (await api.call<{ items: { id: string }[] }>("GET", "/runs")).items;
    await visit(page, `/runs/${run?.id}`);
    await page.getByRole("button", { name: /^Plan of steps 1/ }).click();
    await expect(page.getByRole("main")).toContainText("2 of 2 steps done");
    await expect(page.getByRole("main").locator('[data-deep="done"]')).toHaveCount(2);
  });
});
