// Made-up answers for the pages Documents and Files. What is sent is cut at empty lines, "read" for a second and "embedded" for three more.
// MOCK_EMPTY=1: nothing is there yet.
import { randomUUID } from "node:crypto";

const DAY = 86_400_000;
const LEAVE = "# Leave\n\nEverybody has 28 days of holiday a year. What is not taken by March is lost.\n\n# Sick notes\n\nFrom the third day on a certificate of a doctor is wanted.";
const LEASE = "# Lease of the warehouse\n\nThe lease begins on 1 May 2026 and runs for five years.\n\n## Notice\n\nThe notice period is three months to the end of a quarter. Notice has to be given in writing.\n\n## Rent\n\nThe rent of 4,200 euros is due on the third working day of each month.";

export function routes({ ok, none, missing, problem, page, me, uuid }) {
  const now = Date.now();
  const usual = { chunking: { max_chars: 1500, overlap: 300 }, weights: { text: 0.3, vectors: 0.7 } };
  let collections = [
    { id: uuid(901), name: "Contracts", description: "Signed ones. Drafts are in the wiki.", ...usual, embedding_model: "minilm-l6-v2", created_by: me.id, created_at: now - 40 * DAY, classification: "confidential" },
    { id: uuid(902), name: "Handbook", description: "", ...usual, embedding_model: "minilm-l6-v2", created_by: me.id, created_at: now - 9 * DAY },
    { id: uuid(903), name: "Workspace", description: "The files of the workspace, as they are now.", ...usual, created_at: now - 60 * DAY },
  ];
  const cut = (text) => {
    const headings = [];
    return text.split(/\n\n+/).flatMap((part) => {
      const heading = /^(#+) (.*)/.exec(part);
      if (!heading) return [{ text: part, headings: headings.filter(Boolean) }];
      headings.length = heading[1].length;
      headings[heading[1].length - 1] = heading[2];
      return [];
    }).map((one, index) => ({ ...one, index, first_page: 1 + Math.floor(index / 3), last_page: 1 + Math.floor(index / 3), areas: [], method: "paragraphs" }));
  };
  const stored = (id, collection, name, text, more = {}) => ({ id, collection, name, origin: "upload", source: id.padEnd(64, "0"), bytes: text.length, sha256: id.padEnd(64, "0"), attempts: 1, agents: [], text, parts: cut(text), begun: 0, type: name.endsWith(".pdf") ? "pdf" : name.endsWith(".md") ? "markdown" : "text", warnings: [], added_by: me.id, added_at: now - 2 * DAY, ...more });
  let documents = [
    stored(uuid(911), uuid(901), "lease-warehouse.pdf", LEASE, { title: "Lease of the warehouse", scans: 1, warnings: ["page 3 is a picture and was not read"], agents: [uuid(12)] }),
    stored(uuid(912), uuid(901), "supplier-2019.pdf", "", { problem: { message: "the file is protected by a password", hint: "remove the password and add it again" }, attempts: 1 }),
    stored(uuid(913), uuid(902), "leave.md", LEAVE),
    stored(uuid(914), uuid(902), "archive-with-a-rather-long-name-that-nobody-has-shortened-since-2011.txt", Array.from({ length: 57 }, (_, n) => `Entry ${n + 1} of the archive says what happened on day ${n + 1} of the move to the new warehouse.`).join("\n\n")),
    stored(uuid(915), uuid(903), "notes/handover.md", "# Hand-over\n\nHarbour Coffee: send the invoice.", { origin: "workspace", source: "notes/handover.md" }),
  ];
  const jobs = [
    { id: uuid(921), collection: uuid(901), label: "/srv/contracts", state: "running", created_by: me.id, created_at: now - 60_000, begun: now, of: 400 },
    { id: uuid(922), collection: uuid(902), label: "/srv/handbook", state: "running", created_by: me.id, created_at: now - DAY, begun: 0, of: 57 },
  ];
  let watched = [
    { id: uuid(931), collection: uuid(901), path: "/srv/contracts", scanned_at: now - 12_000 },
    { id: uuid(932), collection: uuid(902), path: "/mnt/old", scanned_at: now - DAY, problem: { message: "the folder can't be opened: no such file or directory", hint: "mount it, or watch it no more" } },
  ];
  if (process.env.MOCK_EMPTY) [collections, documents, watched] = [[], [], (jobs.length = 0, [])];
  const view = ({ text, parts, begun, type, warnings, title, scans, problem: wrong, agents, ...rest }, whole = false) => {
    const age = Date.now() - begun;
    const [status, embedded] = wrong ? ["failed", 0] : age < 1000 ? ["waiting", 0] : age < 4000 ? ["embedding", Math.floor((parts.length * (age - 1000)) / 3000)] : ["ready", parts.length];
    const read = status !== "waiting" && !wrong;
    return { ...rest, status, embedded, chunks: read ? parts.length : 0, ...(wrong && { problem: wrong }), facts: { doc_type: read ? type : "", pages: read ? Math.max(1, Math.ceil(parts.length / 3)) : 0, scans: scans ?? 0, warnings: read ? warnings : [], ...(title && { title }) }, changed_at: Date.now(), ...(whole && { agents }) };
  };
  const counted = (one) => {
    const mine = documents.filter((document) => document.collection === one.id);
    return { ...one, documents: mine.length, chunks: mine.reduce((sum, document) => sum + view(document).chunks, 0) };
  };
  const jobView = ({ begun, of, ...job }) => {
    const ready = Math.min(of, job.state === "running" ? Math.floor((Date.now() - begun) / 120) : 90);
    const failed = ready > 50 ? 2 : 0;
    return { ...job, progress: { waiting: of - ready, embedding: Math.min(8, of - ready), ready: ready - failed, failed, duplicate: 0 } };
  };
  const named = (wanted) => collections.find((one) => one.id === wanted || one.name.toLowerCase() === wanted.toLowerCase());
  const found = (list, id, what, then) => { const one = list.find((entry) => entry.id === id); return one ? then(one) : missing(what); };
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const grams = (text) => new Set(words(text).flatMap((word) => Array.from({ length: Math.max(1, word.length - 2) }, (_, n) => word.slice(n, n + 3))));
  const ranked = (list, score) => list.map((one) => [one, score(one)]).filter(([, value]) => value > 0.1).sort((a, b) => b[1] - a[1]);
  const search = ({ query, collections: wanted = [], doc_type, limit = 10, mode = "hybrid" }) => {
    const fitting = documents.filter((one) => view(one).chunks > 0 && (wanted.length === 0 || wanted.includes(one.collection)) && (!doc_type || one.type === doc_type));
    const all = fitting.flatMap((document) => document.parts.map((chunk) => ({ document, chunk })));
    const [asked, shape] = [words(query), grams(query)];
    const text = mode === "vectors" ? [] : ranked(all, ({ chunk }) => asked.reduce((sum, word) => sum + words(chunk.text).filter((one) => one === word).length * Math.max(0, word.length - 2), 0));
    const vectors = mode === "text" ? [] : ranked(all, ({ chunk }) => [...grams(`${chunk.text} ${chunk.headings.join(" ")}`)].filter((gram) => shape.has(gram)).length / shape.size);
    const place = (list, one) => list.findIndex(([other]) => other === one) + 1;
    const joined = all.map((one) => ({ one, by: place(text, one), near: place(vectors, one) })).filter(({ by, near }) => by + near > 0).map((hit) => ({ ...hit, score: (hit.by ? 0.3 / (60 + hit.by) : 0) + (hit.near ? 0.7 / (60 + hit.near) : 0) })).sort((a, b) => b.score - a.score);
    return { documents: fitting.length, took_ms: 7, ...(query.includes("down") && { notice: "only words were looked at: the embedding model can't be loaded" }), found: joined.slice(0, limit).map(({ one: { document, chunk }, by, near, score }) => ({ document: document.id, collection: document.collection, name: document.name, source: document.source, doc_type: document.type, added_at: document.added_at, chunk, score, ...(by && { text_rank: by, text_score: text[by - 1][1] }), ...(near && { vector_rank: near, vector_score: vectors[near - 1][1] }) })) };
  };
  let sent = Array.from({ length: process.env.MOCK_EMPTY ? 0 : 34 }, (_, n) => ({ path: `uploads/delivery-notes-${n + 1}.csv`, user_id: me.id, bytes: 900 + 1300 * n * n, at: now - n * DAY, by: n % 5 ? me.email : null }));
  let origins = process.env.MOCK_EMPTY ? [] : [
    { path: "", origins: ["https://prices.example.org"], at: now - DAY },
    { path: "hr/pay.md", origins: [], level: { classification: "confidential", label: "people", source: "hr/pay.csv" }, at: now - 2 * DAY },
    { path: "notes/offer.md", origins: ["mail from eve@example.org", "uploads/offer.txt"], at: now - 3 * DAY },
  ];
  return [
    ["GET", /^files\/uploads$/, (_, query) => page(sent, query)],
    ["DELETE", /^files$/, (_, query) => ((sent = sent.filter((one) => one.path !== query.get("path"))), none)],
    ["GET", /^files\/origins$/, () => ok(origins)],
    ["DELETE", /^files\/origins$/, (_, query) => ((origins = origins.filter((one) => one.path !== query.get("path"))), none)],
    ["GET", /^collections$/, () => ok({ items: collections.map(counted), next_cursor: null })],
    ["POST", /^collections$/, (_, __, { open, ...body }) => (named(body.name) ? problem(409, `another collection has the name ${body.name}`, "choose another name") : (collections.push({ ...usual, description: "", id: randomUUID(), created_by: me.id, created_at: Date.now(), ...body }), collections.sort((a, b) => a.name.localeCompare(b.name)), ok(counted(named(body.name)), 201)))],
    ["PATCH", /^collections\/([^/]+)$/, ([id], _, body) => found(collections, id, "collection", (one) => ok(counted(Object.assign(one, body))))],
    ["DELETE", /^collections\/([^/]+)$/, ([id]) => ((collections = collections.filter((one) => one.id !== id)), (documents = documents.filter((one) => one.collection !== id)), none)],
    ["POST", /^documents\/upload$/, (_, query, body) => {
      const to = named(query.get("collection"));
      if (!to) return problem(422, "there is no such collection", "see the list of collections");
      const known = documents.find((one) => one.collection === to.id && one.text === body.raw);
      if (!known) documents.unshift(stored(randomUUID(), to.id, query.get("name"), body.raw ?? "", { begun: Date.now(), added_at: Date.now(), ...(query.get("name").startsWith("broken") && { problem: { message: "the PDF is broken: it has no pages", hint: "open it and save it anew" } }) }));
      return ok({ added: known ? "unchanged" : "new", document: view(known ?? documents[0]) }, 201);
    }],
    ["GET", /^documents$/, (_, query) => page(documents.map((one) => view(one)).filter((one) => (!query.get("collection") || one.collection === query.get("collection")) && (!query.get("status") || one.status === query.get("status")) && one.name.toLowerCase().includes((query.get("search") ?? "").toLowerCase())), query)],
    ["POST", /^documents\/search$/, (_, __, body) => ok(search(body))],
    ["POST", /^documents\/embed-pending$/, () => ok({ documents: documents.filter((one) => one.problem).length, chunk_size_used: 1500, chunk_overlap_used: 300 })],
    ["POST", /^documents\/links$/, (_, __, body) => found(documents, body.document_id, "document", (one) => ((one.agents = [...one.agents.filter((id) => id !== body.agent_id), ...(body.linked === false ? [] : [body.agent_id])]), ok(view(one, true))))],
    ["POST", /^documents\/batch-scan$/, (_, __, body) => (body.path.startsWith("/") ? (jobs.unshift({ id: randomUUID(), collection: named(body.collection).id, label: body.path, state: "running", created_at: Date.now(), begun: Date.now(), of: process.env.MOCK_EMPTY ? 2 : 60 }), ok(jobView(jobs[0]), 201)) : problem(422, `\`${body.path}\` is no absolute path`, "give an absolute path of a folder on the server"))],
    ["POST", /^documents\/register-path$/, (_, __, body) => (watched.push({ id: randomUUID(), collection: named(body.collection).id, path: body.path }), ok(watched.at(-1), 201))],
    ["GET", /^documents\/watched-paths$/, () => ok({ items: watched, next_cursor: null })],
    ["DELETE", /^documents\/watched-paths\/([^/]+)$/, ([id]) => ((watched = watched.filter((one) => one.id !== id)), none)],
    ["GET", /^documents\/vector-store\/stats$/, () => ok({ backend: "flat scan of 1-bit codes, re-scored", embedding_model: "minilm-l6-v2", dimension: 384, documents: documents.length, chunks: 70, vectors: 70, index_bytes: 1_840_000, behind: 0 })],
    ["GET", /^documents\/jobs$/, (_, query) => page(jobs.map(jobView), query)],
    ["POST", /^documents\/jobs\/([^/]+)\/(pause|resume|cancel|retry)$/, ([id, how]) => found(jobs, id, "job", (one) => (Object.assign(one, { state: { pause: "paused", resume: "running", cancel: "cancelled", retry: one.state }[how] }), ok(jobView(one))))],
    ["GET", /^documents\/([^/]+)$/, ([id]) => found(documents, id, "document", (one) => ok(view(one, true)))],
    ["DELETE", /^documents\/([^/]+)$/, ([id]) => ((documents = documents.filter((one) => one.id !== id)), none)],
    ["GET", /^documents\/([^/]+)\/chunks$/, ([id], query) => found(documents, id, "document", (one) => {
      const from = query.get("cursor") ? Number(atob(query.get("cursor"))) + 1 : 0;
      return ok({ items: one.parts.slice(from, from + Number(query.get("limit") ?? 30)), next_cursor: null });
    })],
    ["POST", /^documents\/([^/]+)\/process$/, ([id]) => found(documents, id, "document", (one) => (Object.assign(one, { begun: Date.now() }), ok(view(one))))],
  ];
}
