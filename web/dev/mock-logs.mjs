// Logs of made-up runs, as the engine writes them. Used by mock-pages.mjs.

/** Builds a log: `log(id, start)` gives `add(ms since the last event, body)` and `events`. */
export function log(run_id, start) {
  const events = [];
  let at = start;
  return {
    events,
    add(after, body) {
      at += after;
      events.push({ run_id, seq: events.length + 1, at, epoch: 1, ...body });
      return events.length;
    },
  };
}

export const BUDGET = { model_calls: 10, tool_calls: 40, wall_ms: 1_800_000, call_ms: 120_000, tokens: 400_000, cost_micros: 5_000_000, depth: 3 };
export const TOOLS = [
  ["list", "List the files and folders of a folder in the workspace.", "read", "read"],
  ["read", "Read a text file of the workspace, or some of its lines.", "read", "read"],
  ["grep", "Find lines that match a pattern in the files of the workspace.", "read", "read"],
  ["sql", "Ask a SQLite database of the workspace a question: tables, columns, rows.", "read", "read"],
  ["notes_list", "List the titles of all notes.", "read", "read"],
  ["notes_read", "Read a note.", "read", "read"],
  ["reminders_list", "List reminders that are due.", "read", "read"],
  ["write", "Create, overwrite or append to a text file in the workspace.", "write", "write"],
  ["notes_create", "Create a note or replace its text.", "write", "idempotent"],
  ["reminders_create", "Set a reminder for a day and time.", "write", "keyed"],
  ["save_memory", "Keep a fact about the user for later conversations.", "write", "idempotent"],
  ["mail_draft", "Write a mail as a draft file; it is not sent.", "write", "write"],
  ["web_fetch", "Fetch a page of the web as text.", "external", "read"],
  ["terminal", "Run one program of the allow list in the workspace.", "destructive", "write"],
  ["feedback", "Ask the user a question and wait for the answer.", "read", "read"],
  ["final_answer", "End with an answer.", "read", "read"],
].map(([name, description, risk, effect]) => ({ name, description, risk, effect, parameters: { type: "object", properties: { path: { type: "string" } } } }));

const SYSTEM = "You keep the books of a small company. Answer in the language of the request. Say only what a tool has shown.\n\nTools are listed with their arguments. Call a tool when the request needs one; else answer.";

export const setup = (more) => ({
  agent: { id: "a-books", name: "Bookkeeper", instructions: "You keep the books of a small company.\nAnswer in the language of the request.", tools: [] },
  tools: TOOLS, history: [], memory: "", mode: "loop", origin: "chat", asked_by: "ada@example.org", budget: BUDGET, grants: [],
  connection: "c-ollama", model: "qwen3:14b", capabilities: { strategy: "native", window: 32768, json_schema: true, scoring: false, plans: true, summarises: true, max_tools: 64 },
  intent_filter: true, workspace: "/home/ada/steward", ...more,
});

const usage = (prompt_tokens, cached_tokens, completion_tokens, cost_micros = 0) => ({ prompt_tokens, cached_tokens, completion_tokens, cost_micros });
const call = (id, name, args, source = "native", confidence = 1) => ({ id, name, arguments: args, source, confidence });

const SUMMARY = "# June 2026\n\n| Customer | Invoices | Total |\n|---|---:|---:|\n| Harbour Coffee | 4 | 1,284.50 |\n| Lindqvist & Co | 2 | 960.00 |\n| Nordwind GmbH | 3 | 412.75 |\n\nTotal: 2,657.25\n";
const DIFF = "--- a/reports/june.md\n+++ b/reports/june.md\n@@ -1,5 +1,9 @@\n # June 2026\n \n-| Customer | Total |\n-|---|---:|\n-| Harbour Coffee | 1,284.50 |\n+| Customer | Invoices | Total |\n+|---|---:|---:|\n+| Harbour Coffee | 4 | 1,284.50 |\n+| Lindqvist & Co | 2 | 960.00 |\n+| Nordwind GmbH | 3 | 412.75 |\n+\n+Total: 2,657.25\n";
export { DIFF };

/** A run with everything: filter, a failed call, reasoning, a repaired call, an approval, receipts. */
export function bookkeeping(id, start) {
  const { events, add } = log(id, start);
  const input = "Add up June's invoices by customer and put the result into reports/june.md. Remind me on Friday to send it.";
  const user = { role: "user", text: `[Now: 2026-07-01T08:12:00Z]\n\n${input}` };
  const system = { role: "system", text: SYSTEM };
  add(0, { type: "run.started", v: 1, setup: setup({ input }) });
  add(21, { type: "intent.filtered", kept: [{ tool: "sql", score: 0.82 }, { tool: "write", score: 0.77 }, { tool: "reminders_create", score: 0.71 }, { tool: "list", score: 0.42 }, { tool: "read", score: 0.39 }, { tool: "mail_draft", score: 0.22 }], offered: 16, wants_tool: true });
  add(4, { type: "model.requested", step: 1, purpose: "reply", model: "qwen3:14b", prompt_hash: "9f21c0d3a4be77", prompt: [system, user], reserved: 5200 });
  add(1400, { type: "model.failed", step: 1, purpose: "reply", error: { class: "server", message: "the endpoint answered 503", hint: "it is loading the model; the call is tried again", detail: "{\"error\":\"model is loading\"}" }, retry_at: start + 3400 });
  add(2000, { type: "model.requested", step: 2, purpose: "reply", model: "qwen3:14b", prompt_hash: "9f21c0d3a4be77", prompt: [system, user], reserved: 5200 });
  add(340, { type: "model.delta", step: 2, purpose: "reply", reasoning: "The invoices are in chinook.db. I need the sum per customer for June, " });
  add(260, { type: "model.delta", step: 2, purpose: "reply", reasoning: "then write the file. First the query." });
  const sql = call("s2-1", "sql", { query: { from: "Invoice", sum: "Total", by: "Customer", where: "InvoiceDate like '2026-06%'" } });
  add(900, { type: "model.responded", step: 2, purpose: "reply", text: "", raw: "<think>The invoices are in chinook.db. I need the sum per customer for June, then write the file. First the query.</think>\n<tool_call>\n{\"name\": \"sql\", \"arguments\": {\"query\": {\"from\": \"Invoice\", \"sum\": \"Total\", \"by\": \"Customer\", \"where\": \"InvoiceDate like '2026-06%'\"}}}\n</tool_call>", reasoning: "The invoices are in chinook.db. I need the sum per customer for June, then write the file. First the query.", calls: [sql], finish: "tool_calls", usage: usage(1180, 0, 96) });
  add(3, { type: "tool.intent", call_id: "s2-1", tool: "sql", arguments: sql.arguments, args_hash: "b0c4e1", effect: "read", idempotency_key: "0195-s2-1" });
  const rows = "Customer | Invoices | Total\nHarbour Coffee | 4 | 1284.50\nLindqvist & Co | 2 | 960.00\nNordwind GmbH | 3 | 412.75";
  add(12, { type: "tool.result", call_id: "s2-1", tool: "sql", outcome: "ok", content: rows, data: { columns: ["Customer", "Invoices", "Total"], rows: [["Harbour Coffee", 4, 1284.5], ["Lindqvist & Co", 2, 960], ["Nordwind GmbH", 3, 412.75]], count: 3 }, ms: 12 });
  const second = [system, user, { role: "assistant", text: "", tool_calls: [sql] }, { role: "tool", text: rows, tool_call_id: "s2-1" }];
  add(2, { type: "model.requested", step: 3, purpose: "reply", model: "qwen3:14b", prompt_hash: "41aa0be1", prompt: second, reserved: 5400 });
  add(210, { type: "model.delta", step: 3, purpose: "reply", text: "Three customers. " });
  const write = call("s3-1", "write", { path: "reports/june.md", content: SUMMARY, mode: "overwrite" }, "repaired", 0.93);
  const remind = call("s3-2", "reminders_create", { when: "2026-07-03T09:00", text: "Send reports/june.md" });
  add(2400, { type: "model.responded", step: 3, purpose: "reply", text: "Three customers. I write the report and set the reminder.", raw: "Three customers. I write the report and set the reminder.\n<tool_call>{\"name\": \"write\", \"arguments\": {\"path\": \"reports/june.md\", …", reasoning: "", calls: [write, remind], diagnostics: ["JSON of call 1 ended without `}`: closed", "call 1: `mode` was \"Overwrite\": taken as \"overwrite\""], finish: "tool_calls", usage: usage(1420, 1180, 310) });
  add(6, { type: "approval.requested", approval_id: "ap-done-1", subject: { kind: "call", call_id: "s3-1", tool: "write", arguments: write.arguments, args_hash: "77de01", risk: "write", preview: { summary: "overwrites reports/june.md (78 bytes) with 174 bytes", detail: DIFF, count: 1, reversible: true } } });
  add(95_000, { type: "approval.decided", approval_id: "ap-done-1", answer: { decision: "approve", grant: { kind: "tool", name: "write" } }, by: "ada@example.org" });
  add(2, { type: "tool.intent", call_id: "s3-1", tool: "write", arguments: write.arguments, args_hash: "77de01", effect: "write", idempotency_key: "0195-s3-1" });
  add(8, { type: "tool.result", call_id: "s3-1", tool: "write", outcome: "ok", content: "overwrote reports/june.md (174 bytes)", receipt: { action: "overwrote", object: "reports/june.md", evidence: "sha256:6b1f0c9fe2a4d5578a0f3c" }, undo: { kind: "snapshot", tool: "write", snapshot: {} }, ms: 8 });
  add(2, { type: "tool.intent", call_id: "s3-2", tool: "reminders_create", arguments: remind.arguments, args_hash: "ef8810", effect: "keyed", idempotency_key: "0195-s3-2" });
  add(5, { type: "tool.result", call_id: "s3-2", tool: "reminders_create", outcome: "ok", content: "reminder set for Friday 09:00", receipt: { action: "created", object: "reminder for Fri 3 Jul 09:00: Send reports/june.md", evidence: "0195f0aa" }, undo: { kind: "snapshot", tool: "reminders_create", snapshot: {} }, ms: 5 });
  add(2, { type: "model.requested", step: 4, purpose: "reply", model: "qwen3:14b", prompt_hash: "c310ff", prompt: [...second, { role: "assistant", text: "Three customers. I write the report and set the reminder.", tool_calls: [write, remind] }, { role: "tool", text: "overwrote reports/june.md (174 bytes)", tool_call_id: "s3-1" }, { role: "tool", text: "reminder set for Friday 09:00", tool_call_id: "s3-2" }], reserved: 5600 });
  const answer = "June comes to **2,657.25** over nine invoices – Harbour Coffee is the largest with 1,284.50.\n\nI wrote the table to reports/june.md and set a reminder for Friday at 09:00.";
  add(190, { type: "model.delta", step: 4, purpose: "reply", text: answer.slice(0, 90) });
  add(400, { type: "model.delta", step: 4, purpose: "reply", text: answer.slice(90) });
  add(120, { type: "model.responded", step: 4, purpose: "reply", text: answer, calls: [], finish: "stop", usage: usage(1690, 1420, 58) });
  add(3, { type: "run.finished", outcome: { status: "completed" }, answer, usage: usage(4290, 2600, 464), receipts: { verdict: "verified", claims: [claim(answer, "I wrote the table to reports/june.md", "write", ["s3-1"], "write overwrote reports/june.md"), claim(answer, "set a reminder for Friday at 09:00", "remind", ["s3-2"], "reminders_create created a reminder for Fri 3 Jul 09:00")] } });
  return events;
}

const bytes = (text) => Buffer.byteLength(text, "utf8");
export function claim(answer, text, action, calls, why) {
  const start = bytes(answer.slice(0, answer.indexOf(text)));
  return { text, start, end: start + bytes(text), action, calls, why };
}

/** A plan with three candidates; refused a step, answer claims too much. */
export function planned(id, start, decided = true) {
  const { events, add } = log(id, start);
  const input = "Räume die alten Protokolle auf und schreibe eine Notiz, was übrig ist.";
  add(0, { type: "run.started", v: 1, setup: setup({ input, mode: "plan", origin: "schedule", started_by: { kind: "occurrence", schedule: "0195f3a0-0000-7000-8000-000000000901", nominal: start, by_hand: false }, asked_by: "nightly", model: "smollm2-135m", connection: "c-local" }) });
  add(30, { type: "intent.filtered", kept: [{ tool: "list", score: 0.74 }, { tool: "terminal", score: 0.69 }, { tool: "notes_create", score: 0.66 }], offered: 16, wants_tool: true });
  add(5, { type: "model.requested", step: 1, purpose: "plan", model: "smollm2-135m", prompt_hash: "aa01", prompt: [{ role: "system", text: SYSTEM }, { role: "user", text: input }], reserved: 3100 });
  add(3800, { type: "model.responded", step: 1, purpose: "plan", text: "[{\"thought\":\"Erst sehen, was da ist\",\"tool\":\"list\",\"args\":{\"path\":\"logs\"}}, …]", calls: [], finish: "stop", usage: usage(890, 512, 160) });
  const steps = [
    { tool: "list", args: { path: "logs" }, thought: "Erst sehen, was da ist" },
    { tool: "terminal", args: { argv: ["rm", "logs/app-2025-11.log", "logs/app-2025-12.log"] }, thought: "Älter als sechs Monate" },
    { tool: "notes_create", args: { title: "Protokolle", text: "" }, thought: "Text aus dem, was übrig ist" },
    { tool: "final_answer", args: { text: "" }, thought: "Zusammenfassen" },
  ];
  const score = (total, late) => ({ length: 0.8, known_tools: 1, valid_arguments: late ? 1 : 0.67, effects_late: late ? 1 : 0, ends: 1, fit: 0.61, total });
  add(6, { type: "plan.proposed", candidates: [{ plan: steps, score: score(0.86, true) }, { plan: [steps[1], steps[0], steps[3]], score: score(0.63, false) }, { plan: [steps[0], steps[3]], score: { ...score(0.58, true), fit: 0.22 } }], by: "model", notes: ["candidate 4 named the tool `delete`, which does not exist: left out"] });
  add(2, { type: "approval.requested", approval_id: decided ? "ap-done-2" : "ap-plan", subject: planSubject });
  if (!decided) return events;
  add(36_000_000, { type: "approval.decided", approval_id: "ap-done-2", answer: { decision: "approve" }, by: "Grace Hopper" });
  add(2, { type: "tool.intent", call_id: "plan-1-1", tool: "list", arguments: steps[0].args, args_hash: "01", effect: "read", idempotency_key: "k1" });
  add(3, { type: "tool.result", call_id: "plan-1-1", tool: "list", outcome: "ok", content: "app-2025-11.log\napp-2025-12.log\napp-2026-05.log\napp-2026-06.log", ms: 3 });
  add(2, { type: "approval.requested", approval_id: "ap-done-3", subject: { kind: "call", call_id: "plan-1-2", tool: "terminal", arguments: steps[1].args, args_hash: "02", risk: "destructive", preview: { summary: "runs a command that may change files; not undoable", detail: "rm logs/app-2025-11.log logs/app-2025-12.log", count: 2, reversible: false } } });
  add(50_000, { type: "approval.decided", approval_id: "ap-done-3", answer: { decision: "deny", reason: "keep them until the audit" }, by: "Grace Hopper" });
  const answer = "Ich habe die beiden alten Protokolle gelöscht. Übrig sind app-2026-05.log und app-2026-06.log.";
  add(3, { type: "model.requested", step: 2, purpose: "answer", model: "smollm2-135m", prompt_hash: "aa02", prompt: [{ role: "user", text: input }], reserved: 900 });
  add(1900, { type: "model.responded", step: 2, purpose: "answer", text: answer, calls: [], finish: "stop", usage: usage(640, 320, 40) });
  add(2, { type: "run.finished", outcome: { status: "completed" }, answer, usage: usage(1530, 832, 200), receipts: { verdict: "unverified", claims: [claim(answer, "Ich habe die beiden alten Protokolle gelöscht", "delete", [], "no call that deletes has succeeded; `terminal` was denied by a person")] } });
  return events;
}

export const planSubject = {
  kind: "plan", plan_hash: "5f0e", previews: [
    { step: 1, risk: "destructive", preview: { summary: "runs a command that may change files; not undoable", detail: "rm logs/app-2025-11.log logs/app-2025-12.log", count: 2, reversible: false } },
    { step: 2, risk: "write", preview: { summary: "creates the note Protokolle", reversible: true } },
  ],
};
export const planSteps = [
  { tool: "list", args: { path: "logs" }, thought: "Erst sehen, was da ist" },
  { tool: "terminal", args: { argv: ["rm", "logs/app-2025-11.log", "logs/app-2025-12.log"] }, thought: "Älter als sechs Monate" },
  { tool: "notes_create", args: { title: "Protokolle", text: "" }, thought: "Text aus dem, was übrig ist" },
  { tool: "final_answer", args: { text: "" }, thought: "Zusammenfassen" },
];

/** A run at work, cut off in the middle of a reply. */
export function atWork(id, start) {
  const { events, add } = log(id, start);
  const input = "Compare the June report with May and tell me what stands out.";
  add(0, { type: "run.started", v: 1, setup: setup({ input }) });
  add(18, { type: "intent.filtered", kept: [{ tool: "read", score: 0.8 }, { tool: "list", score: 0.4 }], offered: 16, wants_tool: true });
  const read = call("s1-1", "read", { path: "reports/june.md" });
  add(3, { type: "model.requested", step: 1, purpose: "reply", model: "qwen3:14b", prompt_hash: "77", prompt: [{ role: "system", text: SYSTEM }, { role: "user", text: input }], reserved: 4800 });
  add(1700, { type: "model.responded", step: 1, purpose: "reply", text: "", calls: [read], finish: "tool_calls", usage: usage(1090, 1024, 40) });
  add(2, { type: "tool.intent", call_id: "s1-1", tool: "read", arguments: read.arguments, args_hash: "r1", effect: "read", idempotency_key: "k" });
  add(4, { type: "tool.result", call_id: "s1-1", tool: "read", outcome: "ok", content: SUMMARY, origins: ["uploads/summary.md"], ms: 4 });
  add(2, { type: "model.requested", step: 2, purpose: "reply", model: "qwen3:14b", prompt_hash: "78", prompt: [{ role: "user", text: input }], reserved: 5100 });
  add(300, { type: "model.delta", step: 2, purpose: "reply", text: "June is up by " });
  return events;
}

/** A run that waits at a call. */
export function waiting(id, start, approval, subject) {
  const { events, add } = log(id, start);
  add(0, { type: "run.started", v: 1, setup: setup({ input: "…" }) });
  add(10, { type: "model.requested", step: 1, purpose: "reply", model: "qwen3:14b", prompt_hash: "a", prompt: [{ role: "user", text: "…" }], reserved: 4000 });
  add(1500, { type: "model.responded", step: 1, purpose: "reply", text: "", calls: subject.call_id ? [call(subject.call_id, subject.tool ?? "feedback", subject.arguments ?? { question: subject.text })] : [], finish: "tool_calls", usage: usage(900, 0, 80) });
  if (subject.kind === "uncertain") {
    add(2, { type: "tool.intent", call_id: subject.call_id, tool: subject.tool, arguments: subject.arguments, args_hash: "u", effect: "write", idempotency_key: "k" });
    add(40_000, { type: "run.resumed", node: "ada-laptop" });
    add(1, { type: "tool.uncertain", call_id: subject.call_id, tool: subject.tool });
  }
  add(4, { type: "approval.requested", approval_id: approval, subject });
  return events;
}
