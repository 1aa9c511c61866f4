// Made-up answers for connections' health and exams, routing, usage, budgets and virtual keys. Used by mock-pages.mjs.
import { randomUUID } from "node:crypto";
import { routes as accessRoutes } from "./mock-access.mjs";
import { routes as documentRoutes } from "./mock-documents.mjs";
import { log, setup } from "./mock-logs.mjs";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const ok = (body, status = 200) => ({ status, body });
const none = { status: 204, body: undefined };
const problem = (status, title, hint) => ({ status, body: { type: "about:blank", title, status, hint } });
const list = (items) => ok({ items, next_cursor: null });

const CHECKS = [
  ["reach", "passed", 1, 1, "answers to a short prompt"],
  ["native_calls", "passed", 5, 5, "five of five calls with the right tool and arguments"],
  ["parallel_calls", "partly", 1, 2, "two calls in one reply once of two tries"],
  ["constrained_output", "passed", 3, 3, "response_format keeps to a nested schema; grammar was not tried"],
  ["system_role", "passed", 1, 1, "kept to the system message against the user's wish"],
  ["window", "passed", 3, 3, "found the word at 32,000 tokens; at 65,000 it did not"],
  ["questions", "partly", 2, 3, "one of three plans left out a step"],
  ["summary", "passed", 2, 2, "no number was made up"],
  ["vision", "failed", 0, 1, "the endpoint refuses pictures: 400 image input is not supported"],
  ["markers", "skipped", 0, 0, "a better form works"],
  ["speed", "passed", 1, 1, "41 tokens a second, first token after 210 ms"],
].map(([name, outcome, points, of, detail], index) => ({ name, outcome, points, of, detail, ms: outcome === "skipped" ? 0 : 320 + index * 410 }));

const report = (connection, at) => ({
  version: 1, endpoint: connection.base_url || "local", model: connection.model, server: "ollama 0.13.1", at, ms: 41_300, tokens: 6_840, checks: CHECKS, constrained: ["response_format", "ollama_format"],
  grades: { chat: "A", tool_call: "A", planning: "C", reasoning: "B", rag_answer: "B", summarize: "A", extract: "A", classify: "A", code_gen: "D", translate: "B" },
  tokens_per_second: 41.2, first_token_ms: 210, prompt_tokens_per_second: 1_240, reuses_cache: true,
  capabilities: { ...connection.capabilities, parallel_calls: false, num_ctx: 32_768 },
  notes: ["Tools are called natively, one call a reply: two calls at once came right only half of the time.", "num_ctx is set to 32,768: Ollama would cut prompts at 4,096 else.", "At most 24 tools are offered at once; more are found by search."],
});

export function routes(connections, agents, me, uuid) {
  const now = Date.now();
  const reports = new Map([[connections[0].id, report(connections[0], now - 2 * DAY)]]);
  const brief = (found) => (found ? { at: found.at, version: found.version, server: found.server, grades: found.grades } : null);
  const price = (connection) => connection.price ?? (connection.provider === "local" || connection.provider === "ollama" ? { input: 0, cached: 0, output: 0 } : connection.auth.kind === "none" ? null : { input: 250_000, cached: 25_000, output: 1_250_000 });
  const health = () => connections.slice(0, 3).map((connection, index) => ({
    connection: connection.id, breaker: ["closed", "open", "closed"][index], retry_in_ms: index === 1 ? 24_000 : null, requests: [412, 9, 0][index] ?? 0, failures: [3, 9, 0][index] ?? 0, first_ms: index === 0 ? 214 : null,
    last_error: index === 1 ? { class: "auth", message: "Office vLLM refused the key (401)", hint: "set OFFICE_LLM_KEY in Steward's environment to a key of this endpoint, and start it again" } : index === 0 ? { class: "server", message: "Ollama answered 503", hint: "it is loading the model" } : null,
    last_ok_at: index === 0 ? now - 40_000 : null, last_failed_at: index === 0 ? now - 5 * HOUR : index === 1 ? now - 9_000 : null,
  }));
  let budgets = [
    { limit: { id: uuid(601), scope: { kind: "installation" }, period: "month", tokens: null, cost_micros: 200_000_000 }, since: Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1), tokens: 0, cost_micros: 121_400_000, reserved_tokens: 0, reserved_cost_micros: 2_100_000, label: "" },
    { limit: { id: uuid(602), scope: { kind: "agent", id: agents.at(-1).id }, period: "day", tokens: 500_000, cost_micros: null }, since: Math.floor(now / DAY) * DAY, tokens: 500_000, cost_micros: 0, reserved_tokens: 0, reserved_cost_micros: 0, label: agents.at(-1).name },
  ];
  // What keys are about goes by its id, and is answered with its name.
  const refs = (all, ids) => (ids ?? []).map((id) => ({ id, name: all.find((one) => one.id === id)?.name ?? null }));
  const named = ({ connections: through, agents: who, ...body }) => ({ ...body, connections: refs(connections, through), agents: who == null ? null : refs(agents, who) });
  let keys = [
    { id: uuid(701), name: "CI reviews", user: me.id, prefix: "sk-steward-v-3f9a", connections: refs(connections, [connections[0].id]), agents: null, requests_per_minute: 60, tokens_per_minute: 200_000, created_at: now - 12 * DAY, expires_at: now + 70 * DAY, revoked_at: null },
    { id: uuid(702), name: "Old notebook", user: uuid(2), prefix: "sk-steward-v-81c0", connections: [], agents: [], requests_per_minute: null, tokens_per_minute: null, created_at: now - 90 * DAY, expires_at: null, revoked_at: now - 3 * DAY },
  ];
  const user = (n, email, name, role, more = {}) => ({ id: uuid(n), email, name, role, state: "active", built_in: false, has_api_key: false, created_at: now - 90 * DAY, last_login_at: now - 2 * HOUR, disabled_at: null, invitation_expires_at: null, ...more });
  let users = [
    { ...user(1, me.email, me.name, "admin"), id: me.id },
    user(2, "grace@example.org", "Grace Hopper", "developer", { has_api_key: true, last_login_at: now - 3 * DAY }),
    user(3, "katherine@example.org", "Katherine Johnson", "operator", { state: "invited", last_login_at: null, invitation_expires_at: now + 6 * DAY }),
    user(4, "local@steward", "local", "operator", { built_in: true, has_api_key: true, last_login_at: null }),
    user(5, "tim@example.org", "Tim", "viewer", { state: "disabled", disabled_at: now - 8 * DAY }),
  ];
  const invited = (one) => ({ user: one, invitation: { token: randomUUID().replaceAll("-", ""), expires_at: now + 7 * DAY } });
  const rows = { agent: agents.map((agent) => [agent.id, agent.name]).concat([["", ""]]), user: [[me.id, "Ada Lovelace"], [uuid(2), "Grace Hopper"]], connection: connections.map((entry) => [entry.id, entry.name]), model: connections.map((entry) => [entry.model, entry.model]), key: [[uuid(701), "CI reviews"], ["", ""]] };
  const amount = (seed, scale = 1) => { const calls = Math.round((30 + ((seed * 37) % 90)) * scale); return { calls, failed: seed % 4 === 0 ? 2 : 0, prompt_tokens: calls * 2_140, cached_tokens: calls * 1_300, completion_tokens: calls * 310, cost_micros: calls * 41_000 }; };
  const add = (sum, row) => Object.fromEntries(Object.keys(sum).map((name) => [name, sum[name] + row[name]]));
  const usage = (query) => {
    const [by, from, to] = [query.get("by"), Number(query.get("from")), Number(query.get("to"))];
    const days = Math.round((to - from) / DAY);
    const items = by === "day"
      ? Array.from({ length: days }, (_, n) => ({ time: from + n * DAY, n })).filter(({ n }) => n % 7 < 5).map(({ time, n }) => { const group = new Date(time).toISOString().slice(0, 10); return { group, label: group, ...amount(n) }; })
      : rows[by].map(([group, label], n) => ({ group, label, ...amount(n, days / (n + 2)) })).sort((a, b) => b.cost_micros - a.cost_micros);
    return { items, total: items.map(({ group: _g, label: _l, ...rest }) => rest).reduce(add, { calls: 0, failed: 0, prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, cost_micros: 0 }), unpriced_calls: 42 };
  };
  const routeOf = ({ connection, routing, message }) => {
    const task = /translat|übersetz/i.test(message) ? "translate" : /\bcode|function|bug\b/i.test(message) ? "code_gen" : /write|remind|mail/i.test(message) ? "tool_call" : "chat";
    const wanted = [routing?.task_routing?.[task], connection, ...(routing?.fallback_chain ?? []), connections.find((entry) => entry.default)?.id].filter(Boolean);
    const targets = [...new Set(wanted)].map((id) => connections.find((entry) => entry.id === id)).filter(Boolean).slice(0, routing?.max_fallback_attempts ?? 3);
    return { task, targets: targets.map((entry) => ({ id: entry.id, name: entry.name, model: entry.model, grade: reports.get(entry.id)?.grades[task] ?? null, price: price(entry), breaker: health().find((one) => one.connection === entry.id)?.breaker ?? "closed" })), reason: routing?.task_routing?.[task] ? `a connection is set for ${task}; then the primary, the chain and the default` : "the primary connection, then the fallback chain, then the default", hint: /how many|sum|total/i.test(message) ? "analytics" : "general", hint_words: [] };
  };
  return [
    // Before the plain list of mock-pages.mjs: with what only the server knows.
    ["GET", /^connections$/, () => list(connections.map((entry) => ({ wire: null, price: null, weight: 1, by_hand: [], ...entry, known_price: price(entry), exam: brief(reports.get(entry.id)) })))],
    ["GET", /^connections\/health$/, () => list(health())],
    ["POST", /^connections\/recognise$/, (_, __, body) => {
      if (/unreachable/.test(body.base_url)) return problem(502, `nothing answers at ${body.base_url}`, "check the address and that the server runs; from a container, 127.0.0.1 is the container itself");
      const base_url = `${/^https?:/.test(body.base_url) ? "" : "http://"}${body.base_url.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
      if (/openai/.test(body.base_url)) return ok({ provider: "open_ai", base_url, confirmed: body.auth !== undefined, models: body.auth ? ["gpt-5.1", "gpt-5.1-mini"] : [], server: "", reason: "the host is OpenAI's; it lists models only with a key" });
      return ok({ provider: "ollama", base_url, confirmed: true, models: ["qwen3:14b", "gemma3:12b", "llama3.2:3b"], server: "ollama 0.13.1", reason: "GET /api/version answered as Ollama does" });
    }],
    ["GET", /^connections\/([^/]+)\/exam$/, ([id]) => (reports.has(id) ? ok(reports.get(id)) : problem(404, "this connection has not been examined", "examine it"))],
    ["POST", /^connections\/([^/]+)\/exam$/, ([id]) => {
      const connection = connections.find((entry) => entry.id === id);
      const done = report(connection, Date.now());
      return { status: 200, stream: [...CHECKS.map((check) => ["check", check]), ["report", done]], then: () => reports.set(id, done) };
    }],
    ["POST", /^routing\/preview$/, (_, __, body) => ok(routeOf(body))],
    ["GET", /^usage$/, (_, query) => ok(usage(query))],
    ["GET", /^audit$/, (_, query) => list(audit().filter((entry) => (!query.get("result") || entry.result === query.get("result")) && (!query.get("action") || entry.action.startsWith(query.get("action"))) && (!query.get("actor") || entry.actor === query.get("actor"))))],
    ["GET", /^audit\/retention$/, () => ok({ days: null })],
    ["PUT", /^audit\/retention$/, (_, __, body) => ok(body)],
    ["POST", /^audit\/verify$/, () => ok({ checked: 5, total: 5, report: { ok: true, checked: 5, anchor: { seq: 0, hash: "" }, head: { seq: 5, hash: "5f".repeat(32) }, broken: null, ms: 3 } })],
    ["GET", /^budgets$/, () => list(budgets)],
    ["POST", /^budgets$/, (_, __, body) => {
      const same = budgets.some(({ limit }) => JSON.stringify([limit.scope, limit.period]) === JSON.stringify([body.scope, body.period]));
      if (same) return problem(409, "there is a budget for this and this period already", "change its limits instead");
      const label = body.scope.kind === "installation" ? "" : (Object.values(rows).flat().find(([id]) => id === body.scope.id)?.[1] ?? "?");
      budgets.push({ limit: { ...body, id: randomUUID() }, since: Date.now(), tokens: 0, cost_micros: 0, reserved_tokens: 0, reserved_cost_micros: 0, label });
      return ok(budgets.at(-1), 201);
    }],
    ["PUT", /^budgets\/([^/]+)$/, ([id], _, body) => { const found = budgets.find((entry) => entry.limit.id === id); Object.assign(found.limit, body); return ok(found); }],
    ["DELETE", /^budgets\/([^/]+)$/, ([id]) => ((budgets = budgets.filter((entry) => entry.limit.id !== id)), none)],
    ["GET", /^users$/, (_, query) => { const find = (query.get("search") ?? "").toLowerCase(); return list(users.filter((one) => `${one.email}\n${one.name}`.toLowerCase().includes(find) && [null, "", one.role].includes(query.get("role")) && [null, "", one.state].includes(query.get("state")))); }],
    ["POST", /^users$/, (_, __, body) => { users.push(user(users.length + 1, body.email, body.name ?? body.email.split("@")[0], body.role, { state: "invited", invitation_expires_at: now + 7 * DAY })); return ok(invited(users.at(-1)), 201); }],
    ["PATCH", /^users\/([^/]+)$/, ([id], _, { disabled, ...body }) => { const one = users.find((entry) => entry.id === id); return one ? ok(Object.assign(one, body, disabled === undefined ? {} : { state: disabled ? "disabled" : "active", disabled_at: disabled ? now : null })) : problem(404, "the user was not found", "look at the list"); }],
    ["POST", /^users\/([^/]+)\/invitation$/, ([id]) => ok(invited(users.find((entry) => entry.id === id)))],
    ["POST", /^users\/([^/]+)\/sessions\/end$/, () => ok({ ended: 2 })],
    ["DELETE", /^users\/([^/]+)$/, ([id]) => { users = users.filter((entry) => entry.id !== id); return none; }],
    ...documentRoutes({ ok, none, missing: (what) => problem(404, `there is no such ${what}`, "go back to the list"), problem, page: list, me, uuid }),
    ...accessRoutes({ ok, none, missing: (what) => problem(404, `there is no such ${what}`, "go back to the list"), problem, page: list, me, uuid, users: () => users }),
    ["GET", /^keys$/, () => list(keys)],
    ["POST", /^keys$/, (_, __, { budget: _budget, ...body }) => { const made = { requests_per_minute: null, tokens_per_minute: null, expires_at: null, ...named(body), id: randomUUID(), user: me.id, prefix: "sk-steward-v-7b2e", created_at: Date.now(), revoked_at: null }; keys = [made, ...keys]; return ok({ ...made, secret: `sk-steward-v-7b2e${randomUUID().replaceAll("-", "")}` }, 201); }],
    ["PATCH", /^keys\/([^/]+)$/, ([id], _, body) => ok(Object.assign(keys.find((entry) => entry.id === id), named(body)))],
    ["DELETE", /^keys\/([^/]+)$/, ([id]) => { keys.find((entry) => entry.id === id).revoked_at = Date.now(); return none; }],
  ];
}

const audit = () =>
  [
    ["ada@example.org", "chat", "203.0.113.9", "auth.login", "", "ok", null, { status: 200 }],
    ["ada@example.org", "chat", null, "run.started", "Bookkeeper", "ok", "0195f3a0-0000-7000-8000-000000000101", { mode: "loop", model: "qwen3:14b" }],
    ["ada@example.org", "chat", null, "tool.called", "write", "ok", "0195f3a0-0000-7000-8000-000000000101", { agent: "Bookkeeper", risk: "write", ms: 12 }],
    ["", "api", "198.51.100.7", "agents.create", "", "refused", null, { status: 401 }],
    ["steward", null, null, "credential.used", "0195f3a0-0000-7000-8000-000000000700", "ok", null, { tool: "web1" }],
  ].map(([actor, origin, address, action, target, result, run_id, detail], at) => ({ seq: at + 1, id: randomUUID(), at: Date.now() - (5 - at) * 60_000, actor, actor_id: null, origin, address, action, target, result, run_id, detail, hash: `${at + 1}f`.repeat(32) })).reverse();
const usageOf = (prompt_tokens, cached_tokens, completion_tokens, cost_micros) => ({ prompt_tokens, cached_tokens, completion_tokens, cost_micros });

/** A run with a deep plan that was made anew, answered by another connection than the first. `end`: whether it has ended. */
export function deep(id, start, connections, end) {
  const { events, add } = log(id, start);
  const [first, second] = connections;
  const input = "Collect the open invoices, write a reminder for each customer, and put a summary into reports/reminders.md.";
  const answered = (attempts) => ({ connection: second.id, name: second.name, model: second.model, strategy: "native", attempts });
  const step = (number, goal, more = {}) => ({ number, goal, ...more });
  add(0, { type: "run.started", v: 1, setup: setup({ input, deep: { max_steps: 6, style: "structured" }, reading: "any", route: { task: "tool_call", targets: [first.id, second.id], reason: "the primary connection, then the fallback chain, then the default" } }) });
  add(20, { type: "model.requested", step: 1, purpose: "deep", model: first.model, prompt_hash: "d1", prompt: [{ role: "user", text: input }], reserved: 2100 });
  add(1900, { type: "model.responded", step: 1, purpose: "deep", text: "[…]", calls: [], finish: "stop", usage: usageOf(900, 640, 210, 610), answered: answered([{ connection: first.id, class: "server", message: "503: model is loading", ms: 180 }, { connection: second.id, ms: 420 }]) });
  add(2, { type: "deep.planned", style: "structured", by: "model", notes: ["step 3 depended on a step that does not come before it"], steps: [
    step(1, "Collect the invoices that are open", { tool: "sql", expect: "customer, number and amount of each" }),
    step(2, "Draft a reminder for each customer", { tool: "mail_draft", depends_on: [1], risk: "two customers share a name; match them by number" }),
    step(3, "Write the summary", { tool: "write", depends_on: [1, 2], risk: "reports/reminders.md may be there; it is replaced after a question" }),
  ] });
  add(2, { type: "model.requested", step: 2, purpose: "reply", model: first.model, prompt_hash: "d2", prompt: [{ role: "user", text: input }], reserved: 3100 });
  add(900, { type: "model.responded", step: 2, purpose: "reply", text: "", calls: [{ id: "s2-1", name: "sql", arguments: { query: { from: "Invoice", where: "open" } }, source: "dialect", confidence: 0.95 }], finish: "stop", usage: usageOf(1400, 900, 60, 540), answered: answered([{ connection: second.id, ms: 390 }]) });
  add(2, { type: "tool.intent", call_id: "s2-1", tool: "sql", arguments: {}, args_hash: "a", effect: "read", idempotency_key: "k" });
  add(9, { type: "tool.result", call_id: "s2-1", tool: "sql", outcome: "error", message: "no such column: open; there are Status, DueDate", ms: 9 });
  add(1, { type: "deep.step", number: 1, status: "failed", why: "no such column: open; there are Status, DueDate", call_id: "s2-1" });
  add(1, { type: "deep.step", number: 2, status: "skipped", why: "it needs step 1" });
  add(1, { type: "deep.step", number: 3, status: "skipped", why: "it needs step 1" });
  add(2, { type: "deep.replanned", style: "structured", by: "model", reason: "the table has no column “open”; Status says it", steps: [
    step(1, "Collect the invoices whose Status is unpaid", { tool: "sql", expect: "at least one row" }),
    step(2, "Draft a reminder for each customer", { tool: "mail_draft", depends_on: [1], risk: "two customers share a name; match them by number" }),
    step(3, "Write the summary", { tool: "write", depends_on: [2] }),
  ] });
  add(2, { type: "tool.intent", call_id: "s3-1", tool: "sql", arguments: { query: { from: "Invoice", where: "Status = 'unpaid'" } }, args_hash: "b", effect: "read", idempotency_key: "k2" });
  add(9, { type: "tool.result", call_id: "s3-1", tool: "sql", outcome: "ok", content: "Harbour Coffee | 2026-118 | 412.75", ms: 9 });
  add(1, { type: "deep.step", number: 1, status: "done", call_id: "s3-1" });
  if (!end) {
    add(2, { type: "model.requested", step: 3, purpose: "reply", model: second.model, prompt_hash: "d3", prompt: [{ role: "user", text: input }], reserved: 3100 });
    return events;
  }
  add(1, { type: "deep.step", number: 2, status: "done" });
  add(1, { type: "deep.reminded", open: [3] });
  add(1, { type: "deep.step", number: 3, status: "skipped", why: "the user has the summary already" });
  add(3, { type: "run.finished", outcome: { status: "completed" }, answer: "One reminder is drafted for Harbour Coffee.", usage: usageOf(2300, 1540, 270, 1150), receipts: { verdict: "no-claims", claims: [] } });
  return events;
}
