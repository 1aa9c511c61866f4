// A stand-in for the server while the studio is made: `node dev/mock.mjs [port]`. Serves dist/ with the
// strict content security policy and plays dev/mock/logs.mjs. Any e-mail with the password "steward-demo".
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { routes as modelRoutes } from "./mock-models.mjs";
import { routes as hookRoutes } from "./mock-hooks.mjs";
import { routes as scheduleRoutes } from "./mock-schedules.mjs";
import { routes as skillRoutes } from "./mock-skills.mjs";
import { routes as subscriptionRoutes } from "./mock-subscriptions.mjs";
import { randomUUID } from "node:crypto";
import { extname, normalize } from "node:path";
import { agents, scriptFor, toolSpecs } from "./mock/logs.mjs";

const port = Number(process.argv[2] ?? 8899);
const fast = Number(process.env.MOCK_SPEED ?? 1);
const dist = new URL("../dist/", import.meta.url).pathname;
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const me = { id: randomUUID(), email: "ada@example.org", name: "Ada Lovelace", role: "admin", installation: true };
const state = { setup: process.env.MOCK_SETUP === "1", tokens: new Set(), cookies: new Set(), conversations: new Map(), runs: new Map(), approvals: new Map(), watchers: new Set() };
const now = () => Date.now();
const uuid = (n) => `0195f3a0-0000-7000-8000-${String(n).padStart(12, "0")}`;
const said = (body, status = 200) => ({ status, body });
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms / fast));

class Problem extends Error {
  constructor(status, title, hint, more = {}) {
    super(title);
    this.body = { type: "about:blank", title, status, hint, ...more };
  }
}

function push(run, body) {
  const event = { run_id: run.id, seq: run.events.length + 1, at: now(), epoch: 1, ...body };
  run.events.push(event);
  run.updated_at = event.at;
  for (const send of run.clients) send(event);
  if (["run.started", "run.finished", "approval.requested", "approval.decided", "tool.undone"].includes(body.type)) for (const send of state.watchers) send({ type: body.type, run_id: run.id, seq: event.seq });
}

async function play(run, steps) {
  for (const [pause, body] of steps) {
    if (run.stopped) break;
    if (pause === "ask") {
      const approval = { id: randomUUID(), run_id: run.id, subject: body, asked_at: now(), answer: null, decided_by: null, decided_at: null, status: "open", run: { title: run.title, agent_id: run.agent_id, agent_name: "steward", origin: "chat", asked_by: me.email, conversation_id: run.conversation_id }, plan: null, if_denied: "The call is not run; the agent is told and goes on without it.", reason: "`write` asks by this agent's policy.", tainted: false, taint: [], chain: [], duplicates: [] };
      state.approvals.set(approval.id, approval);
      run.status = "parked";
      push(run, { type: "approval.requested", approval_id: approval.id, subject: body });
      const answer = await new Promise((resolve) => { run.decide = resolve; });
      if (run.stopped) break;
      run.status = "running";
      push(run, { type: "approval.decided", approval_id: approval.id, answer, by: me.email });
      if (answer.decision === "deny" || answer.decision === "skip") {
        if (body.kind === "call") push(run, { type: "tool.rejected", call_id: body.call_id, tool: body.tool, message: `a person said no${answer.reason ? `: ${answer.reason}` : ""}` });
        return play(run, run.script.denied);
      }
      if (answer.decision === "feedback" && body.kind === "plan") return play(run, run.script.events.slice(1));
      continue;
    }
    await wait(pause);
    if (run.stopped) break;
    push(run, body);
  }
  if (run.stopped && run.status !== "finished") push(run, { type: "run.finished", outcome: { status: "stopped", by: me.email }, answer: run.events.filter((event) => event.type === "model.delta").map((event) => event.text ?? "").join(""), usage: { prompt_tokens: 900, completion_tokens: 40, cached_tokens: 0, cost_micros: 900 }, receipts: null });
  const last = run.events.at(-1);
  if (last?.type === "run.finished") {
    Object.assign(run, { status: "finished", outcome: last.outcome, answer: last.answer, verdict: last.receipts?.verdict ?? null });
    for (const close of run.closers) close();
    const conversation = state.conversations.get(run.conversation_id);
    if (conversation) conversation.updated_at = now();
  }
}

function startRun(conversation, message, mode = "loop", history = []) {
  const run = { id: randomUUID(), agent_id: conversation.agent_id, agent_name: "steward", conversation_id: conversation.id, title: message.split("\n")[0].slice(0, 80), status: "running", outcome: null, answer: null, origin: "chat", user_id: me.id, model: "qwen3-coder-30b", verdict: null, forked_from: null, created_at: now(), updated_at: now(), tokens: 4720, cost_micros: 6420, events: [], clients: new Set(), closers: new Set(), script: scriptFor(message, mode) };
  run.script.events[0][1].setup.history = history;
  state.runs.set(run.id, run);
  conversation.runs.push(run.id);
  void play(run, run.script.events);
  return run;
}
const runView = ({ events, clients, closers, script, decide, stopped, ...run }) => ({ ...run, last_seq: events.length });
const openRun = (conversation) => conversation.runs.map((id) => state.runs.get(id)).find((run) => run.status !== "finished");
const conversationView = ({ runs, history, ...rest }) => ({ ...rest, agent_name: agents.find((agent) => agent.id === rest.agent_id)?.name ?? null, open_run: openRun({ runs })?.id ?? null });
function newConversation(agent, title, more = {}) {
  const conversation = { id: randomUUID(), agent_id: agent, title: title.split("\n")[0].slice(0, 60), created_at: now(), updated_at: now(), deleted_at: null, forked_from: null, runs: [], history: [], ...more };
  state.conversations.set(conversation.id, conversation);
  return conversation;
}
const page = (items, query) => {
  const limit = Number(query.get("limit") ?? 30);
  const from = Number(query.get("cursor") ?? 0);
  return { items: items.slice(from, from + limit), next_cursor: from + limit < items.length ? String(from + limit) : null };
};

const connections = [
  { id: "c1", name: "workstation", provider: "compatible", base_url: "http://127.0.0.1:8080/v1", model: "qwen3-coder-30b", auth: { kind: "none" }, capabilities: { strategy: "native", window: 32768, json_schema: true, scoring: false, plans: true, summarises: true, max_tools: 64 }, from: "saved", default: true, editable: true },
  { id: "c2", name: "local", provider: "local", base_url: "", model: "models/SmolLM2-135M-Instruct.Q4_1.gguf", auth: { kind: "none" }, capabilities: { strategy: "guided_json", window: 2048, json_schema: true, scoring: true, plans: false, summarises: false, max_tools: 4 }, from: "a model file is there", default: false, editable: false },
];

function session(response) {
  const token = randomUUID();
  const cookie = randomUUID();
  state.tokens.add(token);
  state.cookies.add(cookie);
  response.setHeader("set-cookie", `steward_refresh=${cookie}; HttpOnly; SameSite=Strict; Path=/api/auth`);
  return { access_token: token, token_type: "bearer", expires_in: 900, user: me };
}

const answers = { ok: said, none: said(undefined, 204), missing: (what) => said({ title: `there is no such ${what}`, hint: "go back to the list" }, 404), problem: (status, title, hint, more) => said({ title, hint, ...more }, status), page: (items, query) => said(page(items, query)), agents, me, uuid };
const routes = [
  ["GET", /^\/api\/auth\/status$/, () => ({ needs_setup: state.setup, version: "0.2.0", several_tenants: false }), true],
  ["POST", /^\/api\/auth\/login$/, ({ body, response }) => {
    if (body.password !== "steward-demo") throw new Problem(401, "The e-mail or the password is wrong", "Check both and try again.");
    return session(response);
  }, true],
  ["POST", /^\/api\/auth\/setup$/, ({ body, response }) => {
    if (body.token !== "demo") throw new Problem(401, "This set-up link is not valid any more", "Start the server again; it prints a new one.");
    state.setup = false;
    return session(response);
  }, true],
  ["POST", /^\/api\/auth\/refresh$/, ({ request, response }) => {
    const cookie = /steward_refresh=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
    if (!cookie || !state.cookies.has(cookie)) throw new Problem(401, "There is no session", "Log in.");
    return session(response);
  }, true],
  ["POST", /^\/api\/auth\/logout$/, () => (state.tokens.clear(), state.cookies.clear(), null), true],
  ["POST", /^\/_mock\/expire$/, () => (state.tokens.clear(), state.cookies.clear(), null), true],
  ["GET", /^\/api\/auth\/me$/, () => me],
  ["GET", /^\/api\/auth\/sessions$/, ({ query }) => page([{ id: "s1", label: "Chromium on Linux", created_at: now() - 8e6, rotated_at: now() - 6e4, expires_at: now() + 2.5e9, current: true }], query)],
  ["GET", /^\/api\/agents$/, ({ query }) => page(agents, query)],
  ["GET", /^\/api\/agents\/([\w-]+)$/, ({ match }) => agents.find((agent) => agent.id === match[1])],
  ["GET", /^\/api\/agents\/[\w-]+\/memory$/, () => ({ text: "Prefers metric units.", version: 1, characters: 21, limit: 4000, origins: [] })],
  ["GET", /^\/api\/agents\/[\w-]+\/database$/, () => ({ enabled: true, shared: false, origins: [], tables: [{ name: "ai_expenses", view: false, columns: [{ name: "day", kind: "TEXT" }, { name: "amount", kind: "REAL" }], rows: 2 }], bytes: 24576, most_bytes: 67108864, has_copy: false, documentation: { text: "ai_expenses: what was spent, by day", version: 1, characters: 35, limit: 8000, origins: [] } })],
  ["GET", /^\/api\/agents\/[\w-]+\/database\/\w+$/, () => ({ columns: ["day", "amount"], rows: [["2026-11-20", 12.5], ["2026-11-21", null]], next: null, truncated: false })],
  ["POST", /^\/api\/agents\/preview$/, () => ({ messages: [{ role: "system", text: agents[0].instructions }], sections: [{ name: "instructions", tokens: 84 }, { name: "tools", tokens: 1210 }], tokens: 1294, window: 32768, reserved: 4096, fits: true, tools: toolSpecs.map((tool) => tool.name), model: "qwen3-coder-30b" })],
  ["GET", /^\/api\/tools$/, ({ query }) => page(toolSpecs, query)],
  ...[...modelRoutes(connections, agents, me, uuid), ...skillRoutes(answers), ...scheduleRoutes(answers), ...hookRoutes(answers), ...subscriptionRoutes(answers)].map(([method, pattern, answer]) => [method, new RegExp(`^/api/${pattern.source.slice(1)}`), ({ match, query, body }) => {
    const { status, body: said, stream, then } = answer(match.slice(1), query, body);
    if (status >= 400) throw new Problem(status, said.title, said.hint, { field: said.field });
    // The exam at once: `npm run mock` has no stream for it.
    then?.();
    return (stream ? stream.at(-1)[1] : said) ?? null;
  }]),
  ["GET", /^\/api\/grants$/, ({ query }) => page([], query)],
  ["GET", /^\/api\/kept$/, ({ query }) => page([], query)],
  ["GET", /^\/api\/about$/, () => ({ version: "0.2.0", commit: "abcdef0", event_version: 1, database: "sqlite", database_version: "3.51.3", data_dir: "~/.local/share/steward", workspace: "~/work", started_at: now() - 7e6, runs_at_work: 1, health: [{ name: "database", status: "ok", detail: "writes in 0.3 ms", needed: true }] })],
  ["GET", /^\/api\/conversations$/, ({ query }) => page([...state.conversations.values()].filter((entry) => !entry.deleted_at && entry.title.toLowerCase().includes((query.get("q") ?? "").toLowerCase())).sort((a, b) => b.updated_at - a.updated_at).map(conversationView), query)],
  ["GET", /^\/api\/conversations\/([\w-]+)$/, ({ match }) => {
    const entry = found(state.conversations, match[1]);
    const runs = entry.runs.map((id) => runView(state.runs.get(id)));
    return { ...conversationView(entry), messages: [...entry.history, ...runs.flatMap((run) => [{ role: "user", text: run.title }, { role: "assistant", text: run.answer ?? "" }])], runs };
  }],
  ["PATCH", /^\/api\/conversations\/([\w-]+)$/, ({ match, body }) => conversationView(Object.assign(found(state.conversations, match[1]), { title: body.title }))],
  ["DELETE", /^\/api\/conversations\/([\w-]+)$/, ({ match }) => (Object.assign(found(state.conversations, match[1]), { deleted_at: now() }), null)],
  ["POST", /^\/api\/conversations\/([\w-]+)\/restore$/, ({ match }) => conversationView(Object.assign(found(state.conversations, match[1]), { deleted_at: null }))],
  ["POST", /^\/api\/conversations\/([\w-]+)\/fork$/, ({ match, body }) => {
    const from = found(state.conversations, match[1]);
    const stop = body.before_run ? from.runs.indexOf(body.before_run) : from.runs.length;
    const history = from.runs.slice(0, stop).map((id) => state.runs.get(id)).flatMap((run) => [{ role: "user", text: run.title }, { role: "assistant", text: run.answer ?? "" }]);
    return conversationView(newConversation(from.agent_id, from.title, { forked_from: from.id, history: [...from.history, ...history] }));
  }],
  ["POST", /^\/api\/chat\/([\w-]+)$/, ({ match, body }) => {
    const conversation = body.conversation_id ? found(state.conversations, body.conversation_id) : newConversation(match[1], body.message);
    const open = openRun(conversation);
    if (open) throw new Problem(409, "The conversation's last run has not ended", "Wait, steer it or stop it.", { code: "conversation_busy", run_id: open.id });
    return { run_id: startRun(conversation, body.message, body.mode, conversation.history).id, conversation_id: conversation.id };
  }],
  ["POST", /^\/api\/files$/, ({ query, size }) => ({ path: `uploads/${query.get("name")}`, bytes: size })],
  ["GET", /^\/api\/runs$/, ({ query }) => page([...state.runs.values()].reverse().map(runView), query)],
  ["GET", /^\/api\/runs\/([\w-]+)$/, ({ match }) => ({ ...runView(found(state.runs, match[1])), input: "", mode: "loop", asked_by: me.email, connection_id: "c1", budget: {}, waiting_approval: null, undoable: 1, forkable: [], kept_as: null })],
  ["GET", /^\/api\/runs\/([\w-]+)\/log$/, ({ match, query }) => page(found(state.runs, match[1]).events, query)],
  ["POST", /^\/api\/runs\/([\w-]+)\/stop$/, ({ match }) => {
    const run = found(state.runs, match[1]);
    push(run, { type: "run.stop_requested", by: me.email });
    run.stopped = true;
    run.decide?.({});
    return { run_id: run.id };
  }],
  ["POST", /^\/api\/runs\/([\w-]+)\/steer$/, ({ match, body }) => (push(found(state.runs, match[1]), { type: "run.steered", text: body.text, by: me.email }), {})],
  ["POST", /^\/api\/runs\/([\w-]+)\/fork$/, ({ match, body }) => {
    const run = found(state.runs, match[1]);
    const from = found(state.conversations, run.conversation_id);
    const branch = newConversation(from.agent_id, from.title, { forked_from: from.id });
    return { run_id: startRun(branch, body.input ?? run.title, "loop").id, conversation_id: branch.id };
  }],
  ["POST", /^\/api\/runs\/([\w-]+)\/undo$/, ({ match, body }) => {
    const run = found(state.runs, match[1]);
    const items = run.events.filter((event) => event.type === "tool.result" && event.undo && (!body.call_id || event.call_id === body.call_id)).map((event) => ({ call_id: event.call_id, tool: event.tool, undone: true, detail: "notes/slow-routes.md is as it was before" }));
    for (const item of items) push(run, { type: "tool.undone", call_id: item.call_id, summary: item.detail, by: me.email });
    return { items, next_cursor: null };
  }],
  ["GET", /^\/api\/approvals$/, ({ query }) => page([...state.approvals.values()].filter((entry) => query.get("status") !== "open" || entry.status === "open"), query)],
  ["GET", /^\/api\/approvals\/([\w-]+)$/, ({ match }) => found(state.approvals, match[1])],
  ["POST", /^\/api\/approvals\/([\w-]+)\/decide$/, ({ match, body }) => {
    const approval = found(state.approvals, match[1]);
    if (approval.status !== "open") throw new Problem(409, "This was decided already", "Reload to see by whom.", { code: "already_decided" });
    Object.assign(approval, { status: "decided", answer: body.answer, decided_by: me.email, decided_at: now() });
    state.runs.get(approval.run_id).decide(body.answer);
    return { approval, also: [] };
  }],
];
function found(map, id) {
  const entry = map.get(id);
  if (!entry) throw new Problem(404, "There is no such thing", "It may have been deleted; go back to the list.");
  return entry;
}

function sse(request, response, run) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const send = (event) => response.write(`${run ? `id: ${event.seq}\n` : ""}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const beat = setInterval(() => response.write(": here\n\n"), 15_000);
  const close = () => response.end();
  const clients = run ? run.clients : state.watchers;
  request.on("close", () => (clearInterval(beat), clients.delete(send), run?.closers.delete(close)));
  if (!run) return void (response.write(": here\n\n"), clients.add(send));
  for (const event of run.events.slice(Number(request.headers["last-event-id"] ?? 0))) send(event);
  if (run.status === "finished") return close();
  clients.add(send);
  run.closers.add(close);
}

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json", ".webmanifest": "application/manifest+json" };
function asset(url, response) {
  const path = normalize(url.pathname).replace(/^\/+/, "");
  const isFile = (name) => existsSync(dist + name) && statSync(dist + name).isFile();
  const file = path && (isFile(path) || isFile(`${path}.gz`)) ? path : "index.html";
  // `make web` keeps most files compressed only.
  const zipped = !isFile(file);
  response.writeHead(200, { ...(zipped && { "content-encoding": "gzip" }), "content-type": types[extname(file)] ?? "application/octet-stream", "cache-control": file.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache" });
  createReadStream(dist + file + (zipped ? ".gz" : "")).pipe(response);
}

createServer(async (request, response) => {
  response.setHeader("content-security-policy", CSP);
  response.setHeader("x-content-type-options", "nosniff");
  const url = new URL(request.url, "http://x");
  if (!url.pathname.startsWith("/api") && !url.pathname.startsWith("/_mock")) return asset(url, response);
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const body = (request.headers["content-type"] ?? "").includes("json") && raw.length ? JSON.parse(raw) : { raw: raw.toString() };
    const token = (request.headers.authorization ?? "").slice(7);
    const open = () => {
      if (!state.tokens.has(token)) throw new Problem(401, "The access token has expired", "Renew it, or log in again.");
    };
    const stream = request.method === "GET" && /^\/api\/(?:runs\/([\w-]+)\/)?events$/.exec(url.pathname);
    if (stream) return open(), sse(request, response, stream[1] ? found(state.runs, stream[1]) : null);
    for (const [method, pattern, handle, free] of routes) {
      const match = method === request.method && pattern.exec(url.pathname);
      if (!match) continue;
      if (!free) open();
      const value = await handle({ match, body, query: url.searchParams, request, response, size: raw.length });
      response.writeHead(value === null ? 204 : 200, { "content-type": "application/json", "cache-control": "no-store" });
      return response.end(value === null ? undefined : JSON.stringify(value));
    }
    throw new Problem(404, "There is no such endpoint in the mock", "Use the real server.");
  } catch (error) {
    const body = error instanceof Problem ? error.body : { title: String(error), status: 500, hint: "A bug of the mock." };
    response.writeHead(body.status, { "content-type": "application/problem+json" });
    response.end(JSON.stringify(body));
  }
}).listen(port, "127.0.0.1", () => {
  for (const [title, age] of [["Rotate the logs of the report service", 1], ["Which certificates end this month?", 1], ["Compare the airports by country", 4], ["Draft a mail to the vendor", 12]]) newConversation(agents[0].id, title, { updated_at: now() - age * 86_400_000 });
  console.log(`http://127.0.0.1:${port}`);
});
