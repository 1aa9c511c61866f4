// Event logs that the mock plays, with pauses in ms before each event. Written by hand after real ones.
const AGENT = "11111111-1111-4111-8111-111111111111";
export const agents = [
  { id: AGENT, name: "steward", instructions: "You are Steward, an assistant that does real work with the tools you have." },
  { id: "22222222-2222-4222-8222-222222222222", name: "release notes", instructions: "You read the changes since the last tag and write release notes that a user understands." },
].map((agent) => ({ ...agent, tools: [], skills: [], connection: null, policy: { read: "allow", write: "ask", external: "ask", destructive: "ask", tools: {} }, budget: "agent", tuning: { temperature: 0.2, max_tokens: 4096, timeout_ms: 300000 } }));

const tools = [["list", "read"], ["read", "read"], ["grep", "read"], ["write", "write"], ["sql", "read"], ["web_fetch", "external"], ["terminal", "destructive"], ["feedback", "read"], ["notes_create", "write"]].map(([name, risk]) => ({ name, risk, effect: risk === "read" ? "read" : "write", description: `The tool ${name}.`, parameters: { type: "object" } }));
export const toolSpecs = tools;
const usage = (prompt, completion, cached = 0, cost = 0) => ({ prompt_tokens: prompt, completion_tokens: completion, cached_tokens: cached, cost_micros: cost });

const start = (input, mode = "loop", extra = {}) => [0, { type: "run.started", v: 1, setup: { agent: agents[0], tools, conversation: null, history: [], memory: "", input, mode, origin: "chat", asked_by: "ada@example.org", budget: {}, grants: [], connection: "c1", model: "qwen3-coder-30b", capabilities: {}, intent_filter: true, workspace: "workspace", ...extra } }];
const words = (text, step, field = "text", purpose = "reply", pause = 28) => text.match(/\S+\s*|\s+/g).map((piece) => [pause, { type: "model.delta", step, purpose, [field]: piece }]);
const ask = (step, purpose = "reply") => [120, { type: "model.requested", step, purpose, model: "qwen3-coder-30b", prompt_hash: "h", prompt: [], reserved: 4096 }];
const said = (step, text, calls = [], purpose = "reply", reasoning = "") => [60, { type: "model.responded", step, purpose, text, reasoning, calls, finish: calls.length ? "tool_calls" : "stop", usage: usage(1840 + step * 310, 96 + text.length / 4 | 0, 1536, 2140) }];
const call = (id, name, args) => ({ id, name, arguments: args, source: "native", confidence: 1 });
const intent = (id, tool, args, effect = "read") => [80, { type: "tool.intent", call_id: id, tool, arguments: args, args_hash: "0", effect, idempotency_key: `k:${id}` }];
const result = (id, tool, content, more = {}, pause = 240, ms = 12) => [pause, { type: "tool.result", call_id: id, tool, outcome: "ok", content, truncated: false, ms, ...more }];
const end = (answer, receipts, outcome = { status: "completed" }, more = {}) => [80, { type: "run.finished", outcome, answer, usage: usage(4300, 420, 3072, 6420), receipts, ...more }];
const bytes = (text) => Buffer.byteLength(text);
const claim = (answer, text, action, calls, why) => ({ text, start: bytes(answer.slice(0, answer.indexOf(text))), end: bytes(answer.slice(0, answer.indexOf(text) + text.length)), action, calls, why });

const answerLoop = `The five slowest routes of the last hour, from \`logs/app.log\`:

| Route | Requests | p95 |
|---|---:|---:|
| \`/api/report\` | 214 | 1,840 ms |
| \`/api/search\` | 3,120 | 910 ms |
| \`/api/export\` | 42 | 760 ms |

Both slow ones wait for the same query. This index would help:

\`\`\`sql
CREATE INDEX CONCURRENTLY report_by_day
    ON report (customer_id, day DESC)
 WHERE archived = false; -- about 40 s on this table
\`\`\`

I have written the findings to \`notes/slow-routes.md\`. I also restarted the service – it is healthy again.

1. Run the index at a quiet hour.
2. Watch the p95 of \`/api/report\` for a day.`;

/** The loop with reasoning, reading, an approved write, claims. */
export const loop = (input) => ({
  events: [
    start(input),
    [200, { type: "intent.filtered", kept: [{ tool: "grep", score: 0.71 }, { tool: "read", score: 0.66 }, { tool: "sql", score: 0.4 }], offered: 16, wants_tool: true }],
    ask(1), ...words("The user wants the slowest routes. The log has a duration at the end of each line, so I look at its form first, then count by route. I should not guess any number.", 1, "reasoning"),
    said(1, "I'll look at the log first.", [call("c1", "grep", { pattern: "duration_ms=[0-9]{3,}", path: "logs/app.log" }), call("c2", "read", { path: "logs/app.log", lines: 40 })], "reply", "The user wants the slowest routes. The log has a duration at the end of each line, so I look at its form first, then count by route. I should not guess any number."),
    intent("c1", "grep", { pattern: "duration_ms=[0-9]{3,}", path: "logs/app.log" }), result("c1", "grep", "12:01:03 GET /api/report duration_ms=1840\n12:01:09 GET /api/search duration_ms=910\n12:02:41 GET /api/export duration_ms=760", {}, 900, 31),
    intent("c2", "read", { path: "logs/app.log", lines: 40 }), result("c2", "read", "12:00:00 INFO start\n12:00:01 INFO ready", { origins: ["uploads/app.log"] }, 500, 4),
    ask(2), ...words("Writing this down so that the next shift finds it.", 2),
    said(2, "Writing this down so that the next shift finds it.", [call("c3", "write", { path: "notes/slow-routes.md", content: "# Slow routes\n\n- /api/report 1840 ms\n", mode: "create" })]),
    ["ask", { kind: "call", call_id: "c3", tool: "write", arguments: { path: "notes/slow-routes.md", content: "# Slow routes\n\n- /api/report 1840 ms\n- /api/search 910 ms\n", mode: "create" }, args_hash: "ab", risk: "write", preview: { summary: "creates notes/slow-routes.md (63 bytes)", detail: "--- /dev/null\n+++ notes/slow-routes.md\n@@ -0,0 +1,4 @@\n+# Slow routes\n+\n+- /api/report 1840 ms\n+- /api/search 910 ms\n", count: 1, reversible: true } }],
    intent("c3", "write", { path: "notes/slow-routes.md", content: "# Slow routes\n", mode: "create" }, "write"),
    result("c3", "write", "created notes/slow-routes.md (63 bytes)", { receipt: { action: "created", object: "notes/slow-routes.md", evidence: "sha256:00458e0b9cadf43d" }, undo: { kind: "snapshot", tool: "write", snapshot: {} } }, 160, 2),
    ask(3), ...words(answerLoop, 3), said(3, answerLoop),
    end(answerLoop, { verdict: "unverified", claims: [claim(answerLoop, "I have written the findings to `notes/slow-routes.md`.", "write", ["c3"], "write created notes/slow-routes.md"), claim(answerLoop, "I also restarted the service", "run", [], "no tool of this run started or restarted anything")] }),
  ],
  denied: [ask(4), ...words("All right, I leave the note out. The slowest route is `/api/report` with 1,840 ms.", 4), said(4, "All right, I leave the note out. The slowest route is `/api/report` with 1,840 ms."), end("All right, I leave the note out. The slowest route is `/api/report` with 1,840 ms.", { verdict: "no-claims", claims: [] })],
});

const score = (total, fit) => ({ length: 1, known_tools: 1, valid_arguments: 1, effects_late: 1, ends: 1, fit, total });
const planned = [
  { tool: "sql", args: { database: "chinook.db", query: { from: "album", select: [{ aggregate: "count" }] } }, thought: "count the albums by artist" },
  { tool: "read", args: { path: "notes/handover.md" }, thought: "see what the hand-over says so far" },
  { tool: "write", args: { path: "notes/handover.md", content: "", mode: "append" }, thought: "add the counts, filled from step 1" },
  { tool: "final_answer", args: { text: "" }, thought: "sum up" },
];
const planText = JSON.stringify(planned);
const diff = "--- notes/handover.md\n+++ notes/handover.md\n@@ -12,3 +12,5 @@\n - backups checked\n - certificates until March\n+\n+Albums: 347 by 204 artists (Iron Maiden 21, Led Zeppelin 14).\n";
export const plan = (input) => ({
  events: [
    start(input, "plan"),
    [200, { type: "intent.filtered", kept: [{ tool: "sql", score: 0.8 }], offered: 16, wants_tool: true }],
    ask(1, "plan"), ...(planText.match(/.{1,14}/gs) ?? []).map((text) => [40, { type: "model.delta", step: 1, purpose: "plan", text }]),
    said(1, planText, [], "plan"),
    [60, { type: "plan.proposed", by: "model", candidates: [{ plan: planned, score: score(0.97, 0.95) }, { plan: [planned[0], planned[3]], score: score(0.81, 0.62) }, { plan: [planned[1], planned[2], planned[3]], score: score(0.64, 0.4) }] }],
    ["ask", { kind: "plan", plan_hash: "p", previews: [{ step: 2, risk: "write", preview: { summary: "adds 2 lines to notes/handover.md (511 bytes)", detail: diff, count: 1, reversible: true } }] }],
    intent("plan-1-1", "sql", planned[0].args), result("plan-1-1", "sql", "artist | count\nIron Maiden | 21", { data: { columns: ["artist", "albums"], rows: [["Iron Maiden", 21], ["Led Zeppelin", 14], ["Deep Purple", 11]] } }, 500, 4),
    intent("plan-1-2", "read", planned[1].args), result("plan-1-2", "read", "- backups checked\n- certificates until March", {}, 300, 1),
    ask(2, "fill"), said(2, "", [], "fill"), [60, { type: "plan.filled", index: 2, arguments: { Ok: { path: "notes/handover.md", content: "Albums: 347 by 204 artists (Iron Maiden 21, Led Zeppelin 14).", mode: "append" } } }],
    intent("plan-1-3", "write", { ...planned[2].args, content: "Albums: 347 by 204 artists." }, "write"), result("plan-1-3", "write", "appended 62 bytes", { receipt: { action: "appended", object: "notes/handover.md", evidence: "sha256:77aa" }, undo: { kind: "snapshot", tool: "write", snapshot: {} } }, 200, 1),
    ask(3, "answer"), ...words("The database holds 347 albums by 204 artists. I have added the counts to `notes/handover.md`.", 3, "text", "answer"), said(3, "The database holds 347 albums by 204 artists. I have added the counts to `notes/handover.md`.", [], "answer"),
    end("The database holds 347 albums by 204 artists. I have added the counts to `notes/handover.md`.", { verdict: "verified", claims: [claim("The database holds 347 albums by 204 artists. I have added the counts to `notes/handover.md`.", "I have added the counts to `notes/handover.md`.", "write", ["plan-1-3"], "write appended notes/handover.md")] }),
  ],
  denied: [end("", null, { status: "rejected" })],
});

/** The built-in small model: a plan by intent, an answer put together. */
export const small = (input) => ({
  events: [
    start(input, "loop", { model: "models/SmolLM2-135M-Instruct.Q4_1.gguf" }),
    [700, { type: "intent.filtered", kept: [{ tool: "sql", score: 0.68 }], offered: 16, wants_tool: true }],
    [60, { type: "plan.proposed", by: "intent", candidates: [{ plan: [planned[0], planned[3]], score: score(0.996, 0.987) }, { plan: [planned[1], planned[3]], score: score(0.97, 0.91) }] }],
    intent("plan-1-1", "sql", planned[0].args), result("plan-1-1", "sql", "count\n21\n(1 row)", { data: { columns: ["count"], rows: [[21]] } }, 50, 4),
    end('[sql — database: chinook.db, query: {"from":"album","select":[{"aggregate":"count"}],"where":[{"column":"name","tabl\n[truncated: 46 chars omitted]]\ncount\n21\n(1 row)', { verdict: "no-claims" }, { status: "completed" }, { composed: true, usage: usage(0, 0) }),
  ],
  denied: [],
});

export const question = (input) => ({
  events: [
    start(input), ask(1), said(1, "", [call("q1", "feedback", { question: "Which environment: staging or production?" })]),
    ["ask", { kind: "question", call_id: "q1", text: "Which environment do you mean: staging or production?" }],
    result("q1", "feedback", "staging", {}, 40, 0), ask(2), ...words("Then it is staging: version 4.2.1, deployed this morning.", 2), said(2, "Then it is staging: version 4.2.1, deployed this morning."),
    end("Then it is staging: version 4.2.1, deployed this morning.", { verdict: "no-claims" }),
  ],
  denied: [end("I can't say without knowing which environment.", { verdict: "no-claims" })],
});

export const uncertain = (input) => ({
  events: [
    start(input), ask(1), said(1, "", [call("u1", "terminal", { command: "systemctl restart report" })]), intent("u1", "terminal", { command: "systemctl restart report" }, "write"),
    [500, { type: "run.resumed", node: "srv-1" }], [40, { type: "tool.uncertain", call_id: "u1", tool: "terminal" }],
    ["ask", { kind: "uncertain", call_id: "u1", tool: "terminal", arguments: { command: "systemctl restart report" } }],
    ask(2), said(2, "The service runs again."), end("The service runs again.", { verdict: "no-claims" }),
  ],
  denied: [],
});

export const failing = (input) => ({
  events: [
    start(input), ask(1), [700, { type: "model.failed", step: 1, purpose: "reply", error: { class: "rate_limit", message: "the model's server is busy (429)" }, retry_at: Date.now() + 2000 }],
    [2000, ask(2)[1]], [500, { type: "model.failed", step: 2, purpose: "reply", error: { class: "auth", message: "the key in OPENAI_API_KEY was refused (401)" } }],
    end("", null, { status: "failed", message: "the key in OPENAI_API_KEY was refused (401): set a valid key and start again" }),
  ],
  denied: [],
});

const long = Array.from({ length: 60 }, (_, i) => `Paragraph ${i + 1}: the log of a run is append-only, and what you see is a fold of it, so a reload in the middle goes on exactly where it was.`).join("\n\n");
export const slow = (input) => ({ events: [start(input), ask(1), ...words(long, 1, "text", "reply", 45), said(1, long), end(long, { verdict: "no-claims" })], denied: [] });

/** Which log a message gets. */
export const scriptFor = (message, mode) =>
  /question|which env/i.test(message) ? question(message) : /uncertain|restart/i.test(message) ? uncertain(message) : /fail/i.test(message) ? failing(message) : /long|slow text/i.test(message) ? slow(message) : /albums|rows/i.test(message) && mode === "loop" ? small(message) : mode !== "loop" || /plan/i.test(message) ? plan(message) : loop(message);
