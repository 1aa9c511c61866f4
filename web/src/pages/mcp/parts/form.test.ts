import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpServer } from "@/api/types";
import { argsOf, EMPTY, type Form, formOf, inputOf, problemsOf } from "./form";

const LOCAL: Form = { ...EMPTY, name: "files", program: "/opt/files/server" };
const AWAY: Form = { ...EMPTY, name: "wiki", kind: "http", url: "https://wiki.example.org/mcp" };

test("what is wrong with a server is said at its field", () => {
  assert.deepEqual(problemsOf(EMPTY), { name: "name_bad", program: "program_missing" });
  assert.deepEqual(problemsOf(LOCAL), {});
  assert.deepEqual(problemsOf({ ...LOCAL, name: "My Wiki", read: "opt/files", write: "./x" }), { name: "name_bad", read: "read_bad", write: "write_bad" });
  assert.deepEqual(problemsOf({ ...LOCAL, credential: "name:key" }), { variable: "variable_missing" });
  assert.deepEqual(problemsOf({ ...LOCAL, variable: "A-B" }), { variable: "variable_bad" });
  assert.deepEqual(problemsOf({ ...LOCAL, env: "LEVEL=2\nMODE=a=b\n", secrets: "KEY=wiki" }), {});
  for (const env of ["LEVEL", "=2", "A B=1"]) assert.deepEqual(problemsOf({ ...LOCAL, env }), { env: "env_bad" }, env);
  for (const secrets of ["KEY", "KEY=", "1=a"]) assert.deepEqual(problemsOf({ ...LOCAL, secrets }), { secrets: "secrets_bad" }, secrets);
  assert.deepEqual(problemsOf({ ...LOCAL, env: "KEY=1", secrets: "KEY=wiki" }), { env: "variable_twice" });
  assert.deepEqual(problemsOf(AWAY), {});
  for (const url of ["", "wiki", "file:///etc", "javascript:alert(1)"]) assert.deepEqual(problemsOf({ ...AWAY, url }), { url: "url_bad" }, url);
  assert.deepEqual(problemsOf({ ...AWAY, allow: "wiki.internal" }), { allow: "allow_bad" });
});

test("arguments are taken as they stand", () => {
  assert.deepEqual(argsOf(""), []);
  assert.deepEqual(argsOf("\n"), []);
  assert.deepEqual(argsOf("--title\n two words \n\n--x\n"), ["--title", " two words ", "", "--x"]);
});

test("a server comes back from its form as it was", () => {
  const rest = { id: "1", tools: [], checked_at: null, error: null };
  const servers: McpServer[] = [
    { ...rest, name: "files", transport: { kind: "stdio", command: ["/opt/x", "--a", "b c"], secret_variable: "KEY", network: true, read: ["/opt", "/srv"], write: ["/srv/notes"] }, credential: { name: "a:b", optional: true }, per_user: false, enabled: false },
    { ...rest, name: "more", transport: { kind: "stdio", command: ["x"], secret_variable: null, env: { A: "b=c", D: " e" }, secrets: { KEY: "wiki" }, network: false, read: [], write: [] } as McpServer["transport"], credential: null, per_user: false, enabled: true },
    { ...rest, name: "wiki", transport: { kind: "http", url: "https://wiki.example.org/mcp", allow: ["wiki:1"] }, credential: { kind: "token", optional: false }, per_user: true, enabled: true },
    { ...rest, name: "open", transport: { kind: "http", url: "https://open.example.org/mcp", allow: [] }, credential: null, per_user: false, enabled: true },
  ];
  for (const server of servers) {
    const { id: _id, tools: _tools, checked_at: _at, error: _error, ...input } = server;
    assert.deepEqual(inputOf(formOf(server)), input);
  }
});
