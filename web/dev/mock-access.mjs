// Made-up answers for the page Groups and for Access, which is opened from agents, skills, connections, credentials and collections.
import { randomUUID } from "node:crypto";

const DAY = 86_400_000;

/** Routes below `/api/`; `users` gives those that there are. */
export function routes({ ok, none, missing, problem, page, me, uuid, users }) {
  const now = Date.now();
  let groups = [
    { id: uuid(801), name: "Bookkeeping", description: "Whoever keeps the books of the harbour.", source: null, members: 2, created_at: now - 40 * DAY },
    { id: uuid(802), name: "Operations", description: "", source: "ldap", members: 1, created_at: now - 9 * DAY },
  ];
  const members = new Map([[uuid(801), [me.id, uuid(2)]], [uuid(802), [uuid(3)]]]);
  const lists = new Map();
  let defaults = { new_restricted: false };
  const groupOf = (id) => groups.find((one) => one.id === id);
  const counted = (group) => ({ ...group, members: (members.get(group.id) ?? []).length });
  const nameOf = ({ type, id }) => (type === "user" ? users().find((one) => one.id === id)?.email : groupOf(id)?.name) ?? null;
  const listOf = (kind, id) => {
    if (!lists.has(id)) lists.set(id, { restricted: kind === "credential" || kind === "collection", grants: kind === "agent" ? [{ grantee: { type: "group", id: uuid(801) }, level: "use", given_by: me.email, given_at: now - DAY }] : [] });
    const list = lists.get(id);
    return { kind, id, name: `this ${kind}`, restricted: list.restricted, grants: list.grants.map((grant) => ({ ...grant, name: nameOf(grant.grantee) })) };
  };
  const found = (id, then) => (groupOf(id) ? then(groupOf(id)) : missing("group"));
  const named = (list, wanted, field) => list.find((one) => one.id === wanted || one[field].toLowerCase() === wanted.trim().toLowerCase());
  return [
    ["GET", /^groups$/, (_, query) => page(groups.filter((one) => `${one.name}\n${one.description}`.toLowerCase().includes((query.get("search") ?? "").toLowerCase())).map(counted), query)],
    ["POST", /^groups$/, (_, __, body) => {
      if (named(groups, body.name, "name")) return problem(409, `another group has the name ${body.name}`, "choose another name, or change that group");
      groups.push({ id: randomUUID(), description: "", source: null, members: 0, created_at: Date.now(), ...body });
      return ok(groups.at(-1), 201);
    }],
    ["GET", /^groups\/([^/]+)$/, ([id]) => found(id, (group) => ok(counted(group)))],
    ["PATCH", /^groups\/([^/]+)$/, ([id], _, body) => found(id, (group) => ok(counted(Object.assign(group, body))))],
    ["DELETE", /^groups\/([^/]+)$/, ([id]) => ((groups = groups.filter((one) => one.id !== id)), none)],
    ["GET", /^groups\/([^/]+)\/members$/, ([id], query) => found(id, () => page(users().filter((one) => members.get(id)?.includes(one.id)), query))],
    ["PUT", /^groups\/([^/]+)\/members\/([^/]+)$/, ([id, user]) => (members.set(id, [...new Set([...(members.get(id) ?? []), user])]), none)],
    ["DELETE", /^groups\/([^/]+)\/members\/([^/]+)$/, ([id, user]) => (members.set(id, (members.get(id) ?? []).filter((one) => one !== user)), none)],
    ["GET", /^users\/([^/]+)\/groups$/, ([id]) => ok(groups.filter((one) => members.get(one.id)?.includes(id)).map(counted))],
    ["GET", /^users\/([^/]+)\/access$/, ([id]) => ok([{ kind: "agent", id: uuid(12), name: "Bookkeeper", level: "use", group: "Bookkeeping", given_by: me.email, given_at: now - DAY }, { kind: "skill", id, name: null, level: "share", group: null, given_by: me.email, given_at: now - 3 * DAY }])],
    ["GET", /^access\/defaults$/, () => ok(defaults)],
    ["PUT", /^access\/defaults$/, (_, __, body) => ok((defaults = body))],
    ["GET", /^access\/([a-z]+)\/([^/]+)$/, ([kind, id]) => ok(listOf(kind, id))],
    ["PUT", /^access\/([a-z]+)\/([^/]+)$/, ([kind, id], _, { restricted }) => (listOf(kind, id), (lists.get(id).restricted = restricted), ok(listOf(kind, id)))],
    ["POST", /^access\/([a-z]+)\/([^/]+)\/grants$/, ([kind, id], _, { user, group, level }) => {
      listOf(kind, id);
      const whom = user ? named(users(), user, "email") : named(groups, group, "name");
      if (!whom) return problem(422, `there is no ${user ? "user" : "group"} \`${user ?? group}\``, user ? "send the email they log in with" : "see GET /api/groups");
      const list = lists.get(id);
      const grant = { grantee: { type: user ? "user" : "group", id: whom.id }, level, given_by: me.email, given_at: Date.now() };
      list.grants = [...list.grants.filter((one) => one.grantee.id !== whom.id), grant];
      return ok(listOf(kind, id));
    }],
    ["DELETE", /^access\/([a-z]+)\/([^/]+)\/grants\/([^/]+)$/, ([kind, id, grantee]) => (listOf(kind, id), (lists.get(id).grants = lists.get(id).grants.filter((one) => one.grantee.id !== grantee)), none)],
    ["GET", /^access\/([a-z]+)\/([^/]+)\/explain$/, (_, query) => {
      const user = query.get("user") ? named(users(), query.get("user"), "email") : me;
      if (!user) return problem(422, `there is no user \`${query.get("user")}\``, "send the email they log in with");
      const above = ["admin", "operator"].includes(user.role);
      return ok({ user: user.email, role: user.role, level: above ? "share" : "use", because: [above ? `the role ${user.role} may do everything with it` : "it is open: everybody may use it"], missing: above ? null : "the grant `edit`, for them or a group of theirs" });
    }],
  ];
}
