// MCP in both directions: another program's tools for an agent, and the agents for another program.
import { Chat } from "./support/chat.ts";
import { testServer } from "./support/mcp.ts";
import { calls, text, when } from "./support/model.ts";
import { expect, test, visit } from "./support/test.ts";

test.describe("a server of the official SDK", () => {
  // Its folders are this machine's.
  test.use({ own: true, script: { rules: [when("Say heron", calls(["tester_echo", { text: "heron" }]), { role: "user" })], otherwise: text("It said it.") } });

  test("is added and checked; its tools are read, accepted, attached, called, and refused once they change", async ({ studio: page, api }) => {
    const main = page.getByRole("main");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "MCP servers" }).click();
    await expect(main.getByRole("heading", { name: "No MCP server yet" })).toBeVisible();
    await main.getByRole("button", { name: "Add a server" }).click();
    const form = page.getByRole("dialog", { name: "Add an MCP server" });
    await form.getByRole("button", { name: "Add and check" }).click();
    await expect(form.getByText("Use a to z, 0 to 9 and _, 32 at most.")).toBeVisible();
    await expect(form.getByText("Name the program.")).toBeVisible();
    const { program, args, read } = testServer();
    await form.getByLabel("Name", { exact: true }).fill("tester");
    await form.getByLabel("Program", { exact: true }).fill(program);
    await form.getByLabel("Arguments").fill(args.join("\n"));
    await form.getByLabel("Folders that it may read").fill(read.join("\n"));
    await form.getByRole("button", { name: "Add and check" }).click();

    await expect(page.getByRole("heading", { level: 1, name: "tester" })).toBeVisible();
    await expect(main.getByText("reachable", { exact: true })).toBeVisible();
    const tools = main.getByRole("list", { name: "Tools" });
    const echo = tools.getByRole("listitem").filter({ has: page.getByRole("button", { name: /^echo/ }) });
    await expect(echo).toContainText("to accept");
    await echo.getByRole("button", { name: /^echo/ }).click();
    await expect(echo).toContainText("Says it again.");
    await expect(echo.getByRole("region", { name: "Arguments: echo" })).toContainText('"text"');
    await expect(echo).toContainText("Fingerprint");
    await echo.getByRole("button", { name: "Accept", exact: true }).click();
    await expect(echo.getByRole("button", { name: /^echo/ })).toContainText("accepted");
    await main.getByRole("button", { name: /^Accept all \d+ new/ }).click();
    const all = page.getByRole("dialog", { name: /^Accept \d+ tools\?/ });
    await expect(all).toContainText("Adds two numbers.");
    await all.getByRole("button", { name: "I have read them: accept" }).click();
    await expect(all).toBeHidden();
    await expect(main.getByText("to accept", { exact: true })).toHaveCount(0);

    await main.getByRole("button", { name: "Attach to an agent" }).click();
    const attach = page.getByRole("dialog", { name: "Attach tools to an agent" });
    await attach.getByRole("button", { name: "Attach", exact: true }).click();
    await expect(attach.getByText("Choose an agent.")).toBeVisible();
    await expect(attach.getByText("Choose at least one tool.")).toBeVisible();
    await attach.getByLabel("Agent").selectOption(await api.agentId());
    await attach.getByLabel(/^echo/).check();
    await attach.getByRole("button", { name: "Attach", exact: true }).click();
    const done = page.getByRole("dialog", { name: /^1 tool is attached to/ });
    await expect(done.getByRole("link", { name: "tester_echo" })).toBeVisible();
    await done.getByRole("button", { name: "Done" }).click();
    await expect(echo).toContainText("attached to");

    // A tool of elsewhere asks first.
    await visit(page, "/chat");
    const chat = new Chat(page);
    await chat.say("Say heron");
    await expect(chat.waiting).toContainText("tester_echo");
    await chat.waiting.getByRole("button", { name: "Approve once" }).click();
    await chat.answered("It said it.");
    await chat.tools.getByRole("button").first().click();
    await expect(chat.tools.first()).toContainText("echo: heron");

    // It changes what it says of itself.
    await visit(page, "/mcp-servers");
    await main.getByRole("button", { name: "Actions for tester" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    const edit = page.getByRole("dialog", { name: "Edit “tester”" });
    await expect(edit.getByLabel("Program", { exact: true })).toHaveValue(program);
    await edit.getByLabel("Arguments").fill([...args, "--words", "Says it to everybody.\u200b"].join("\n"));
    await edit.getByRole("button", { name: "Save and check" }).click();
    const card = main.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /tester/ }) });
    await expect(card.getByText("1 changed")).toBeVisible();
    await card.getByRole("link", { name: "Review tools" }).click();
    await expect(echo.getByRole("button", { name: /^echo/ })).toContainText("changed: refused until you accept it");
    const difference = echo.getByRole("region", { name: "What changed: echo" });
    await expect(difference).toContainText("-Says it again.");
    await expect(difference, "what one would not see is shown").toContainText("+Says it to everybody.⟨U+200B⟩");
    await expect(echo).toContainText("characters that one doesn’t see");

    await visit(page, "/chat");
    await chat.say("Say heron");
    await chat.waiting.getByRole("button", { name: "Approve once" }).click();
    await chat.answered("It said it.");
    await chat.tools.getByRole("button").first().click();
    await expect(chat.tools.first()).toContainText("changed since a person accepted it");
    await expect(chat.tools.first(), "the model is not told what it says now").not.toContainText("everybody");

    const [server] = (await api.call<{ items: { id: string }[] }>("GET", "/mcp/servers")).items;
    await visit(page, `/mcp-servers/${server?.id}`);
    await echo.getByRole("button", { name: "Accept the change" }).click();
    await expect(echo.getByRole("button", { name: /^echo/ })).toContainText("accepted");

    // An acceptance can be taken back, and given again.
    await echo.getByRole("button", { name: "Withdraw the acceptance" }).click();
    await expect(echo.getByRole("button", { name: /^echo/ })).toContainText("withdrawn");
    await expect(echo.getByRole("button", { name: "Withdraw the acceptance" })).toHaveCount(0);
    await echo.getByRole("button", { name: "Accept", exact: true }).click();
    await expect(echo.getByRole("button", { name: /^echo/ })).toContainText("accepted");

    await main.getByRole("button", { name: "Actions for tester" }).click();
    await page.getByRole("menuitem", { name: "Switch off" }).click();
    await expect(main.getByText("switched off", { exact: true })).toBeVisible();
    await main.getByRole("button", { name: "Actions for tester" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    const remove = page.getByRole("dialog", { name: "Remove “tester”?" });
    await expect(remove.getByRole("listitem")).toContainText("tester_echo");
    await remove.getByRole("button", { name: "Remove" }).click();
    await expect(main.getByRole("heading", { name: "No MCP server yet" })).toBeVisible();
  });
});

test.describe("a program of this machine", () => {
  test.use({ own: true });

  test("a server that can't be used says why, and works once that is put right", async ({ studio: page, api }) => {
    const { program, args, read } = testServer("--leak", "TESTER_TOKEN");
    await api.call("POST", "/credentials", { name: "tester", kind: "token", fields: { token: "canary-8d02" } });
    const server = await api.call<{ id: string }>("POST", "/mcp/servers", { name: "tester", transport: { kind: "stdio", command: [program, ...args], read } });
    await visit(page, `/mcp-servers/${server.id}`);
    const main = page.getByRole("main");
    await expect(main.getByText("not checked yet", { exact: true })).toBeVisible();
    await main.getByRole("button", { name: "Check" }).click();
    await expect(main.getByText("can’t be used", { exact: true })).toBeVisible();
    await expect(main.getByText(/the MCP server `tester` can't be used/)).toBeVisible();
    await expect(main.getByRole("heading", { name: "Its tools are not known yet" })).toBeVisible();

    // With its token it ends with the token on its lips, which is not repeated.
    await main.getByRole("button", { name: "Actions for tester" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    const edit = page.getByRole("dialog", { name: "Edit “tester”" });
    await edit.getByLabel("Credential").selectOption("name:tester");
    await edit.getByRole("button", { name: "Save and check" }).click();
    await expect(edit.getByText("Name the variable that takes the secret.")).toBeVisible();
    await edit.getByLabel("Variable that takes it").fill("TESTER_TOKEN");
    await edit.getByRole("button", { name: "Save and check" }).click();
    await expect(main.getByText("tester, in the variable TESTER_TOKEN")).toBeVisible();
    await expect(main.getByText(/Starting it and asking/)).toBeHidden();
    await expect(main.getByText("can’t be used", { exact: true })).toBeVisible();
    await expect(main).not.toContainText("canary-8d02");

    await main.getByRole("button", { name: "Actions for tester" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await edit.getByLabel("Arguments").fill(args[0] ?? "");
    await edit.getByRole("button", { name: "Save and check" }).click();
    await expect(main.getByText("reachable", { exact: true })).toBeVisible();
    await visit(page, "/credentials");
    await main.getByRole("link", { name: "tester" }).click();
    await expect(main.getByRole("table", { name: "Uses" })).toContainText("tried by a person");
    await expect(main.getByRole("link", { name: "tester" })).toHaveAttribute("href", `/mcp-servers/${server.id}`);
  });

  test("a configuration of another program fills the form, and its secrets stay out", async ({ studio: page, api }) => {
    await visit(page, "/mcp-servers");
    await page.getByRole("button", { name: "Add a server" }).click();
    const form = page.getByRole("dialog", { name: "Add an MCP server" });
    await form.getByText("Paste a configuration instead").click();
    const paste = form.getByLabel("Configuration");
    await paste.fill("the wiki, please");
    await form.getByRole("button", { name: "Take it over" }).click();
    await expect(form.getByText(/^This can’t be read/)).toBeVisible();
    await paste.fill(JSON.stringify({ mcpServers: { "My Wiki": { command: "/nowhere/wiki", args: ["--all"], env: { WIKI_KEY: "canary-77aa" } } } }));
    await form.getByRole("button", { name: "Take it over" }).click();
    await expect(form.getByText(/^Not taken over: the values of WIKI_KEY/)).toBeVisible();
    await expect(paste).toHaveValue("");
    await expect(form.getByLabel("Program", { exact: true })).toHaveValue("/nowhere/wiki");
    await form.getByRole("button", { name: "Add and check" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "my_wiki" })).toBeVisible();
    await expect(page.getByText("can’t be used", { exact: true })).toBeVisible();
    expect(JSON.stringify(await api.call("GET", "/mcp/servers"))).not.toContain("canary");
  });
});

test.describe("a login", () => {
  test.use({ expected: [/status of 404/] });

  test("opens the login page of the server, nothing else, and says where it leads", async ({ studio: page, api, server }) => {
    const wiki = await api.call<{ id: string }>("POST", "/mcp/servers", { name: "wiki", transport: { kind: "http", url: "https://wiki.example.org/mcp" }, per_user: true });
    await visit(page, `/mcp-servers/${wiki.id}`);
    const dialog = page.getByRole("dialog", { name: "Log in at “wiki”" });
    // The login server of a stranger: what it says is made up here.
    const begin = async (status: number, json: object) => {
      await page.route("**/api/mcp/servers/*/login", (route) => route.fulfill({ status, json }));
      await page.getByRole("main").getByRole("button", { name: "Log in" }).click();
    };
    await begin(404, { type: "about:blank", title: "there is no such thing", status: 404 });
    await expect(dialog).toContainText("Logging in from here is not possible");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.unroute("**/api/mcp/servers/*/login");
    await begin(200, { url: "javascript:alert(1)" });
    await expect(dialog).toContainText("no web address");
    await expect(dialog.getByRole("link")).toHaveCount(0);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.unroute("**/api/mcp/servers/*/login");
    // Nobody is there to log in to: an empty tab of this server stands for it.
    const there = `${server.url}/healthz`;
    await begin(200, { url: there, login: "l1" });
    const { host } = new URL(there);
    await expect(dialog).toContainText(`The server sends you to ${host}.`);
    const link = dialog.getByRole("link", { name: `Log in at ${host}` });
    await expect(link).toHaveAttribute("rel", /noopener/);
    let status = "waiting";
    await page.route("**/api/mcp/logins/l1", (route) => route.fulfill({ json: { status, error: null } }));
    const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await tab.close();
    await expect(dialog).toContainText(`When you have logged in at ${host}`);
    status = "done";
    await expect(dialog).toContainText("You are logged in");
    await page.route("**/api/mcp/servers/*/check", async (route) => route.fulfill({ json: { ...(await api.call<object>("GET", `/mcp/servers/${wiki.id}`)), checked_at: Date.now() } }));
    await dialog.getByRole("button", { name: "Done" }).click();
    await expect(page.getByText("reachable", { exact: true })).toBeVisible();
  });
});

test("Steward as an MCP server: what is shown works", async ({ studio: page, api, server }) => {
  const { api_key } = await api.call<{ api_key: string }>("POST", "/auth/api-key");
  await visit(page, "/mcp-servers");
  const main = page.getByRole("main");
  const address = await main.locator("[data-address]").textContent();
  expect(address).toBe(`${server.url}/mcp`);
  const shown = JSON.parse((await main.getByRole("region", { name: "For the program’s configuration" }).locator("code").textContent()) ?? "") as { mcpServers: { steward: { url: string; headers: Record<string, string> } } };
  expect(shown.mcpServers.steward.url).toBe(address);
  const attempt = (await main.getByRole("region", { name: "To try it" }).locator("code").textContent()) ?? "";
  const body = /-d '(.*)'/.exec(attempt)?.[1] ?? "";
  const answer = await fetch(address ?? "", {
    method: "POST",
    headers: { authorization: shown.mcpServers.steward.headers.Authorization?.replace("sk-…", api_key) ?? "", "content-type": "application/json", accept: "application/json, text/event-stream" },
    body,
  });
  expect(answer.status, await answer.clone().text()).toBe(200);
  expect(await answer.text()).toContain("serverInfo");
  await main.getByRole("button", { name: "Copy the address" }).click();
  await expect(main.getByRole("button", { name: "Copied" })).toBeVisible();
});
