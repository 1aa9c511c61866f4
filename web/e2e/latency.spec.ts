import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "./support/test.ts";

const RUNS = 30;
const now = (): number => performance.timeOrigin + performance.now();

/** A model that notes when it sends its first piece. */
async function model(): Promise<{ url: string; sent: number[]; close: () => void }> {
  const sent: number[] = [];
  const piece = (delta: object, finish: string | null = null): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = createServer((request, answer) => {
    request.resume().on("end", () => {
      answer.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      // The reader must be waiting when the piece comes.
      setTimeout(() => {
        sent.push(now());
        answer.write(piece({ content: "Hello" }));
        setTimeout(() => answer.end(`${piece({}, "stop")}data: [DONE]\n\n`), 5);
      }, 60);
    });
  });
  server.on("connection", (socket) => socket.setNoDelay(true));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, sent, close: () => server.close() };
}

test("how long a model's first piece takes to the browser is printed", { tag: "@prove" }, async ({ studio, api }) => {
  const own = await model();
  const connection = await api.call<{ id: string }>("POST", "/connections", { name: "timed", provider: "compatible", base_url: own.url, model: "timed", auth: { kind: "none" } });
  const took: number[] = [];
  for (let n = 0; n < RUNS; n++) {
    const { run_id } = await api.chat("Say hello.", { connection_id: connection.id });
    const arrived = await studio.evaluate(
      async ([run, bearer]) => {
        const answer = await fetch(`/api/runs/${run}/events`, { headers: { authorization: `Bearer ${bearer}` } });
        const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
        for (let seen = ""; ; ) {
          const { value, done } = await reader.read();
          if (done) throw new Error("the stream ended before the first piece");
          const at = performance.timeOrigin + performance.now();
          seen += value;
          if (seen.includes("event: model.delta")) return at;
        }
      },
      [run_id, api.token] as const,
    );
    await api.settled(run_id);
    took.push(arrived - (own.sent[n] as number));
  }
  own.close();
  took.sort((a, b) => a - b);
  const at = (share: number): string => (took[Math.min(RUNS - 1, Math.floor(RUNS * share))] as number).toFixed(2);
  console.log(`first token, model to browser, ${RUNS} runs: median ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${at(1)} ms`);
  expect(took).toHaveLength(RUNS);
});
