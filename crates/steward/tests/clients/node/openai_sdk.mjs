// The official Node SDK: BASE_URL KEY POOR_KEY. Fails by an exception.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const [baseURL, apiKey, poorKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 600_000 });
const model = 'connection/openai';
const say = (content) => [{ role: 'user', content }];
const ask = (one, name, text) => one.chat.completions.create({ model: name, messages: say(text) });

const ids = (await client.models.list()).data.map((one) => one.id);
assert.ok(ids.includes('steward') && ids.includes(model), String(ids));

const answer = await ask(client, model, 'plain please');
assert.equal(answer.choices[0].message.content, 'Hello from the model.');
assert.equal(answer.usage.total_tokens, 110);

let shown = '';
let chunks = 0;
for await (const chunk of await client.chat.completions.create({ model, messages: say('plain please'), stream: true })) {
  shown += chunk.choices[0]?.delta.content ?? '';
  chunks += 1;
}
assert.equal(shown, 'Hello from the model.');
assert.ok(chunks > 4);

const runner = client.chat.completions.runTools({
  model,
  messages: say('What is the weather in Oslo?'),
  tools: [{
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Weather of a place.',
      parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
      parse: JSON.parse,
      function: ({ place }) => `rain in ${place}`,
    },
  }],
});
assert.equal(await runner.finalContent(), 'It rains in Oslo.');

const Person = z.object({ name: z.string(), age: z.number() });
const parsed = await client.chat.completions.parse({
  model, messages: say('Describe Ada'), response_format: zodResponseFormat(Person, 'person'),
});
assert.deepEqual(parsed.choices[0].message.parsed, { name: 'Ada', age: 36 });

const embedded = await client.embeddings.create({ model: 'all-MiniLM-L6-v2', input: 'a heron' });
assert.equal(embedded.data[0].embedding.length, 384);

assert.equal((await ask(client, 'steward', 'plain please')).choices[0].message.content, 'Hello from the model.');

await assert.rejects(ask(client, 'connection/nobody', 'hi'), OpenAI.NotFoundError);
await assert.rejects(ask(client, model, 'too long'), (error) => error instanceof OpenAI.BadRequestError && error.code === 'context_length_exceeded');
await assert.rejects(ask(new OpenAI({ baseURL, apiKey: 'sk-wrong', maxRetries: 0 }), model, 'hi'), OpenAI.AuthenticationError);
await assert.rejects(
  ask(new OpenAI({ baseURL, apiKey: poorKey, maxRetries: 0 }), model, 'hi'),
  (error) => error instanceof OpenAI.RateLimitError && error.type === 'insufficient_quota',
);
await assert.rejects(async () => {
  for await (const _ of await client.chat.completions.create({ model, messages: say('cut off'), stream: true }));
}, OpenAI.APIError);
console.log('all good');
