import { expect, test } from 'vitest';
import type { ChatModel, ModelChunk, ModelReply } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const reply: ModelReply = { message: { role: 'assistant', content: 'whole' }, finishReason: 'stop' };
const streaming = (stream: NonNullable<ChatModel['stream']>): ChatModel => ({
  name: 'streaming',
  generate: async () => reply,
  stream,
});

test('R41: a stream that goes on for ever after its last chunk is ended', async () => {
  const left = Promise.withResolvers<string>();
  const endless = async function* (): AsyncGenerator<ModelChunk> {
    try {
      yield { type: 'finish', reply };
      for (;;) yield { type: 'text-delta', text: 'more' };
    } finally {
      left.resolve('left');
    }
  };
  const stream = createAgent({ model: streaming(endless) }).stream('go');
  expect((await stream.result).text).toBe('whole');
  expect(await left.promise).toBe('left');
});

test('R41: a stream that hangs after its last chunk is told by its signal', async () => {
  const told = Promise.withResolvers<string>();
  const hanging = async function* (_: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<ModelChunk> {
    yield { type: 'finish', reply };
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        told.resolve('told');
        resolve();
      });
    });
  };
  const stream = createAgent({ model: streaming(hanging) }).stream('go');
  expect((await stream.result).text).toBe('whole');
  expect(await told.promise).toBe('told');
});

test('R35: a tool that yields values is left when the turn is stopped, and can clean up', async () => {
  const cleaned = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const endless = toolOf('endless', async function* () {
    try {
      for (;;) {
        yield 'tick';
        begun.resolve();
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      cleaned.resolve('clean');
    }
  });
  const agent = createAgent({ model: scriptedModel([calls(call('endless'))]), tools: [endless] });
  const session = await agent.open();
  await session.send('go');
  await begun.promise;
  await session.stop();
  expect(await cleaned.promise).toBe('clean');
  expect(session.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: [{ providerOptions: { agentchart: { status: 'stopped' } } }],
  });
});

test('R35: a round of a thousand calls that never wait can be stopped in its middle', async () => {
  let ran = 0;
  const quick = toolOf('quick', () => {
    ran += 1;
  });
  const model = scriptedModel([calls(...Array.from({ length: 1000 }, (_, index) => call('quick', { n: index })))]);
  const agent = createAgent({ model, tools: [quick] });
  const session = await agent.open();
  await session.send('go');
  setTimeout(() => void session.stop(), 1);
  const { outcome } = await session.settled();
  expect(outcome.type).toBe('stopped');
  expect(ran).toBeLessThan(1000);
  expect(session.messages.at(-1)?.content).toHaveLength(1000);
});
