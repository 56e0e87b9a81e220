import { beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type * as core from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

// What sessions work with is loaded when the first of a process is opened. Here the first one is restored: nothing is loaded yet.

type Core = typeof core;

const asks = { toolCalls: [{ name: 'Pay', input: { amount: 5 } }] };

/** An agent of a process in which no session was open yet, and what its tool was run with. */
const freshAgent = async (options: Partial<Parameters<Core['createAgent']>[0]> = {}) => {
  vi.resetModules();
  const { createAgent, tool }: Core = await import('../../src/index.ts');
  const paid: unknown[] = [];
  const pay = tool({
    name: 'Pay',
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: true,
    execute: ({ amount }) => {
      paid.push(amount);
      return 'paid';
    },
  });
  return { agent: createAgent({ model: scriptedModel([asks, 'Done.', 'And more.']), tools: [pay], ...options }), paid };
};

let document = '';
beforeEach(async () => {
  const { agent } = await freshAgent();
  const session = await agent.open('s');
  await session.send('Pay five.');
  await session.settled();
  document = JSON.stringify(session);
});

const restoredWith = async (options: Parameters<typeof freshAgent>[0] = {}) => {
  const { agent, paid } = await freshAgent({ model: scriptedModel(['Done.', 'And more.']), ...options });
  return { session: agent.restore(document), paid };
};

test('R27: a decision that nobody awaits is taken before the session is asked how its turn ended', async () => {
  const { session, paid } = await restoredWith();
  const approved = session.approve('call_1_0');
  expect(await session.settled()).toMatchObject({ outcome: { type: 'answered' }, text: 'Done.' });
  await approved;
  expect(paid).toEqual([5]);
});

test('R29: what a caller changes in his objects after he decided is no part of his decision', async () => {
  const { session, paid } = await restoredWith();
  const given = { input: { amount: 7 } };
  const approved = session.approve('call_1_0', given);
  given.input.amount = 700;
  await approved;
  await session.settled();
  expect(paid).toEqual([7]);
});

test('R29: of two decisions on one call the first one holds', async () => {
  const { session, paid } = await restoredWith();
  const decisions = [session.reject('call_1_0', { reason: 'no' }), session.approve('call_1_0')];
  expect(await Promise.allSettled(decisions)).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'decision-conflict' } },
  ]);
  await session.settled();
  expect(paid).toEqual([]);
});

test('a reader from the start of the turn is told the turn so far, then what follows', async () => {
  const { session } = await restoredWith();
  const types: string[] = [];
  const reading = (async () => {
    for await (const event of session.events({ from: 'turn' })) {
      types.push(event.type);
      if (event.type === 'finish' && event.result.outcome.type === 'answered') break;
    }
  })();
  await session.approve('call_1_0');
  await reading;
  expect(types[0]).toBe('joined');
  expect(types.filter((type) => type === 'approval-request')).toHaveLength(1);
  expect(types.at(-1)).toBe('finish');
});

test('R39: it is stored, and the next one of its id goes on from there', async () => {
  const { memoryStore }: Core = await import('../../src/index.ts');
  const store = memoryStore();
  const { session } = await restoredWith({ store });
  await session.approve('call_1_0');
  await session.settled();
  expect(await store.read('s')).toMatchObject({ summary: { status: 'settled' } });
});

test('a middleware stands around the turn that goes on, and around the next one', async () => {
  const seen: { isContinued: boolean; said: number }[] = [];
  const { session } = await restoredWith({
    agentMiddleware: [
      (next) => (turn) => {
        seen.push({ isContinued: turn.isContinued, said: turn.messages.length });
        return next(turn);
      },
    ],
  });
  await session.approve('call_1_0');
  expect((await session.settled()).text).toBe('Done.');
  const sent = session.send('And now?');
  expect((await session.settled()).text).toBe('And more.');
  expect(await sent).toMatchObject({ type: 'delivered' });
  expect(seen).toEqual([
    { isContinued: true, said: 0 },
    { isContinued: false, said: 1 },
  ]);
});
