// Serves a built studio and made-up answers, with the server's own content security policy.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json", ".webmanifest": "application/manifest+json" };

export function serve(pages, logOf) {
  const port = Number(process.argv[2] ?? 8811);
  const root = normalize(process.argv[3] ?? new URL("../dist", import.meta.url).pathname);
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    const stream = /^\/api\/(?:runs\/([^/]+)\/)?events$/.exec(url.pathname);
    if (stream) return events(request, response, stream[1] ? logOf(stream[1]) : []);
    if (url.pathname.startsWith("/api/")) {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const answer = pages({ method: request.method, path: url.pathname, query: url.searchParams, body: !text ? undefined : (request.headers["content-type"] ?? "").includes("json") ? JSON.parse(text) : { raw: text } }) ?? { status: 404, body: { title: "there is no such endpoint in the mock", status: 404, hint: "add it to dev/mock-pages.mjs" } };
      if (answer.stream) return records(response, answer);
      await new Promise((done) => setTimeout(done, 60));
      response.writeHead(answer.status, { "content-type": answer.status >= 400 ? "application/problem+json" : "application/json", "cache-control": "no-store" });
      return response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
    }
    const wanted = join(root, normalize(url.pathname));
    const there = existsSync(wanted) || existsSync(`${wanted}.gz`);
    const file = wanted.startsWith(root) && extname(wanted) && there ? wanted : join(root, "index.html");
    // `make web` keeps most files compressed only.
    const zipped = !existsSync(file);
    response.writeHead(200, { ...(zipped && { "content-encoding": "gzip" }), "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": CSP });
    response.end(readFileSync(zipped ? `${file}.gz` : file));
  });
  server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
}

/** Records one after the other, until whoever reads goes away. */
async function records(response, { stream, then }) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  for (const [event, data] of stream) {
    await new Promise((done) => setTimeout(done, 350));
    if (response.destroyed) return;
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
  then?.();
  response.end();
}

/** A log as a stream: what is there at once, the end only if the run has ended. */
function events(request, response, log) {
  if (!log) {
    response.writeHead(404, { "content-type": "application/problem+json" });
    return response.end(JSON.stringify({ title: "there is no such run", status: 404, hint: "it may have been deleted; go back to the list" }));
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.write(": hello\n\n");
  const after = Number(request.headers["last-event-id"] ?? 0);
  for (const event of log) if (event.seq > after) response.write(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  if (log.some((event) => event.type === "run.finished")) response.end();
}
