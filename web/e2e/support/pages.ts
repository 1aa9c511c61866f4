import type { Api } from "./api.ts";
import type { Script } from "./model.ts";
import { afterTool, calls, plan, text, when } from "./model.ts";
import type { Workspace } from "./server.ts";

/** A model that fills every page with something to show. */
export const story: Script = {
  rules: [
    when("Tidy the hand-over", plan(["read", { path: "notes/handover.md" }, "Read what is open"], ["write", { path: "notes/handover.md", content: "# Hand-over\n\n- Harbour Coffee: invoice sent\n- Certificate: renewed, valid for a year\n- Backups: checked by ops\n" }, "Mark the two finished points"]), { times: 2 }),
    when("Mark the backups", calls(["write", { path: "notes/handover.md", content: "# Hand-over\n\n- Harbour Coffee: send the invoice\n- Certificate: renew it on Friday\n- Backups: checked by ops\n" }]), { role: "user" }),
    when("still open", { ...text("", undefined, { reasoning: "The hand-over notes should say it. I read them first." }), calls: [{ name: "read", arguments: { path: "notes/handover.md" } }] } as never, { role: "user" }),
    afterTool("Hand-over", text("I read `notes/handover.md`. Two points are **still open**:\n\n| Point | By |\n|---|---|\n| Send the invoice to Harbour Coffee | today |\n| Renew the certificate | Friday |\n\nTo see how long the certificate is valid:\n\n```bash\nopenssl x509 -enddate -noout -in harbour.pem\n```\n")),
  ],
  otherwise: text("Done."),
};

/** The pages of the studio; some need an id of what `tell` made. */
export type Told = { conversation: string; run: string; planned: string; agent: string; schedule: string; webhook: string; subscription: string; connection: string; skill: string; credential: string; server: string; group: string; collection: string };
export const pages: [name: string, path: (told: Told) => string][] = [
  ["chat-new", () => "/chat"],
  ["chat", (told) => `/chat/${told.conversation}`],
  ["chat-plan", (told) => `/chat/${told.planned}`],
  ["runs", () => "/runs"],
  ["run", (told) => `/runs/${told.run}`],
  ["approvals", () => "/approvals"],
  ["agents", () => "/agents"],
  ["agent", (told) => `/agents/${told.agent}`],
  ["schedules", () => "/schedules"],
  ["schedule", (told) => `/schedules/${told.schedule}`],
  ["webhooks", () => "/webhooks"],
  ["webhook", (told) => `/webhooks/${told.webhook}`],
  ["subscriptions", () => "/webhooks?view=outgoing"],
  ["subscription", (told) => `/webhooks/outgoing/${told.subscription}`],
  ["skills", () => "/skills"],
  ["skill", (told) => `/skills/${told.skill}`],
  ["skill-try", (told) => `/skills/${told.skill}?tab=try`],
  ["skill-versions", (told) => `/skills/${told.skill}?tab=versions`],
  ["skill-new", () => "/skills/new"],
  ["skill-new-docker", () => "/skills/new?kind=docker"],
  ["packages", () => "/skills?tab=packages"],
  ["package", () => "/skills/packages/infra-agent"],
  ["documents", () => "/documents"],
  ["documents-of", (told) => `/documents?collection=${told.collection}`],
  ["documents-search", () => "/documents?tab=search&q=how+long+is+the+notice+period"],
  ["documents-compare", () => "/documents?tab=search&q=how+long+is+the+notice+period&compare=1"],
  ["files", () => "/files"],
  ["data", () => "/data"],
  ["data-changes", () => "/data/changes"],
  ["data-sources", () => "/data/sources"],
  ["data-editor", () => "/data/editor"],
  ["data-instructions", () => "/data/instructions"],
  ["connections", () => "/connections"],
  ["connection", (told) => `/connections/${told.connection}`],
  ["connection-new", () => "/connections/new"],
  ["credentials", () => "/credentials"],
  ["credential", (told) => `/credentials/${told.credential}`],
  ["mcp-servers", () => "/mcp-servers"],
  ["mcp-server", (told) => `/mcp-servers/${told.server}`],
  ["dashboard", () => "/dashboard"],
  ["usage", () => "/usage"],
  ["budgets", () => "/usage?tab=budgets"],
  ["keys", () => "/usage?tab=keys"],
  ["users", () => "/users"],
  ["groups", () => "/groups"],
  ["group", (told) => `/groups/${told.group}`],
  ["audit", () => "/audit"],
  ["governance", () => "/governance"],
  ["settings", () => "/settings"],
  ["about", () => "/about"],
];
/** What only administrators of the installation see. */
export const installation = [["documents-folders", "/documents?tab=folders"], ["system", "/system"], ["system-health", "/system?tab=health"], ["tenants", "/tenants"], ["not-found", "/nothing/here"]] as const;

/** Conversations, runs and open approvals, as after a morning's work. */
export async function tell(workspace: Workspace, api: Api): Promise<Told> {
  await workspace.write("notes/handover.md", "# Hand-over\n\n- Harbour Coffee: send the invoice\n- Certificate: renew it on Friday\n- Backups: open\n");
  await workspace.write("airports.csv", "code,city\nZRH,Zürich\nHAM,Hamburg\n");
  const asked = await api.chat("What is still open in the hand-over notes?");
  await api.settled(asked.run_id);
  await api.ask("Mark the backups as checked in notes/handover.md");
  await api.narrow("read", "write", "notes_create", "sql", "terminal");
  const planned = await api.chat("Tidy the hand-over notes", { mode: "plan" });
  await api.settled(planned.run_id);
  return { conversation: asked.conversation_id, run: asked.run_id, planned: planned.conversation_id, agent: await api.agentId(), connection: await api.connectionId(), skill: await skills(api), ...(await keep(api)) };
}

/** What the pages of schedules, webhooks, credentials, MCP servers, groups, files and documents show. */
export async function keep(api: Api): Promise<Pick<Told, "schedule" | "webhook" | "subscription" | "credential" | "server" | "group" | "collection">> {
  const day = 86_400_000;
  const web = await api.call<{ id: string }>("POST", "/credentials", { name: "harbour web server", kind: "password", description: "Restarts of the shop; ops make a new one.", fields: { username: "deploy", password: "not shown" }, roles: ["operator"], expires_at: Date.now() + 6 * day });
  await api.call("POST", "/credentials", { name: "wiki", kind: "token", description: "Reads the wiki.", fields: { token: "not shown" } });
  const wiki = await api.call<{ id: string }>("POST", "/mcp/servers", { name: "wiki", transport: { kind: "http", url: "https://wiki.example.org/mcp" }, credential: { name: "wiki" } });
  const group = await api.call<{ id: string }>("POST", "/groups", { name: "Bookkeeping", description: "Whoever keeps the books of the harbour." });
  const { id } = await api.call<{ id: string }>("GET", "/auth/me");
  await api.call("PUT", `/groups/${group.id}/members/${id}`);
  await api.file("delivery-notes.csv", "day,boxes\n2026-11-02,14\n");
  const contracts = await api.call<{ id: string }>("POST", "/collections", { name: "Contracts", description: "Signed ones. Drafts are in the wiki." });
  await api.document("Contracts", "lease-warehouse.md", "# Lease of the warehouse\n\nThe lease begins on 1 May 2026 and runs for five years.\n\n## Notice\n\nThe notice period is three months to the end of a quarter. Notice has to be given in writing.\n");
  await api.document("Contracts", "supplier-2019.pdf", "%PDF-1.7\nnot really");
  const berlin = (timing: object) => ({ timing, zone: "Europe/Berlin" });
  const agent_id = await api.agentId();
  const schedule = await api.call<{ id: string }>("POST", "/schedules", { name: "Stock of the harbour shop", agent_id, request: "List what is nearly sold out on {{date}}.", when: berlin({ kind: "cron", expression: "0 8 1 1 *" }) });
  const rests = await api.call<{ id: string }>("POST", "/schedules", { name: "Close the year", agent_id, request: "Add up the year.", when: berlin({ kind: "once", at: "2099-12-31T18:00" }) });
  await api.call("POST", `/schedules/${rests.id}/pause`, { note: "The books are not closed yet." });
  const hook = async (input: object) => (await api.call<{ hook: { id: string } }>("POST", "/hooks", { agent_id, ...input })).hook.id;
  const webhook = await hook({ name: "New issues", request: "Sort this issue:\n{{payload.issue.title}}", signing: { kind: "github" }, filters: [{ header: "x-github-event", equals: "issues" }, { pointer: "/action", one_of: ["opened", "reopened"] }] });
  const still = await hook({ name: "Payments", request: "Note {{payload.id}}.", signing: { kind: "token", header: "x-api-key" } });
  await api.call("POST", `/hooks/${still}/pause`, { note: "Until the new accounts are there." });
  // Of what doesn't happen here: nothing is sent.
  const told = await api.call<{ subscription: { id: string } }>("POST", "/subscriptions", { name: "Harbour office", form: "standard", address: "https://office.example.org/steward", kinds: ["schedule.missed", "schedule.paused"], link_base: "https://steward.example.org" });
  return { schedule: schedule.id, webhook, subscription: told.subscription.id, credential: web.id, server: wiki.id, group: group.id, collection: contracts.id };
}

/** A skill and a package; the skill's id. */
export async function skills(api: Api): Promise<string> {
  await api.call("POST", "/skills/import-package?ready=infra-agent");
  const { id, ...skill } = await api.call<{ id: string; name: string }>("POST", "/skills", { name: "low_stock", description: "Products of which there are few left.", type: "sql", category: "shop", config: { database: "sqlite:shop.db", statement: "select name, stock from products where stock < {{limit}}" }, parameters: { type: "object", properties: { limit: { type: "integer", minimum: 1, description: "Fewer than this." } }, required: ["limit"], additionalProperties: false } });
  await api.call("POST", "/skills?upsert=true", { name: skill.name, description: "Products of which few are left, by name.", type: "sql", category: "shop", config: { database: "sqlite:shop.db", statement: "select name, stock from products where stock < {{limit}} order by name" }, parameters: { type: "object", properties: { limit: { type: "integer", minimum: 1, description: "Fewer than this." } }, required: ["limit"], additionalProperties: false } });
  await api.call("PUT", `/agents/${await api.agentId()}/skills/${id}`);
  return id;
}

/** Waits until a page has loaded what it shows: no placeholder, no text that still waits for its markdown, nothing that moves. */
export async function settled(page: import("@playwright/test").Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
  await page.waitForFunction(() => {
    const busy = document.querySelector('[aria-busy="true"], [aria-label="Loading"], .prose.whitespace-pre-wrap');
    const moves = document.getAnimations().some((one) => one.playState === "running" && one.effect?.getComputedTiming().endTime !== Infinity);
    return !busy && !moves;
  });
  // Nothing has changed for a moment.
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        let timer = setTimeout(finish, 150);
        const watch = new MutationObserver(() => {
          clearTimeout(timer);
          timer = setTimeout(finish, 150);
        });
        const last = setTimeout(finish, 2_000);
        watch.observe(document.body, { subtree: true, childList: true, characterData: true });
        function finish() {
          watch.disconnect();
          clearTimeout(timer);
          clearTimeout(last);
          done();
        }
      }),
  );
}
