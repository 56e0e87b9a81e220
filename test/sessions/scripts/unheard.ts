import { z } from 'zod';
import { createAgent, tool } from '../../../src/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';

// Run by a test in a process of its own: nobody listens for unhandled rejections, so that one would end it with status 1.
const ready = Promise.withResolvers<void>();
const hang = tool({
  name: 'hang',
  inputSchema: z.object({}),
  execute: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      ready.resolve();
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    }),
});
const calls = { toolCalls: [{ name: 'hang' }] };

// A reader that leaves early.
const agent = createAgent({ model: scriptedModel([calls]), tools: [hang] });
const stream = agent.stream('hello');
for await (const { type } of stream) {
  if (type === 'tool-call') {
    await ready.promise;
    break;
  }
}
const { outcome } = await stream.result;

// Streams whose result nobody asks for: one fails, one never begins.
for await (const _ of createAgent({ model: scriptedModel([new Error('Oh no!')]) }).stream('hello'));
createAgent({ model: scriptedModel([]) }).stream('');

// Messages whose fate nobody asks for, in a session that closes.
const session = await createAgent({ model: scriptedModel([calls]), tools: [hang] }).open();
void session.send('hello');
void session.send('later');
await session[Symbol.asyncDispose]();
await new Promise((resolve) => setTimeout(resolve, 20));
console.log(JSON.stringify(outcome));
