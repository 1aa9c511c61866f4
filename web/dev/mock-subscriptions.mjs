// Made-up answers for what is told, on the page Webhooks. A test fails the first time, and arrives after that.
import { randomBytes, randomUUID } from "node:crypto";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How long a message is on its way. */
const SEND = 1_500;

const kept = (secret, at = Date.now()) => ({ id: randomUUID(), hint: secret.slice(-4), created_at: at });
const placeOf = (address) => { try { const url = new URL(address); return /^https?:$/.test(url.protocol) ? url.origin : null; } catch { return null; } };

export function routes({ ok, none, missing, problem, page, me, uuid }) {
  const now = Date.now();
  const happened = (kind, at, more = {}) => ({ seq: 4711, kind, at, subject: uuid(101), run_id: kind.startsWith("run.") ? uuid(101) : null, actor: me.email, name: "bookkeeping", result: "failed", detail: { model_calls: 3 }, ...more });
  const message = (n, kind, at, more = {}) => ({ id: uuid(980 + n), happening: happened(kind, at), kind, made_at: at, status: "sent", tries: 1, next_at: null, sent_at: at + 800, last: "200 ok", ...more });
  const made = (n, input, more = {}) => ({ id: uuid(970 + n), owner_id: me.id, owner: me.email, form: "standard", place: "https://example.org", kinds: [], all: false, language: "en", link_base: "https://steward.example.org", pause: null, secrets: [], may_change: true, created_at: now - 20 * DAY, updated_at: now - 2 * DAY, deleted_at: null, ...input, ...more });
  const all = [
    made(1, { name: "Harbour office", place: "https://office.example.org", kinds: ["run.failed", "approval.requested", "backup.failed"], all: true }, { secrets: [kept("K7MDENGbPxRfi", now - 20 * DAY), kept("03be77aa", now - HOUR)] }),
    made(2, { name: "Ops room", form: "matrix", place: "https://matrix.example.org", language: "de" }, { pause: { since: now - 5 * HOUR, reason: "cannot_start", note: "messages don't arrive: 403 You are not invited to this room." } }),
    made(3, { name: "My phone", form: "ntfy", place: "https://ntfy.sh", kinds: ["approval.requested"] }),
    made(4, { name: "Books", form: "slack", place: "https://hooks.slack.com" }, { pause: { since: now - DAY, reason: "person", note: "Until the new team is there." }, owner: "grace@example.org", owner_id: uuid(2), may_change: false }),
    made(5, { name: "Old room", form: "teams", place: "https://example.webhook.office.com" }, { deleted_at: now - DAY }),
  ];
  const past = new Map([
    [all[0].id, [message(1, "run.failed", now - 4 * MINUTE, { status: "waiting", tries: 2, next_at: now + MINUTE, sent_at: null, last: "502 Bad Gateway" }), message(2, "approval.requested", now - 3 * HOUR), message(3, "run.failed", now - 4 * DAY, { status: "given_up", tries: 10, sent_at: null, last: "the host office.example.org can't be found" })]],
    [all[1].id, [message(4, "run.finished", now - 5 * HOUR, { status: "given_up", tries: 10, sent_at: null, last: "403 You are not invited to this room." }), message(5, "run.started", now - 5 * HOUR - MINUTE, { status: "given_up", tries: 3, sent_at: null, last: "the subscription was paused" })]],
  ]);
  const tested = new Set();
  const pastOf = (id) => past.get(id) ?? [];
  const shown = (one) => ({ ...one, last: one.may_change ? (pastOf(one.id)[0] ?? null) : null });
  const found = (id, then) => { const one = all.find((other) => other.id === id); return one ? then(one) : missing("subscription"); };
  const changed = (id, change) => found(id, (one) => ok(shown(Object.assign(one, change, { updated_at: Date.now() }))));
  const secretOf = (one) => { const secret = `whsec_${randomBytes(32).toString("base64")}`; one.secrets = [...one.secrets, kept(secret)]; return secret; };
  const refusal = ({ address, token, form }, before) => {
    if (address && placeOf(address) === null) return problem(422, "it is no address of the web", "it begins with https:// (or http:// inside the house)", { field: "address" });
    if (form === "matrix" && address && !new URL(address).pathname.startsWith("/!")) return problem(422, "the address of a Matrix room is https://HOMESERVER/!ROOM:SERVER", "copy it from the service once more", { field: "address" });
    if (["matrix", "gotify"].includes(form) && !token && !before) return problem(422, "this service asks for a token", "make one there and paste it", { field: "token" });
    return null;
  };
  const settings = ({ address, token: _, ...body }) => ({ ...body, ...(address && { place: placeOf(address) }) });
  const arrive = (it, fails) => setTimeout(() => Object.assign(it, fails ? { tries: it.tries + 1, next_at: Date.now() + 5_000, last: "127.0.0.1 is not on the public internet; name it under WEB_ALLOW to allow it" } : { status: "sent", tries: it.tries + 1, next_at: null, sent_at: Date.now(), last: "204" }), SEND);
  const on = (id, kind) => { const at = Date.now(); const it = { ...message(0, kind, at), id: randomUUID(), happening: happened(kind, at, { seq: 0, subject: id, run_id: null, result: "ok", detail: {} }), status: "waiting", tries: 0, next_at: at, sent_at: null, last: null }; past.set(id, [it, ...pastOf(id)]); return it; };
  return [
    ["GET", /^subscriptions$/, (_, query) => page(all.filter((one) => (one.deleted_at !== null) === (query.get("deleted") === "true") && (query.get("mine") !== "true" || one.may_change)).map(shown), query)],
    ["POST", /^subscriptions$/, (_, __, body) => {
      const refused = refusal(body);
      if (refused) return refused;
      const one = made(0, settings(body), { id: randomUUID(), created_at: Date.now(), updated_at: Date.now() });
      all.unshift(one);
      const secret = one.form === "standard" ? secretOf(one) : null;
      return ok({ subscription: shown(one), secret }, 201);
    }],
    ["GET", /^subscriptions\/([^/]+)$/, ([id]) => found(id, (one) => ok(shown(one)))],
    ["PUT", /^subscriptions\/([^/]+)$/, ([id], _, body) => found(id, (one) => refusal(body, one) ?? (one.secrets.length === 0 && body.form === "standard" && secretOf(one), changed(id, settings(body))))],
    ["DELETE", /^subscriptions\/([^/]+)$/, ([id]) => found(id, (one) => ((one.deleted_at = Date.now()), none))],
    ["POST", /^subscriptions\/([^/]+)\/restore$/, ([id]) => changed(id, { deleted_at: null })],
    ["POST", /^subscriptions\/([^/]+)\/pause$/, ([id], _, body) => changed(id, { pause: { since: Date.now(), reason: "person", note: body.note ?? "" } })],
    ["POST", /^subscriptions\/([^/]+)\/resume$/, ([id]) => changed(id, { pause: null })],
    ["POST", /^subscriptions\/([^/]+)\/test$/, ([id]) => found(id, () => { const it = on(id, "test"); arrive(it, !tested.has(id)); tested.add(id); return ok({ ...it }, 202); })],
    ["POST", /^subscriptions\/([^/]+)\/secrets$/, ([id]) => found(id, (one) => (one.secrets.length >= 3 ? problem(409, "it has 3 secrets, which is the limit", "remove one that the receiver doesn't use any more", { code: "too_many_secrets" }) : ((secret) => ok({ subscription: shown(one), secret }, 201))(secretOf(one))))],
    ["DELETE", /^subscriptions\/([^/]+)\/secrets\/([^/]+)$/, ([id, secret]) => found(id, (one) => changed(id, { secrets: one.secrets.filter((other) => other.id !== secret) }))],
    ["GET", /^subscriptions\/([^/]+)\/messages$/, ([id], query) => found(id, () => page(pastOf(id).filter((it) => query.get("failed") !== "true" || it.status === "given_up"), query))],
    ["POST", /^subscriptions\/([^/]+)\/messages\/([^/]+)\/send$/, ([id, which]) => found(id, () => { const it = pastOf(id).find((other) => other.id === which); if (!it) return missing("message"); Object.assign(it, { status: "waiting", tries: 0, next_at: Date.now(), sent_at: null }); arrive(it, false); return ok({ ...it }, 202); })],
  ];
}
