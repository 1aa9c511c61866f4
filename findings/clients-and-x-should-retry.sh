#!/usr/bin/env bash
# Which clients heed `x-should-retry: false`, the header by which a server says that a repeat is in vain.
# Guess: all clients of the OpenAI interface do, since OpenAI's own libraries do.
# Seen on 2026-11-29 with openai 6.49.0, ai 6.0.326 with @ai-sdk/openai 3.0.141, and @langchain/openai 1.5.8 with
# @langchain/core 1.4.0: openai asks once, the AI SDK three times, LangChain seven times. None but openai says by a header
# that a request is a repeat. A server that acts (an agent that writes) must know repeats by their body.
# Runs for a minute; needs node 20 and npm. Fails if this changes.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@6.49.0 ai@6.0.326 @ai-sdk/openai@3.0.141 @langchain/openai@1.5.8 @langchain/core@1.4.0 zod@4.6.7 >/dev/null
cat > ask.mjs <<'JS'
import http from "node:http";
import OpenAI from "openai";
import { generateText } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { ChatOpenAI } from "@langchain/openai";
let seen = [];
const server = http.createServer((request, response) => {
  request.resume().on("end", () => {
    seen.push(request.headers["x-stainless-retry-count"] ?? "none");
    response.writeHead(503, { "content-type": "application/json", "x-should-retry": "false" });
    response.end(JSON.stringify({ error: { message: "in vain", type: "server_error" } }));
  });
}).listen(0, "127.0.0.1");
await new Promise((done) => server.on("listening", done));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const clients = {
  openai: () => new OpenAI({ baseURL, apiKey: "k" }).chat.completions.create({ model: "m", messages: [{ role: "user", content: "hi" }] }),
  "ai sdk": () => generateText({ model: createOpenAI({ baseURL, apiKey: "k" }).chat("m"), prompt: "hi" }),
  langchain: () => new ChatOpenAI({ model: "m", apiKey: "k", configuration: { baseURL } }).invoke("hi"),
};
for (const [name, call] of Object.entries(clients)) {
  seen = [];
  await call().then(() => console.log("no error"), () => {});
  console.log(`${name}: ${seen.length} requests, retry counts ${[...new Set(seen)].join(" ")}`);
}
process.exit(0);
JS
timeout 150 node ask.mjs 2>/dev/null | tee seen.txt
diff seen.txt - <<'SEEN'
openai: 1 requests, retry counts 0
ai sdk: 3 requests, retry counts none
langchain: 7 requests, retry counts 0
SEEN
