import assert from "node:assert/strict";
import { test } from "node:test";
import { type Entry, readConfiguration } from "./configuration";
import { EMPTY, inputOf, problemsOf } from "./form";
import { wordsOf } from "./shell";

const readText = async (text: string): Promise<Entry[]> => {
  const found = await readConfiguration(text);
  if (typeof found === "string") throw new Error(`${found}: ${text}`);
  return found;
};
const read = async (value: unknown): Promise<Entry> => (await readText(JSON.stringify(value)))[0]!;

test("a configuration of another program is read, in each of its forms", async () => {
  const server = { command: "/opt/files/server", args: ["--root", "/srv/two words"] };
  const form = { ...EMPTY, program: "/opt/files/server", args: "--root\n/srv/two words", read: "/srv/two words" };
  assert.deepEqual(await read(server), { form, secrets: [], notes: [] });
  const named = { "My Files!": server };
  const zed = { "My Files!": { command: { path: server.command, args: server.args, env: {} } } };
  const list = { "My Files!": { type: "local", command: [server.command, ...server.args], environment: {} } };
  for (const value of [{ mcpServers: named }, { servers: named, inputs: [] }, named, { mcp: { servers: named } }, { context_servers: named }, { context_servers: zed }, { mcp: list }, { theme: "dark", context_servers: zed }]) assert.deepEqual((await read(value)).form, { ...form, name: "my_files" }, JSON.stringify(value));
  for (const key of ["url", "serverUrl", "httpUrl"]) assert.deepEqual((await read({ mcpServers: { wiki: { type: "http", [key]: "https://wiki.example.org/mcp" } } })).form, { ...EMPTY, name: "wiki", kind: "http", url: "https://wiki.example.org/mcp" });
});

test("all servers of a block are read, one after another", async () => {
  const found = await readText(JSON.stringify({ mcpServers: { a: { command: "x" }, b: { url: "https://b.example.org/mcp" }, c: {}, d: { command: "y" } } }));
  assert.deepEqual(found.map((one) => [one.form.name, one.form.kind]), [["a", "stdio"], ["b", "http"], ["d", "stdio"]]);
});

test("comments, trailing commas and a missing pair of braces are no trouble", async () => {
  const text = `{
    // the wiki
    "mcpServers": {
      "wiki": { /* away */ "url": "https://wiki.example.org/mcp#a//b", },
    },
  }`;
  assert.equal((await readText(text))[0]!.form.url, "https://wiki.example.org/mcp#a//b");
  assert.equal((await readText('"wiki": {"command": "x", "args": ["// no comment", ",]"]},'))[0]!.form.args, "// no comment\n,]");
});

test("TOML of Codex is read", async () => {
  const text = `model = "x"
# tools
[mcp_servers.wiki]
command = "npx"
args = ["-y", "wiki-server"]
[mcp_servers.wiki.env]
LOG_LEVEL = "warn"
[mcp_servers."far away"]
url = "https://wiki.example.org/mcp"
bearer_token_env_var = "WIKI_TOKEN"
`;
  const [near, far] = await readText(text);
  assert.deepEqual([near!.form.program, near!.form.args, near!.form.env, near!.form.network], ["npx", "-y\nwiki-server", "LOG_LEVEL=warn", true]);
  assert.deepEqual([far!.form.name, far!.form.url, far!.secrets], ["far_away", "https://wiki.example.org/mcp", ["WIKI_TOKEN"]]);
});

test("command lines of other programs are read", async () => {
  const text = `$ claude mcp add --transport http wiki https://wiki.example.org/mcp --header "Authorization: Bearer canary-3"
claude mcp add chat -s user -e SLACK_BOT_TOKEN=canary-4 -e SLACK_TEAM_ID=T01 \\
  -- npx -y slack-server --mode "two words"
codex mcp add notes --env LEVEL=2 -- uvx notes-server -v
claude mcp add-json far '{"type":"http","url":"https://far.example.org/mcp"}'
claude mcp add plain npx -y plain-server --flag`;
  const found = await readText(text);
  assert.deepEqual(found.map((one) => one.form.name), ["wiki", "chat", "notes", "far", "plain"]);
  const [wiki, chat, notes, far, plain] = found;
  assert.deepEqual([wiki!.form.url, wiki!.secrets], ["https://wiki.example.org/mcp", ["Authorization"]]);
  assert.deepEqual([chat!.form.program, chat!.form.args, chat!.form.env, chat!.form.variable], ["npx", "-y\nslack-server\n--mode\ntwo words", "SLACK_TEAM_ID=T01", "SLACK_BOT_TOKEN"]);
  assert.deepEqual([notes!.form.program, notes!.form.args, notes!.form.env], ["uvx", "notes-server\n-v", "LEVEL=2"]);
  assert.equal(far!.form.url, "https://far.example.org/mcp");
  assert.equal(plain!.form.args, "-y\nplain-server\n--flag");
  assert.ok(!JSON.stringify(found).includes("canary"));
  assert.deepEqual(wordsOf(`a 'b c' "d \\"e\\"" f\\ g --x="y z"`), ["a", "b c", 'd "e"', "f g", "--x=y z"]);
});

test("what fetches a server gets the network, and folders of files are its to change", async () => {
  const fetched = await read({ mcpServers: { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/files", "/srv/more/"] } } });
  assert.deepEqual([fetched.form.network, fetched.form.read, fetched.form.write, fetched.notes], [true, "", "/srv/files\n/srv/more", ["paste_write"]]);
  assert.equal((await read({ a: { command: "node", args: ["server.js"] } })).form.network, false);
  const kept = await read({ a: { command: "uvx", args: ["mcp-server-sqlite", "--db-path", "/srv/data/new.db", "--repository=/srv/code"] } });
  assert.deepEqual([kept.form.read, kept.form.write], ["/srv/code", "/srv/data"]);
  const memory = await read({ a: { command: "npx", args: ["-y", "memory"], env: { MEMORY_FILE_PATH: "/srv/memory/all.json" } } });
  assert.deepEqual([memory.form.env, memory.form.write], ["MEMORY_FILE_PATH=/srv/memory/all.json", "/srv/memory"]);
});

test("plain settings are taken, secrets are named and left out", async () => {
  const one = await read({ files: { command: "x", env: { FILES_KEY: "canary-1", MODE: "fast", PORT: 8080, DATABASE_URL: "postgres://u:canary-2@h/d", OTHER: "c4n4ryc4n4ryc4n4ryc4n4ry" } } });
  assert.deepEqual(one.secrets, ["FILES_KEY", "DATABASE_URL", "OTHER"]);
  assert.deepEqual([one.form.env, one.form.secrets, one.form.variable], ["MODE=fast\nPORT=8080", "FILES_KEY=\nDATABASE_URL=\nOTHER=", ""]);
  assert.equal(problemsOf(one.form).secrets, "secrets_bad", "somebody has to name the credentials");
  const local = await read({ files: { command: "x", env: { FILES_KEY: "canary-1" } } });
  assert.deepEqual([local.secrets, local.form.variable], [["FILES_KEY"], "FILES_KEY"]);
  const away = await read({ wiki: { url: "https://wiki.example.org/mcp", headers: { Authorization: "Bearer canary-2" } } });
  assert.deepEqual(away.secrets, ["Authorization"]);
  assert.ok(!/canary|c4n4ry/.test(JSON.stringify([one, inputOf(local.form), inputOf(away.form)])));
});

test("what can't work here is said at once", async () => {
  const docker = await read({ a: { command: "docker", args: ["run", "-i", "--rm", "mcp/fetch"] } });
  assert.deepEqual(docker.notes, ["paste_docker"]);
  for (const server of [{ type: "sse", url: "https://a.example.org/x" }, { url: "https://a.example.org/sse" }, { url: "https://a.example.org/sse?key=1" }]) assert.deepEqual((await read({ a: server })).notes, ["paste_sse"]);
  assert.deepEqual((await read({ a: { url: "https://a.example.org/assets" } })).notes, []);
  assert.deepEqual((await read({ a: { command: "node", args: ["/path/to/server.js"] } })).notes, ["paste_placeholders"]);
});

test("what is no configuration is said to be none", async () => {
  for (const text of ["npx -y files", "{", "claude mcp list"]) assert.equal(await readConfiguration(text), "paste_unreadable", text);
  for (const text of ["[]", "3", "null", "{}", '{"mcpServers":{}}', '{"mcpServers":{"a":{"command":3}}}', "a = 1"]) assert.equal(await readConfiguration(text), "paste_nothing", text);
});
