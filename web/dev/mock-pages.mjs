// Made-up answers for the pages Runs, Approvals, Agents, Connections, Settings and About.
//
// mock.mjs uses it so:   import { pages, logOf, liveEvents } from "./mock-pages.mjs";
//   const answer = pages({ method, path, query /* URLSearchParams */, body });
//   if (answer) send(answer.status, answer.body);          // null: not one of these
//   logOf(runId) → the events of a made-up run, for its stream; `null` for other runs.
// Alone, with a built studio:   node dev/mock-pages.mjs [port] [folder of the studio]
import { randomUUID } from "node:crypto";
import { deep, routes as modelRoutes } from "./mock-models.mjs";
import { routes as deskRoutes } from "./mock-desk.mjs";
import { routes as hookRoutes } from "./mock-hooks.mjs";
import { routes as scheduleRoutes } from "./mock-schedules.mjs";
import { routes as subscriptionRoutes } from "./mock-subscriptions.mjs";
import { routes as skillRoutes } from "./mock-skills.mjs";
import { atWork, BUDGET, bookkeeping, DIFF, planned, planSteps, planSubject, TOOLS, waiting } from "./mock-logs.mjs";

const NOW = Date.now();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const uuid = (n) => `0195f3a0-0000-7000-8000-${String(n).padStart(12, "0")}`;

export const me = { id: uuid(1), email: "ada@example.org", name: "Ada Lovelace", role: "admin", installation: true };
const policy = { read: "allow", write: "ask", external: "ask", destructive: "ask", tools: {} };
const tuning = { temperature: 0.2, max_tokens: 4096, timeout_ms: 300_000 };
const agents = [
  { id: uuid(11), name: "Steward", instructions: "You are Steward, a careful assistant with tools. Use them when the request needs one; say only what a tool has shown.", tools: [], connection: null, policy, budget: "agent", tuning, skills: [] },
  { id: uuid(12), name: "Bookkeeper", instructions: "You keep the books of a small company. Totals come from the database, never from memory. Answer in the language of the request.", tools: ["sql", "read", "list", "write", "reminders_create", "mail_draft"], connection: uuid(31), policy: { ...policy, tools: { mail_draft: "allow" } }, budget: "plan", tuning, skills: [] },
  { id: uuid(13), name: "Night watch", instructions: "Look through the logs each night and note what is unusual.", tools: ["grep", "read", "list", "notes_create", "terminal"], connection: uuid(33), policy: { ...policy, external: "deny" }, budget: "executor", tuning: { ...tuning, temperature: 0 }, skills: [] },
];
const capabilities = { strategy: "native", window: 32_768, json_schema: true, scoring: false, plans: true, summarises: true, max_tools: 64 };
const connections = [
  { id: uuid(31), name: "Ollama", provider: "ollama", base_url: "http://127.0.0.1:11434/v1", model: "qwen3:14b", auth: { kind: "none" }, capabilities, from: "Ollama at 127.0.0.1:11434", default: true, editable: false },
  { id: uuid(32), name: "Office vLLM", provider: "compatible", base_url: "http://gpu.office.example:8000/v1", model: "Qwen/Qwen3-32B", auth: { kind: "bearer" }, by_hand: ["window"], capabilities: { ...capabilities, window: 131_072 }, from: "saved", default: false, editable: true },
  { id: uuid(33), name: "Built in", provider: "local", base_url: "", model: "smollm2-135m", auth: { kind: "none" }, capabilities: { strategy: "guided_json", window: 4096, json_schema: true, scoring: true, plans: false, summarises: false, max_tools: 4 }, from: "built in", default: false, editable: false },
];

// Runs with a whole log.
const ids = { books: uuid(101), night: uuid(102), work: uuid(103), write: uuid(104), plan: uuid(105), delete: uuid(106), uncertain: uuid(107), question: uuid(108), deep: uuid(109), deepWork: uuid(110) };
const call = (call_id, tool, args, risk, preview) => ({ kind: "call", call_id, tool, arguments: args, args_hash: `${tool}-${call_id}`, risk, preview });
const subjects = {
  write: call("s1-1", "write", { path: "reports/june.md", content: "# June 2026\n…" }, "write", { summary: "overwrites reports/june.md (78 bytes) with 174 bytes", detail: DIFF, count: 1, reversible: true }),
  delete: call("s1-1", "terminal", { argv: ["rm", "-r", "exports/2024"] }, "destructive", { summary: "runs a command that may change files; not undoable", detail: "rm -r exports/2024", count: 128, reversible: false }),
  uncertain: { kind: "uncertain", call_id: "s1-1", tool: "mail_draft", arguments: { to: "lena@example.org", subject: "Invoice 2026-118" } },
  question: { kind: "question", call_id: "s1-1", text: "There are two customers called Nordwind. Do you mean Nordwind GmbH in Hamburg or Nordwind AS in Bergen?" },
};
const logs = new Map([
  [ids.books, bookkeeping(ids.books, NOW - 3 * HOUR)],
  [ids.night, planned(ids.night, NOW - 2 * DAY)],
  [ids.work, atWork(ids.work, NOW - 40_000)],
  [ids.write, waiting(ids.write, NOW - 12 * MINUTE, uuid(201), subjects.write)],
  [ids.plan, planned(ids.plan, NOW - 5 * HOUR, false).map((event) => (event.approval_id ? { ...event, approval_id: uuid(202) } : event))],
  [ids.delete, waiting(ids.delete, NOW - 2 * HOUR, uuid(203), subjects.delete)],
  [ids.uncertain, waiting(ids.uncertain, NOW - 26 * HOUR, uuid(204), subjects.uncertain)],
  [ids.deep, deep(ids.deep, NOW - HOUR, connections, true)],
  [ids.deepWork, deep(ids.deepWork, NOW - 30_000, connections, false)],
  [ids.question, waiting(ids.question, NOW - 4 * MINUTE, uuid(205), subjects.question)],
]);
export const logOf = (id) => logs.get(id) ?? null;

const titles = { [ids.deep]: "Remind customers of open invoices", [ids.deepWork]: "Remind customers of open invoices (at work)", [ids.books]: "Add up June's invoices by customer", [ids.night]: "Räume die alten Protokolle auf", [ids.work]: "Compare the June report with May", [ids.write]: "Put June's totals into the report", [ids.plan]: "Räume die alten Protokolle auf und schreibe eine Notiz", [ids.delete]: "Make room on the export share", [ids.uncertain]: "Draft the reminder for invoice 2026-118", [ids.question]: "What did Nordwind buy this year?" };
const deeps = { [ids.deep]: uuid(52), [ids.deepWork]: uuid(53) };
const conversation = (id) => { const run = Object.keys(deeps).find((key) => deeps[key] === id); return run ? { id, agent_id: agents[1].id, agent_name: agents[1].name, title: titles[run], created_at: NOW, updated_at: NOW, deleted_at: null, forked_from: null, open_run: null, messages: [], runs: [runOf(run)] } : null; };
const agentOf = { [ids.night]: agents[2], [ids.plan]: agents[2], [ids.delete]: agents[2] };
function runOf(id) {
  const log = logs.get(id);
  const [first, last] = [log[0], log.at(-1)];
  const finish = log.find((event) => event.type === "run.finished");
  const open = log.filter((event) => event.type === "approval.requested").at(-1);
  const parked = !finish && open && !log.some((event) => event.type === "approval.decided" && event.approval_id === open.approval_id);
  const used = log.filter((event) => event.type === "model.responded").reduce((sum, event) => sum + event.usage.prompt_tokens + event.usage.completion_tokens, 0);
  const agent = agentOf[id] ?? agents[1];
  const undone = log.filter((event) => event.type === "tool.undone").map((event) => event.call_id);
  return {
    id, agent_id: agent.id, agent_name: agent.name, conversation_id: first.setup.origin === "chat" ? (deeps[id] ?? uuid(51)) : null, title: titles[id], status: finish ? "finished" : parked ? "parked" : "running",
    outcome: finish?.outcome ?? null, answer: finish?.answer ?? null, origin: first.setup.origin, user_id: me.id, model: first.setup.model, verdict: finish?.receipts?.verdict ?? null, forked_from: null,
    created_at: first.at, updated_at: last.at, last_seq: last.seq, tokens: used, cost_micros: 0,
    input: first.setup.input, mode: first.setup.mode, asked_by: first.setup.asked_by, connection_id: uuid(31), budget: BUDGET, waiting_approval: parked ? open.approval_id : null,
    undoable: finish ? log.filter((event) => event.type === "tool.result" && event.undo?.kind === "snapshot" && !undone.includes(event.call_id)).length : 0,
    forkable: log.filter((event) => event.type === "model.requested").map((event) => ({ seq: event.seq, step: event.step, purpose: event.purpose })), kept_as: kept.find((entry) => entry.run_id === id)?.name ?? null, parent: null, children: [],
  };
}
const kept = [{ name: "june-invoices", run_id: ids.books, by: me.email, created_at: NOW - 2 * DAY }, { name: "clean-up-plan", run_id: ids.night, by: "grace@example.org", created_at: NOW - 9 * DAY }];

// Others only for the list.
const outcomes = [{ status: "completed" }, { status: "failed", message: "the endpoint answered 401: set OFFICE_LLM_KEY" }, { status: "completed" }, { status: "stopped", by: "ada@example.org" }, { status: "completed" }, { status: "limited", limit: "model_calls" }, { status: "rejected" }];
const asks = ["Who is on call this week?", "List the files that changed yesterday", "How many customers are in chinook.db?", "Find every ERROR in logs/app.log", "Remind me on Monday to call Lena", "Draft a mail to the accountant", "What is the largest table?"];
const listed = Array.from({ length: 45 }, (_, n) => ({ id: uuid(300 + n), agent_id: agents[n % 3].id, agent_name: agents[n % 3].name, conversation_id: null, title: asks[n % asks.length], status: "finished", outcome: outcomes[n % 7], answer: "…", origin: ["chat", "cli", "api", "schedule", "webhook"][n % 5], user_id: me.id, model: n % 3 ? "qwen3:14b" : "smollm2-135m", verdict: ["verified", "no-claims", "unverified"][n % 3], forked_from: null, created_at: NOW - (n + 4) * 5 * HOUR, updated_at: NOW - (n + 4) * 5 * HOUR + 9000, last_seq: 14, tokens: 900 + n * 733, cost_micros: n % 4 ? 0 : 4200 * n }));
const allRuns = () => [...[...logs.keys()].map(runOf), ...listed].sort((a, b) => b.updated_at - a.updated_at);

const about = (id) => ({ title: titles[id], agent_id: runOf(id).agent_id, agent_name: runOf(id).agent_name, origin: runOf(id).origin, asked_by: runOf(id).asked_by, conversation_id: runOf(id).conversation_id });
const asked = (n, run, subject, more) => ({ id: uuid(n), run_id: run, subject, asked_at: logs.get(run).at(-1).at, answer: null, decided_by: null, decided_at: null, status: "open", run: about(run), plan: null, if_denied: "The agent is told no and goes on without it.", reason: "", tainted: false, taint: [], chain: [], duplicates: [], ...more });
let approvals = [
  asked(201, ids.write, subjects.write, { reason: "write is a write, and the policy of Bookkeeper asks for those", duplicates: [uuid(211), uuid(212)], if_denied: "Nothing is written; the agent reads your reason and answers without the report." }),
  asked(202, ids.plan, planSubject, { plan: planSteps, reason: "the run plans first", if_denied: "The run ends; nothing of the plan runs." }),
  asked(203, ids.delete, subjects.delete, { reason: "terminal is destructive", tainted: true }),
  asked(204, ids.uncertain, subjects.uncertain, { reason: "the program stopped between the intent and the result" }),
  asked(205, ids.question, subjects.question, { reason: "the agent asks", if_denied: "The agent is told that there is no answer." }),
  { ...asked(221, ids.books, subjects.write), status: "decided", answer: { decision: "approve", grant: { kind: "tool", name: "write" } }, decided_by: "ada@example.org", decided_at: NOW - 3 * HOUR, asked_at: NOW - 3 * HOUR - 95_000 },
  { ...asked(222, ids.night, subjects.delete), status: "decided", answer: { decision: "deny", reason: "keep them until the audit" }, decided_by: "Grace Hopper", decided_at: NOW - 2 * DAY },
  { ...asked(223, ids.books, subjects.question), status: "decided", answer: { decision: "feedback", text: "The one in Hamburg." }, decided_by: "ada@example.org", decided_at: NOW - 3 * DAY },
  { ...asked(224, ids.books, subjects.uncertain), status: "withdrawn", decided_at: NOW - 6 * DAY },
];
let grants = [
  { id: uuid(401), agent_id: agents[1].id, agent_name: "Bookkeeper", grant: { scope: { kind: "tool", name: "write" }, until: NOW + 50 * MINUTE }, by: me.email, created_at: NOW - 10 * MINUTE },
  { id: uuid(402), agent_id: agents[2].id, agent_name: "Night watch", grant: { scope: { kind: "tool", name: "notes_create" }, until: NOW + 5 * DAY }, by: "grace@example.org", created_at: NOW - 2 * DAY },
];
let sessions = [
  { id: uuid(501), label: "Firefox on Linux", created_at: NOW - 5 * DAY, rotated_at: NOW - 4 * MINUTE, expires_at: NOW + 30 * DAY, current: true },
  { id: uuid(502), label: "Safari on iPhone", created_at: NOW - 20 * DAY, rotated_at: NOW - 2 * DAY, expires_at: NOW + 28 * DAY, current: false },
];

const estimate = (text) => Math.ceil(text.length / 3);
function preview({ agent, input = "" }) {
  const tools = TOOLS.filter((tool) => agent.tools.length === 0 || agent.tools.includes(tool.name));
  const { window } = (connections.find((entry) => entry.id === agent.connection) ?? connections[0]).capabilities;
  const model = (connections.find((entry) => entry.id === agent.connection) ?? connections[0]).model;
  const text = tools.map((tool) => `- ${tool.name}: ${tool.description}`).join("\n");
  const sections = [{ name: "system", tokens: estimate(agent.instructions) + 6 }, { name: "tools", tokens: tools.length * 95 }, { name: "memory", tokens: 42 }, { name: "history", tokens: 0 }, { name: "input", tokens: estimate(input) + 18 }];
  const tokens = sections.reduce((sum, section) => sum + section.tokens, 0);
  return { messages: [{ role: "system", text: `${agent.instructions}\n\n${text}` }, { role: "user", text: `[Now: 2026-07-01T08:12:00Z]\n## Your Memory\n- Prefers totals with two decimals\n\n${input}` }], sections, tokens, window, reserved: agent.tuning.max_tokens, fits: tokens + agent.tuning.max_tokens <= window, tools: tools.map((tool) => tool.name), model };
}

const ok = (body, status = 200) => ({ status, body });
const none = { status: 204, body: undefined };
const problem = (status, title, hint, more = {}) => ({ status, body: { type: "about:blank", title, status, hint, ...more } });
const missing = (what) => problem(404, `there is no such ${what}`, "it may have been deleted; go back to the list");
function page(items, query) {
  const limit = Math.min(100, Number(query.get("limit") ?? 30));
  const from = Number(query.get("cursor") ?? 0);
  return ok({ items: items.slice(from, from + limit), next_cursor: from + limit < items.length ? String(from + limit) : null });
}

/** Whoever decides: the approval leaves the inbox and its run goes on to its end. */
function decide(approval, answer) {
  Object.assign(approval, { status: "decided", answer, decided_by: me.email, decided_at: Date.now() });
}

const routes = [
  ["GET", /^runs$/, (_, query) => page(allRuns().filter((run) => ["status", "origin", "agent_id", "verdict"].every((name) => !query.get(name) || run[name] === query.get(name)) && (!query.get("outcome") || run.outcome?.status === query.get("outcome")) && (!query.get("q") || run.title.toLowerCase().includes(query.get("q").toLowerCase()))), query)],
  ["GET", /^runs\/([^/]+)$/, ([id]) => (logs.has(id) ? ok(runOf(id)) : missing("run"))],
  ["GET", /^runs\/([^/]+)\/log$/, ([id], query) => (logs.has(id) ? page(logs.get(id).filter((event) => event.seq > Number(query.get("after") ?? 0)), query) : missing("run"))],
  ["POST", /^runs\/([^/]+)\/stop$/, ([id]) => ok({ run_id: id }, 202)],
  ["POST", /^runs\/([^/]+)\/steer$/, ([id]) => ok({ run_id: id }, 202)],
  ["POST", /^runs\/([^/]+)\/resume$/, () => ok({ resumed: false })],
  ["POST", /^runs\/([^/]+)\/fork$/, () => ok({ run_id: ids.work, conversation_id: null }, 201)],
  ["POST", /^runs\/([^/]+)\/replay$/, ([id]) => ok(id === ids.night ? { run_id: id, same: false, events: 12, decisions: 9, differences: [{ seq: 12, recorded: "tool.rejected terminal", now: "approval.requested terminal" }] } : { run_id: id, same: true, events: logs.get(id)?.length ?? 0, decisions: 11, differences: [] })],
  ["POST", /^runs\/([^/]+)\/undo$/, ([id], _, body) => {
    const log = logs.get(id);
    if (!log) return missing("run");
    const gone = log.filter((event) => event.type === "tool.undone").map((event) => event.call_id);
    const items = log.filter((event) => event.type === "tool.result" && event.undo?.kind === "snapshot" && !gone.includes(event.call_id) && (!body?.call_id || body.call_id === event.call_id)).map((event) => ({ call_id: event.call_id, tool: event.tool, undone: true, detail: `${event.receipt.object}: put back as it was` }));
    for (const item of items) log.push({ run_id: id, seq: log.length + 1, at: Date.now(), epoch: 1, type: "tool.undone", call_id: item.call_id, summary: item.detail, by: me.email });
    return ok({ items, next_cursor: null });
  }],
  ["POST", /^runs\/([^/]+)\/keep$/, ([id], _, body) => { if (kept.some((entry) => entry.name === body.name)) return problem(409, `there is a test “${body.name}” already`, "choose another name, or remove that test"); kept.unshift({ name: body.name, run_id: id, by: me.email, created_at: Date.now() }); return ok(kept[0], 201); }],
  ["GET", /^kept$/, (_, query) => page(kept, query)],
  ["POST", /^kept\/run$/, () => ok({ items: kept.map((entry) => ({ name: entry.name, run_id: entry.run_id, same: entry.run_id !== ids.night, differences: entry.run_id === ids.night ? [{ seq: 12, recorded: "tool.rejected terminal", now: "approval.requested terminal" }] : [] })), next_cursor: null })],
  ["DELETE", /^kept\/(.+)$/, ([name]) => (kept.splice(kept.findIndex((entry) => entry.name === decodeURIComponent(name)), 1), none)],
  ["GET", /^approvals$/, (_, query) => page(approvals.filter((entry) => { const status = query.get("status") ?? "open"; return (status === "all" || (entry.status === "open") === (status === "open")) && (!query.get("run_id") || entry.run_id === query.get("run_id")); }), query)],
  ["GET", /^approvals\/([^/]+)$/, ([id]) => { const found = approvals.find((entry) => entry.id === id); return found ? ok(found) : missing("approval"); }],
  ["POST", /^approvals\/([^/]+)\/decide$/, ([id], _, body) => {
    const found = approvals.find((entry) => entry.id === id);
    if (!found) return missing("approval");
    if (found.status !== "open") return problem(409, `${found.decided_by ?? "the run"} has decided this already`, "reload the list", { code: "already_decided" });
    decide(found, body.answer);
    if (body.standing) grants.unshift({ id: randomUUID(), agent_id: found.run.agent_id, agent_name: found.run.agent_name, grant: { scope: body.answer.grant, until: body.answer.until }, by: me.email, created_at: Date.now() });
    return ok({ approval: found, also: body.duplicates ? found.duplicates : [] });
  }],
  ["GET", /^grants$/, (_, query) => page(grants, query)],
  ["DELETE", /^grants\/([^/]+)$/, ([id]) => ((grants = grants.filter((entry) => entry.id !== id)), none)],
  ["GET", /^agents$/, (_, query) => page(agents.filter((agent) => !agent.deleted && agent.name.toLowerCase().includes((query.get("q") ?? "").toLowerCase())), query)],
  ["POST", /^agents\/preview$/, (_, __, body) => ok(preview(body))],
  ["POST", /^agents$/, (_, __, body) => { if (agents.some((agent) => agent.name === body.name)) return problem(409, `there is an agent “${body.name}” already`, "choose another name"); agents.push({ ...body, id: randomUUID() }); return ok(agents.at(-1), 201); }],
  ["GET", /^agents\/([^/]+)$/, ([id]) => { const found = agents.find((agent) => agent.id === id); return found ? ok(found) : missing("agent"); }],
  ["PUT", /^agents\/([^/]+)$/, ([id], _, body) => ok(Object.assign(agents.find((agent) => agent.id === id), body))],
  ["DELETE", /^agents\/([^/]+)$/, ([id]) => ((agents.find((agent) => agent.id === id).deleted = true), none)],
  ["POST", /^agents\/([^/]+)\/restore$/, ([id]) => { const found = agents.find((agent) => agent.id === id); delete found.deleted; return ok(found); }],
  ["GET", /^tools$/, (_, query) => page(TOOLS, query)],
  ...modelRoutes(connections, agents, me, uuid),
  ...deskRoutes({ ok, none, missing, problem, page, agents, uuid }),
  ...skillRoutes({ ok, none, missing, problem, page, agents, uuid }),
  ...scheduleRoutes({ ok, none, missing, problem, page, agents, me, uuid }),
  ...hookRoutes({ ok, none, missing, problem, page, agents, me, uuid }),
  ...subscriptionRoutes({ ok, none, missing, problem, page, me, uuid }),
  ["POST", /^connections$/, (_, __, body) => { connections.unshift({ capabilities, ...body, id: randomUUID(), from: "saved", default: false, editable: true }); return ok(connections[0], 201); }],
  ["PUT", /^connections\/([^/]+)$/, ([id], _, body) => ok(Object.assign(connections.find((entry) => entry.id === id), body))],
  ["DELETE", /^connections\/([^/]+)$/, ([id]) => (connections.splice(connections.findIndex((entry) => entry.id === id), 1), none)],
  ["POST", /^connections\/([^/]+)\/default$/, ([id]) => { for (const entry of connections) entry.default = entry.id === id; return none; }],
  ["POST", /^connections\/([^/]+)\/test$/, ([id]) => ok(id === uuid(32) ? { ok: false, accepted_ms: null, first_ms: null, total_ms: null, text: "", model: "", error: "401 Unauthorized: {\"error\":\"invalid api key\"}", hint: "set OFFICE_LLM_KEY in Steward's environment to a key of this endpoint, and start it again" } : { ok: true, accepted_ms: 14, first_ms: 210, total_ms: 640, text: "Ready. Which task shall I begin with?", model: "qwen3:14b", error: null, hint: null })],
  ["GET", /^about$/, () => ok({ version: "0.1.0", commit: "19a36e5f20aa", event_version: 1, schema_version: 7, database: "sqlite", database_version: "3.51.3", data_dir: "/home/ada/.local/share/steward", workspace: "/home/ada/steward", started_at: NOW - 3 * DAY, runs_at_work: 1, health: [{ name: "database", status: "ok", detail: "reads and writes in 0.3 ms", needed: true }, { name: "model: Ollama", status: "ok", detail: "qwen3:14b answers at 127.0.0.1:11434", needed: true }, { name: "workspace", status: "ok", detail: "/home/ada/steward can be read and written", needed: true }, { name: "sandbox", status: "ok", detail: "landlock and seccomp are in force", needed: true }, { name: "model: Office vLLM", status: "down", detail: "401 Unauthorized; set OFFICE_LLM_KEY", needed: false, ms: 41 }] })],
  ["GET", /^auth\/me$/, () => ok(me)],
  ["GET", /^auth\/status$/, () => ok({ needs_setup: false, version: "0.1.0", several_tenants: false })],
  ["POST", /^auth\/(?:refresh|login)$/, () => ok({ access_token: "mock", token_type: "bearer", expires_in: 900, user: me })],
  ["POST", /^auth\/logout$/, () => none],
  ["POST", /^auth\/password$/, (_, __, body) => (body.current === "wrong" ? problem(422, "the current password is wrong", "type it again; after five attempts you have to wait") : none)],
  ["GET", /^auth\/sessions$/, (_, query) => page(sessions, query)],
  ["DELETE", /^auth\/sessions\/([^/]+)$/, ([id]) => ((sessions = sessions.filter((entry) => entry.id !== id)), none)],
  ["POST", /^auth\/api-key$/, () => ok({ api_key: `sk-steward-${randomUUID().replaceAll("-", "")}` })],
  ["DELETE", /^auth\/api-key$/, () => none],
  ["GET", /^conversations$/, (_, query) => page(Object.values(deeps).map(conversation), query)],
  ["GET", /^conversations\/([^/]+)$/, ([id]) => { const found = conversation(id); return found ? ok(found) : missing("conversation"); }],
];

/** The answer to a request below `/api`, or `null`. */
export function pages({ method, path, query, body }) {
  for (const [verb, pattern, answer] of routes) {
    const found = verb === method ? pattern.exec(path.replace(/^\/api\//, "")) : null;
    if (found) return answer(found.slice(1), query ?? new URLSearchParams(), body);
  }
  return null;
}

if (process.argv[1]?.endsWith("mock-pages.mjs")) await (await import("./mock-serve.mjs")).serve(pages, logOf);
