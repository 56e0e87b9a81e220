import { expect, test } from 'vitest';
import { ModelError } from '../../src/models/model-error.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { F1, call, calls, toolOf } from '../support/tools.ts';
import { transcript } from '../support/transcript.ts';
import { scriptedModel } from './script.ts';

inBothModes('sessions', (run) => {
  test('R38/M03: after a run with a round the store holds all four messages', async () => {
    const store = memoryStore();
    const model = scriptedModel([calls(call('F1')), 'world']);
    const { session } = await run(createAgent({ model, tools: [F1], store }), 'hello');
    const other = await createAgent({ model, tools: [F1], store }).open(session.id);
    expect(other).not.toBe(session);
    expect(transcript(other.messages)).toEqual([
      'user: hello',
      'assistant: F1{}',
      'tool: Result 1',
      'assistant: world',
    ]);
    expectWhole(other.messages);
  });

  test('R38/M04: when the model is asked again, a durable store holds the round before', async () => {
    const store = { ...memoryStore(), durable: true };
    const reader = createAgent({ model: scriptedModel([]), tools: [F1], store });
    const seen: string[][] = [];
    const look = async (id: string): Promise<void> => {
      await using session = await reader.open(id, { readOnly: true });
      seen.push(transcript(session.messages));
    };
    const model = scriptedModel([
      async () => {
        await look('mine');
        return calls(call('F1'));
      },
      async () => {
        await look('mine');
        return 'world';
      },
    ]);
    const { session } = await run(createAgent({ model, tools: [F1], store }), 'hello', { session: 'mine' });
    expect(seen).toEqual([['user: hello'], ['user: hello', 'assistant: F1{}', 'tool: Result 1']]);
    expect(session.messages).toHaveLength(4);
  });

  test('R38, R40/M06: when the second model call fails, the round before it stays stored, and a new message goes on from there', async () => {
    const store = memoryStore();
    let runs = 0;
    const counted = toolOf('counted', () => (runs += 1));
    const failure = new ModelError('model-request-failed', 'bad key', { transient: false, status: 401 });
    const model = scriptedModel([calls(call('counted')), failure, 'world']);
    const agent = createAgent({ model, tools: [counted], store });
    const { error, session } = await run(agent, 'hello');
    expect(error?.code).toBe('model-error');
    const other = await createAgent({ model, tools: [counted], store }).open(session.id);
    expect(transcript(other.messages)).toEqual(['user: hello', 'assistant: counted{}', 'tool: 1']);
    await other.retry();
    expect((await other.settled()).text).toBe('world');
    expect(runs).toBe(1);
    expectWhole(other.messages);
  });
});

test.each([
  ['null', 'null'],
  ['a number', '7'],
  ['a list', '[]'],
  ['a text', '"session"'],
  ['no JSON', '{"format":'],
  ['another object', '{}'],
])('R38/M10: %s is no session: a typed error that says so', (_, text) => {
  const agent = createAgent({ model: scriptedModel([]) });
  expect(() => agent.restore(text)).toThrow(expect.objectContaining({ code: 'invalid-document' }));
});
