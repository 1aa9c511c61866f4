// The Vercel AI SDK: BASE_URL KEY POOR_KEY. Fails by an exception.
import assert from 'node:assert/strict';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embed, generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const [baseURL, apiKey, poorKey] = process.argv.slice(2);
const steward = (key = apiKey) =>
  createOpenAICompatible({ name: 'steward', baseURL, apiKey: key, includeUsage: true, supportsStructuredOutputs: true });
const model = steward()('connection/openai');
const once = { maxRetries: 0 };

const plain = await generateText({ model, prompt: 'plain please', ...once });
assert.equal(plain.text, 'Hello from the model.');
assert.equal(plain.usage.totalTokens, 110);

const stream = streamText({ model, prompt: 'plain please', ...once });
const pieces = [];
for await (const piece of stream.textStream) pieces.push(piece);
assert.equal(pieces.join(''), 'Hello from the model.');
assert.ok(pieces.length > 3);
assert.equal((await stream.usage).totalTokens, 110);

const tools = {
  get_weather: tool({
    description: 'Weather of a place.',
    inputSchema: z.object({ place: z.string() }),
    execute: async ({ place }) => `rain in ${place}`,
  }),
};
const looked = await generateText({ model, tools, stopWhen: stepCountIs(3), prompt: 'What is the weather in Oslo?', ...once });
assert.equal(looked.text, 'It rains in Oslo.');
assert.equal(looked.steps.length, 2);

const { object } = await generateObject({
  model, schema: z.object({ name: z.string(), age: z.number() }), prompt: 'Describe Ada', ...once,
});
assert.deepEqual(object, { name: 'Ada', age: 36 });

const { embedding } = await embed({ model: steward().textEmbeddingModel('all-MiniLM-L6-v2'), value: 'a heron', ...once });
assert.equal(embedding.length, 384);

assert.equal((await generateText({ model: steward()('steward'), prompt: 'plain please', ...once })).text, 'Hello from the model.');

const refused = async (one, status) => {
  await assert.rejects(generateText({ model: one, prompt: 'hi', ...once }), (error) => APICallError.isInstance(error) && error.statusCode === status);
};
await refused(steward()('connection/nobody'), 404);
await refused(steward('sk-wrong')('connection/openai'), 401);
await refused(steward(poorKey)('connection/openai'), 429);
console.log('all good');
