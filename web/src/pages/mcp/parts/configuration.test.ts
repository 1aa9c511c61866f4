import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY, inputOf } from "./form";
import { readConfiguration } from "./configuration";

const read = (value: unknown) => {
  const found = readConfiguration(JSON.stringify(value));
  if (typeof found === "string") throw new Error(found);
  return found;
};

test("a configuration of another program is read, in each of its forms", () => {
  const server = { command: "/opt/files/server", args: ["--root", "/srv/two words"] };
  const form = { ...EMPTY, program: "/opt/files/server", args: "--root\n/srv/two words", read: "/srv/two words" };
  assert.deepEqual(read(server), { form, secrets: [], others: 0 });
  for (const value of [{ mcpServers: { "My Files!": server } }, { servers: { "My Files!": server } }, { "My Files!": server }]) assert.deepEqual(read(value).form, { ...form, name: "my_files" });
  assert.equal(read({ mcpServers: { a: server, b: server, c: {} } }).others, 1);
  assert.deepEqual(read({ mcpServers: { wiki: { type: "http", url: "https://wiki.example.org/mcp" } } }).form, { ...EMPTY, name: "wiki", kind: "http", url: "https://wiki.example.org/mcp" });
});

test("what fetches a server gets the network", () => {
  const fetched = read({ mcpServers: { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/files"] } } }).form;
  assert.deepEqual([fetched.network, fetched.read, fetched.write], [true, "/srv/files", ""]);
  assert.equal(read({ a: { command: "node", args: ["server.js"] } }).form.network, false);
});

test("secrets are named and left out", () => {
  const local = read({ files: { command: "x", env: { FILES_KEY: "canary-1" } } });
  assert.deepEqual([local.secrets, local.form.variable], [["FILES_KEY"], "FILES_KEY"]);
  const away = read({ wiki: { url: "https://wiki.example.org/mcp", headers: { Authorization: "Bearer canary-2" } } });
  assert.deepEqual(away.secrets, ["Authorization"]);
  assert.ok(!JSON.stringify([inputOf(local.form), inputOf(away.form)]).includes("canary"));
});

test("what is no configuration is said to be none", () => {
  assert.equal(readConfiguration("npx -y files"), "paste_no_json");
  for (const text of ["[]", "3", "null", "{}", '{"mcpServers":{}}', '{"mcpServers":{"a":{"command":3}}}']) assert.equal(readConfiguration(text), "paste_nothing", text);
});
