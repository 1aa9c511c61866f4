// Made-up answers for the page Schedules. Words are not really read: a few are known, others are asked back.
import { randomUUID } from "node:crypto";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const WORKDAYS = { kind: "cron", expression: "0 8 * * MON-FRI" };

/** The next `count` times after `from`, by UTC: enough to look at. */
function timesOf({ timing }, from, count) {
  if (timing.kind === "interval") return Array.from({ length: count }, (_, n) => (Math.floor(from / (timing.every_seconds * 1000)) + n + 1) * timing.every_seconds * 1000);
  if (timing.kind === "once") return [Date.parse(timing.at.length > 19 ? timing.at : `${timing.at}Z`)].filter((at) => at > from);
  const days = Array.from({ length: 4 * count }, (_, n) => Math.floor(from / DAY) * DAY + n * DAY + 8 * HOUR);
  return days.filter((at) => at > from && ![0, 6].includes(new Date(at).getUTCDay())).slice(0, count);
}
const said = ({ timing, zone }, german) => {
  if (timing.kind === "interval") return german ? `alle ${timing.every_seconds} Sekunden in ${zone}` : `every ${timing.every_seconds} seconds in ${zone}`;
  if (timing.kind === "once") return german ? `einmal, am ${timing.at.replace("T", " um ")} in ${zone}` : `once, on ${timing.at.replace("T", " at ")} in ${zone}`;
  return german ? `jeden Werktag (Montag bis Freitag) um 08:00 in ${zone}` : `every weekday (Monday to Friday) at 08:00 in ${zone}`;
};

function previewOf({ words, when, zone = "UTC", language }) {
  const german = language === "de";
  const found = when ?? (/\d/.test(words) ? { timing: /second|sekunde/.test(words) ? { kind: "interval", every_seconds: 30 } : WORKDAYS, zone, jitter_seconds: 0 } : null);
  if (!found) {
    const at = (hour) => ({ timing: { kind: "cron", expression: `0 ${hour} * * MON-FRI` }, zone, jitter_seconds: 0 });
    const choices = [8, 12, 18].map((hour) => ({ when: at(hour), description: german ? `jeden Werktag um ${hour}:00` : `every weekday at ${hour}:00` }));
    return { when: null, description: "", clock_changes: "", next: [], question: { about: "time_missing", text: german ? "Um wie viel Uhr?" : "At what time?", choices } };
  }
  const next = timesOf(found, Date.now(), 5).map((at, n) => ({ nominal: at, due: at, shown: `${new Date(at).toISOString().slice(0, 19)}+00:00`, change: n === 2 ? "after_gap" : "none" }));
  return { when: found, description: said(found, german), clock_changes: german ? `Die Uhren in ${found.zone} werden nicht umgestellt.` : `The clocks in ${found.zone} don't change.`, next, question: null };
}

export function routes({ ok, none, missing, problem, page, agents, me, uuid }) {
  const now = Date.now();
  const happened = (at, more = {}) => ({ nominal: at, due: at, by_hand: false, status: "ran", reason: null, joined: null, run_id: uuid(101), outcome: "completed", settled_at: at, ...more });
  const made = (n, input, more = {}) => ({ id: uuid(900 + n), owner_id: me.id, owner: me.email, missed: { kind: "once" }, overlap: "skip", grace_seconds: 60, pause_after_failures: 5, failures: 0, pause: null, may_change: true, created_at: now - 30 * DAY, updated_at: now - 2 * DAY, deleted_at: null, ...input, ...more });
  const schedules = [
    made(1, { name: "Morning report", agent_id: agents[0].id, request: "Write the report for {{date}} into reports/{{date}}.md.", when: { timing: WORKDAYS, zone: "Europe/Berlin", jitter_seconds: 0 } }),
    made(2, { name: "Open invoices", agent_id: agents[0].id, request: "List the invoices that are overdue.", when: { timing: { kind: "interval", every_seconds: 5_400 }, zone: "Europe/Berlin", jitter_seconds: 60 } }, { pause: { since: now - 5 * HOUR, reason: "failures", note: "" }, failures: 5 }),
    made(3, { name: "Year-end numbers", agent_id: agents[0].id, request: "Add up the year.", when: { timing: { kind: "once", at: "2099-12-31T18:00" }, zone: "Asia/Tokyo", jitter_seconds: 0 } }, { pause: { since: now - DAY, reason: "person", note: "The books are not closed yet." }, owner: "grace@example.org", owner_id: uuid(2), may_change: false }),
  ];
  const history = new Map([
    [schedules[0].id, [happened(now - 3 * HOUR, { by_hand: true }), happened(now - DAY), happened(now - 2 * DAY, { outcome: "failed" }), happened(now - 3 * DAY, { status: "skipped", reason: "still_running", run_id: null, outcome: null }), happened(now - 4 * DAY, { status: "missed", reason: "not_caught_up", run_id: null, outcome: null })]],
    [schedules[1].id, [happened(now - 6 * HOUR, { outcome: "failed" })]],
  ]);
  const pastOf = (id) => history.get(id) ?? [];
  const planned = (one) => (one.pause || one.deleted_at ? [] : timesOf(one.when, Date.now(), 1).map((at) => happened(at, { status: "planned", run_id: null, outcome: null, settled_at: null })));
  const shown = (one, query) => ({ ...one, agent: agents.find((agent) => agent.id === one.agent_id)?.name ?? null, description: said(one.when, query.get("language") === "de"), next_at: planned(one)[0]?.due ?? null, last: pastOf(one.id)[0] ?? null });
  const found = (id, then) => { const one = schedules.find((other) => other.id === id); return one ? then(one) : missing("schedule"); };
  const changed = (id, query, change) => found(id, (one) => ok(shown(Object.assign(one, change, { updated_at: Date.now() }), query)));
  return [
    ["POST", /^schedules\/preview$/, (_, __, body) => (body.when?.timing.kind === "cron" && body.when.timing.expression.trim().split(/\s+/).length < 5 ? problem(422, "cron: it has too few fields", "write five, such as 0 8 * * MON-FRI", { field: "when" }) : ok(previewOf(body)))],
    ["GET", /^schedules$/, (_, query) => page(schedules.filter((one) => (one.deleted_at !== null) === (query.get("deleted") === "true") && (query.get("mine") !== "true" || one.may_change) && [null, one.agent_id].includes(query.get("agent_id"))).map((one) => shown(one, query)), query)],
    ["POST", /^schedules$/, (_, query, body) => (schedules.unshift(made(0, body, { id: randomUUID(), created_at: Date.now() })), ok(shown(schedules[0], query), 201))],
    ["GET", /^schedules\/([^/]+)$/, ([id], query) => found(id, (one) => ok(shown(one, query)))],
    ["PUT", /^schedules\/([^/]+)$/, ([id], query, body) => changed(id, query, body)],
    ["DELETE", /^schedules\/([^/]+)$/, ([id]) => found(id, (one) => ((one.deleted_at = Date.now()), none))],
    ["POST", /^schedules\/([^/]+)\/restore$/, ([id], query) => changed(id, query, { deleted_at: null })],
    ["POST", /^schedules\/([^/]+)\/pause$/, ([id], query, body) => changed(id, query, { pause: { since: Date.now(), reason: "person", note: body.note ?? "" } })],
    ["POST", /^schedules\/([^/]+)\/resume$/, ([id], query) => changed(id, query, { pause: null, failures: 0 })],
    ["POST", /^schedules\/([^/]+)\/run$/, ([id]) => found(id, () => { history.set(id, [happened(Date.now(), { by_hand: true }), ...pastOf(id)]); return ok({ run_id: uuid(101) }); })],
    ["GET", /^schedules\/([^/]+)\/occurrences$/, ([id], query) => found(id, (one) => page([...planned(one), ...pastOf(id)], query))],
  ];
}
