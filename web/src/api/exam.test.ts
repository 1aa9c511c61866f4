import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ApiError } from "./client";
import { examine } from "./exam";

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
});
const check = (name: string) => ({ name, outcome: "passed", points: 1, of: 1, detail: "", ms: 3 });
const record = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
/** Answers with these pieces of a stream. */
function answer(...pieces: string[]): void {
  globalThis.fetch = async () => new Response(new ReadableStream({ start: (out) => (pieces.forEach((piece) => out.enqueue(new TextEncoder().encode(piece))), out.close()) }), { headers: { "content-type": "text/event-stream" } });
}
const run = async () => {
  const told: string[] = [];
  const report = await examine("c", { signal: new AbortController().signal, onCheck: ({ name }) => told.push(name) });
  return { told, report };
};

test("each check is told as it comes, the report ends it", async () => {
  const text = `: here\n\n${record("check", check("reach"))}${record("check", check("speed"))}${record("report", { version: 1, model: "m" })}`;
  answer(text.slice(0, 40), text.slice(40, 90), text.slice(90));
  const { told, report } = await run();
  assert.deepEqual(told, ["reach", "speed"]);
  assert.equal(report.model, "m");
});

test("a problem in the stream, before it, or an end without a report is an error that says what to do", async () => {
  answer(record("check", check("reach")), record("problem", { title: "the key was refused", status: 401, hint: "set KEY" }));
  await assert.rejects(run, (error: ApiError) => error.message === "the key was refused" && error.hint === "set KEY" && error.status === 401);
  answer(record("check", check("reach")));
  await assert.rejects(run, (error: ApiError) => error instanceof ApiError && error.hint !== undefined);
  globalThis.fetch = async () => new Response(JSON.stringify({ title: "not allowed", status: 403 }), { status: 403 });
  await assert.rejects(run, (error: ApiError) => error.status === 403);
});
