import assert from "node:assert/strict";
import { test } from "node:test";
import type { Agent, Credential, McpServer, Skill } from "@/api/types";
import { isNamed, namedBy } from "./namers";

const CREDENTIAL = { id: "c1", name: "web1", kind: "ssh_key", roles: [], discoverable: false } as unknown as Credential;
const skill = (id: string, credential: Skill["credential"]) => ({ id, name: id, credential }) as Skill;
const server = (name: string, credential: McpServer["credential"], per_user = false) => ({ id: name, name, credential, per_user }) as McpServer;
const NAMERS = {
  skills: [skill("named", { name: "web1" }), skill("other", { name: "web2" }), skill("wrong kind", { name: "web1", kind: "token" }), skill("by kind", { kind: "ssh_key" }), skill("none", null)],
  agents: [{ id: "a1", name: "Ops", credentials: { restart: "c1", ssh_key: "c1", mail: "c2" } }, { id: "a2", name: "Books" }] as unknown as Agent[],
  servers: [server("wiki", { name: "web1" }), server("files", { kind: "ssh_key" }), server("own", null, true)],
};

test("who names a credential is found, and who may find it", () => {
  const by = namedBy(CREDENTIAL, NAMERS);
  assert.deepEqual(by.skills.map((one) => one.id), ["named"]);
  assert.deepEqual(by.agents.map(({ agent, under }) => [agent.name, under]), [["Ops", ["restart", "ssh_key"]]]);
  assert.deepEqual(by.servers.map((one) => one.name), ["wiki"]);
  assert.deepEqual([by.maySkills, by.mayServers], [[], []]);
  assert.ok(isNamed(by));
  const open = namedBy({ ...CREDENTIAL, discoverable: true }, NAMERS);
  assert.deepEqual([open.maySkills.map((one) => one.id), open.mayServers.map((one) => one.name)], [["by kind"], ["files"]]);
  // Servers have no user to whom a role could belong.
  const bound = namedBy({ ...CREDENTIAL, roles: ["operator"] }, NAMERS);
  assert.deepEqual([bound.maySkills.length, bound.mayServers.length], [1, 0]);
});

test("the login of a person belongs to its server", () => {
  const by = namedBy({ ...CREDENTIAL, id: "c9", name: "mcp_own_0195f3a0", kind: "oauth2" }, NAMERS);
  assert.deepEqual(by.servers.map((one) => one.name), ["own"]);
  assert.ok(!isNamed(namedBy({ ...CREDENTIAL, id: "c9", name: "nobody" }, NAMERS)));
});
