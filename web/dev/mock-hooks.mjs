// Made-up answers for the page Webhooks. Filters aren't asked, and only whole values of the payload are filled in.
import { randomBytes, randomUUID } from "node:crypto";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const newSecret = ({ kind }) => (kind === "standard" ? `whsec_${randomBytes(32).toString("base64")}` : randomBytes(32).toString("hex"));
const kept = (secret, at = Date.now()) => ({ id: randomUUID(), hint: secret.slice(-4), created_at: at });
const filled = (request, payload, values) => request.replace(/\{\{\s*([^}]*?)\s*\}\}/g, (_, name) => {
  if (name === "payload") return JSON.stringify(payload, null, 2);
  if (!name.startsWith("payload.")) return values[name] ?? "";
  const found = name.slice(8).split(".").reduce((value, key) => value?.[key], payload);
  return typeof found === "string" ? found : JSON.stringify(found) ?? "";
});

export function routes({ ok, none, missing, problem, page, agents, me, uuid }) {
  const now = Date.now();
  const came = (n, at, more = {}) => ({ id: uuid(960 + n), event: `72d3162e-cc78-11e3-81ab-${n}c9367dc0958`, received_at: at, status: "started", reason: null, run_id: uuid(101), outcome: "completed", repeats: 0, bytes: 8_422, ...more });
  const made = (n, input, more = {}) => ({ id: uuid(950 + n), owner_id: me.id, owner: me.email, window_seconds: 300, event_id: null, filters: [], pause_after_failures: 5, failures: 0, pause: null, secrets: [kept("K7MDENGbPxRfi", now - 20 * DAY)], refused: null, may_change: true, created_at: now - 20 * DAY, updated_at: now - 2 * DAY, deleted_at: null, ...input, ...more });
  const hooks = [
    made(1, { name: "New issues", agent_id: agents[0].id, request: "Sort this new issue, and say who should look at it:\n{{payload.issue.title}}\n\n{{payload.issue.body}}", signing: { kind: "github" }, filters: [{ header: "x-github-event", equals: "issues" }, { pointer: "/action", one_of: ["opened", "reopened"] }] }, { secrets: [kept("8c1fa20d", now - 20 * DAY), kept("03be77aa", now - HOUR)] }),
    made(2, { name: "Payments", agent_id: agents[0].id, request: "Note this payment: {{payload.data.object.amount}} of {{payload.data.object.customer}}.", signing: { kind: "stripe" } }, { refused: { at: now - 7 * MINUTE, problem: "The signature doesn't match.", hint: "Copy the signing secret of this endpoint from Stripe, and add it under Secrets.", count: 12 } }),
    made(3, { name: "Alarms", agent_id: agents[0].id, request: "Look into this alarm:\n{{payload}}", signing: { kind: "token", header: "authorization" }, pause_after_failures: 3 }, { pause: { since: now - 5 * HOUR, reason: "failures", note: "3 runs failed one after the other; look at the last one, then resume it" }, failures: 3 }),
    made(4, { name: "Support channel", agent_id: agents[0].id, request: "Answer {{payload.event.text}}", signing: { kind: "slack" } }, { pause: { since: now - DAY, reason: "person", note: "Until the new team is there." }, owner: "grace@example.org", owner_id: uuid(2), may_change: false }),
  ];
  const history = new Map([
    [hooks[0].id, [came(1, now - 12_000, { status: "waiting", run_id: null, outcome: null }), came(2, now - 9 * MINUTE, { outcome: null }), came(3, now - 3 * HOUR, { repeats: 2 }), came(4, now - DAY, { status: "skipped", reason: "A filter wants the header `x-github-event` to be \"issues\", but it is ping.", run_id: null, outcome: null, bytes: 512 }), came(5, now - 2 * DAY, { outcome: "failed", event: `replay ${uuid(965)} of 72d3162e-cc78-11e3-81ab-4c9367dc0958` }), came(6, now - 9 * DAY, { status: "failed", reason: "There is no such agent; GET /api/agents tells which there are", run_id: null, outcome: null })]],
    [hooks[2].id, [came(7, now - 5 * HOUR, { outcome: "failed", event: uuid(967) }), came(8, now - 6 * HOUR, { status: "skipped", reason: "the webhook is paused", run_id: null, outcome: null })]],
  ]);
  const pastOf = (id) => history.get(id) ?? [];
  const BODY = JSON.stringify({ action: "opened", issue: { number: 1347, id: 2_463_810_172, title: "The harbour's clock is late", body: "Since the storm it is three minutes behind.", labels: [] }, sender: { login: "octocat" } });
  const HEADERS = { accept: "*/*", "content-type": "application/json", "user-agent": "GitHub-Hookshot/044aadd", "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958", "x-github-event": "issues" };
  const shown = (one) => ({ ...one, path: `/hooks/${one.id}`, agent: agents.find((agent) => agent.id === one.agent_id)?.name ?? null, last: pastOf(one.id)[0] ?? null });
  const found = (id, then) => { const one = hooks.find((other) => other.id === id); return one ? then(one) : missing("webhook"); };
  const changed = (id, change) => found(id, (one) => ok(shown(Object.assign(one, change, { updated_at: Date.now() }))));
  const delivery = (id, which, then) => found(id, (one) => { const it = pastOf(id).find((other) => other.id === which); return it ? then(one, it) : missing("delivery"); });
  const secretOf = (one, given) => { const secret = given ?? newSecret(one.signing); one.secrets = [...one.secrets, kept(secret)]; return ok({ hook: shown(one), secret }, 201); };
  const refusal = (body) => (/\{\{\s*issue/.test(body.request) ? problem(422, "`{{issue}}` is unknown.", "Did you mean `{{payload.issue}}`?", { field: "request" }) : null);
  return [
    ["GET", /^hooks$/, (_, query) => page(hooks.filter((one) => (one.deleted_at !== null) === (query.get("deleted") === "true") && (query.get("mine") !== "true" || one.may_change) && [null, one.agent_id].includes(query.get("agent_id"))).map(shown), query)],
    ["POST", /^hooks$/, (_, __, { secret, ...body }) => refusal(body) ?? (hooks.unshift(made(0, body, { id: randomUUID(), created_at: Date.now(), secrets: [] })), secretOf(hooks[0], secret))],
    ["GET", /^hooks\/([^/]+)$/, ([id]) => found(id, (one) => ok(shown(one)))],
    ["PUT", /^hooks\/([^/]+)$/, ([id], _, body) => refusal(body) ?? changed(id, body)],
    ["DELETE", /^hooks\/([^/]+)$/, ([id]) => found(id, (one) => ((one.deleted_at = Date.now()), none))],
    ["POST", /^hooks\/([^/]+)\/restore$/, ([id]) => changed(id, { deleted_at: null })],
    ["POST", /^hooks\/([^/]+)\/pause$/, ([id], _, body) => changed(id, { pause: { since: Date.now(), reason: "person", note: body.note ?? "" } })],
    ["POST", /^hooks\/([^/]+)\/resume$/, ([id]) => changed(id, { pause: null, failures: 0 })],
    ["POST", /^hooks\/([^/]+)\/secrets$/, ([id], _, body) => found(id, (one) => (one.secrets.length >= 5 ? problem(409, "it has 5 secrets, which is the limit", "remove one that senders don't use any more", { code: "too_many_secrets" }) : secretOf(one, body.secret)))],
    ["DELETE", /^hooks\/([^/]+)\/secrets\/([^/]+)$/, ([id, secret]) => found(id, (one) => changed(id, { secrets: one.secrets.filter((other) => other.id !== secret) }))],
    ["POST", /^hooks\/([^/]+)\/preview$/, ([id], _, { headers, body }) => found(id, (one) => {
      let payload = body === "" ? {} : { text: body };
      try { payload = JSON.parse(body); } catch { if ((headers["content-type"] ?? "").includes("json")) return problem(422, "The body isn't valid JSON: expected value at line 1 column 1.", "Send what the content type says; text is welcome, too, as `text/plain`.", { field: "body" }); }
      const event = headers["x-github-delivery"] ?? null;
      return ok({ starts: !one.pause, reason: one.pause ? "the webhook is paused" : null, event, request: filled(one.request, payload, { event: event ?? "", hook: one.name, received: new Date().toISOString(), ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`header.${name}`, value])) }) });
    })],
    ["GET", /^hooks\/([^/]+)\/deliveries$/, ([id], query) => found(id, () => page(pastOf(id), query))],
    ["GET", /^hooks\/([^/]+)\/deliveries\/([^/]+)$/, ([id, which]) => delivery(id, which, (_, it) => ok({ delivery: it, headers: it.received_at < now - 8 * DAY ? null : HEADERS, body: it.received_at < now - 8 * DAY ? null : BODY }))],
    ["POST", /^hooks\/([^/]+)\/deliveries\/([^/]+)\/replay$/, ([id, which]) => delivery(id, which, (_, it) => { const again = { ...it, id: randomUUID(), event: `replay ${uuid(969)} of ${it.event}`, received_at: Date.now(), repeats: 0, status: "started", run_id: uuid(101), outcome: "completed", reason: null }; history.set(id, [again, ...pastOf(id)]); return ok(again, 202); })],
  ];
}
