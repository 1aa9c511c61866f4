// An agent with skills at real work: a server over ssh, a database, another agent. With the scripted model and with
// the built-in one.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Api } from "./support/api.ts";
import { Chat } from "./support/chat.ts";
import { afterTool, calls, text, when } from "./support/model.ts";
import type { Workspace } from "./support/server.ts";
import { Sshd } from "./support/sshd.ts";
import { expect, test, visit } from "./support/test.ts";

const restart = "Restart the web service on the shop server";
const report = "Report the open orders of each customer from the orders database";
const delegate = "Ask the analyst about the herons";

async function prepare(workspace: Workspace, api: Api, sshd: Sshd): Promise<void> {
  await workspace.write("herons.txt", "Seven herons were counted at the pond.\n");
  const script = "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); d.executescript(\"create table orders(customer text, state text); insert into orders values ('Adler','open'),('Adler','open'),('Brandt','open'),('Brandt','paid');\"); d.commit()";
  execFileSync("python3", ["-c", script, join(workspace.path, "orders.db")]);
  await api.call("POST", "/credentials", { name: "shop-server", kind: "ssh_key", discoverable: true, fields: { username: sshd.user, private_key: await sshd.key() } });
  await api.call("POST", "/skills/hosts", { host: "127.0.0.1", port: sshd.port, fingerprint: sshd.fingerprint() });
  const { id, ...agent } = await api.call<{ id: string; [field: string]: unknown }>("GET", `/agents/${await api.agentId()}`);
  await api.call("POST", "/agents", { ...agent, name: "analyst", instructions: "You look things up in files.", tools: ["read", "list", "grep"], skills: [] });
  const none = { type: "object", properties: {}, additionalProperties: false };
  const skills = [
    {
      name: "restart_web_service",
      description: "Restarts the web service on the shop server.",
      utterances: ["restart the web service", "bounce nginx on the server"],
      type: "ssh",
      risk: "external",
      effect: "write",
      credential: { name: "shop-server" },
      config: { host: "127.0.0.1", port: sshd.port, command: ["svc", "restart", "web"] },
    },
    {
      name: "open_orders_report",
      description: "Reports how many orders of each customer are open, from the orders database.",
      utterances: ["report the open orders", "how many orders are open for each customer"],
      type: "sql",
      config: { database: "sqlite:orders.db", statement: "select customer, count(*) as open from orders where state = 'open' group by customer order by customer" },
    },
    {
      name: "ask_analyst",
      description: "Asks the analyst, another agent, about the herons.",
      utterances: ["ask the analyst", "let the analyst find out about the herons"],
      type: "agent_delegation",
      config: { agent: "analyst", request: "Read the file herons.txt" },
    },
  ];
  for (const skill of skills) await api.call("POST", `/universal-agents/${id}/skills:create_and_attach`, { parameters: none, ...skill });
}

async function work(page: import("@playwright/test").Page, workspace: Workspace, api: Api): Promise<void> {
  const sshd = await Sshd.start();
  try {
    await prepare(workspace, api, sshd);
    const chat = new Chat(page);
    await chat.say(restart);
    await expect(chat.waiting).toContainText("restart_web_service");
    await expect(chat.waiting).toContainText("svc restart web");
    expect(await sshd.told(), "nothing happens before somebody agrees").toEqual([]);
    await chat.waiting.getByRole("button", { name: "Approve once" }).click();
    await chat.answered(/active|restarted/i);
    expect(await sshd.told()).toEqual(["restart web"]);

    await visit(page, "/chat");
    await chat.say(report);
    await chat.answered(/Adler[^]*2[^]*Brandt[^]*1/);

    await visit(page, "/chat");
    await chat.say(delegate);
    await chat.answered(/seven herons/i);
    const runs = await api.call<{ items: { origin: string; status: string; title: string }[] }>("GET", "/runs?origin=delegation");
    expect(runs.items.map((run) => run.status)).toEqual(["finished"]);
  } finally {
    await sshd.stop();
  }
}

test.describe("with a scripted model", () => {
  test.use({
    script: {
      rules: [
        when("Restart the web", calls(["restart_web_service", {}]), { role: "user" }),
        when("Report the open", calls(["open_orders_report", {}]), { role: "user" }),
        when("Ask the analyst", calls(["ask_analyst", {}]), { role: "user" }),
        when("Read the file herons.txt", calls(["read", { path: "herons.txt" }]), { role: "user" }),
        afterTool("active (running)", text("The web service was restarted; it is active.")),
        afterTool("Adler", text("Open orders: Adler 2, Brandt 1.")),
        afterTool("Seven herons", text("Seven herons were counted.")),
      ],
    },
  });

  test("an agent restarts a service, reports from a database and asks another agent", async ({ studio, workspace, api }) => {
    await work(studio, workspace, api);
  });
});

test.describe("with the built-in model", () => {
  test.use({ builtin: true });

  test("an agent restarts a service, reports from a database and asks another agent", async ({ studio, workspace, api }) => {
    await work(studio, workspace, api);
  });
});
