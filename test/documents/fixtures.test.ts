import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { recall } from '../../src/machines/remembered.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { importSession } from '../../src/sessions/transfer.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { type Done, type FixtureOptions, fixtureAgent, fixtureTools } from '../fixtures/sessions/fixture-agent.ts';
import { expectWhole } from '../support/run.ts';
import { results, transcript } from '../support/transcript.ts';
import type { Session } from '../../src/sessions/session.ts';

const folder = new URL('../fixtures/sessions/', import.meta.url);
const names = (version: number): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(`v${version}-`))
    .map((name) => name.slice(3, -5));
const fixture = (version: number, name: string): string =>
  readFileSync(new URL(`v${version}-${name}.json`, folder), 'utf8');

const opened = (version: number, name: string, options: FixtureOptions = {}) => {
  const done: Done = [];
  return { done, session: fixtureAgent({ done, ...options }).restore(fixture(version, name)) };
};

/** How a session goes on, whatever version wrote it, and what its tools do then. */
const goOn: Record<string, (session: Session, done: Done) => Promise<void>> = {
  idle: async (session) => {
    expect(session.status).toBe('idle');
    await session.send('hi');
    expect((await session.settled()).text).toBe('end');
  },
  answered: async (session, done) => {
    expect(results(session.messages)).toEqual(['Ann lives in Graz']);
    await session.send('and now?');
    expect((await session.settled()).text).toBe('end');
    expect(done).toEqual([]);
  },
  asking: async (session) => expect((await session.settled()).text).toBe('end'),
  failed: async (session) => {
    await expect(session.settled()).rejects.toMatchObject({ code: 'model-error' });
    await session.retry();
    expect((await session.settled()).text).toBe('end');
  },
  stopped: async (session) => {
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    await session.retry();
    expect((await session.settled()).text).toBe('end');
  },
  limited: async (session) => {
    expect((await session.settled()).outcome).toMatchObject({ type: 'limit', limit: 'maxIterations' });
    await session.retry();
    expect((await session.settled()).text).toBe('end');
  },
  manual: async (session) => {
    const { outcome } = await session.settled();
    expect(outcome).toEqual({ type: 'tool-calls' });
    await session.send({
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_1_0',
          toolName: 'look_up',
          output: { type: 'text', value: 'by hand' },
        },
      ],
    });
    expect((await session.settled()).text).toBe('end');
    expect(results(session.messages)).toEqual(['by hand']);
  },
  waiting: async (session, done) => {
    expect(session.pending).toMatchObject([
      { callId: 'call_1_1', tool: 'pay', needs: 'approval', input: { to: 'Ann', amount: 12, currency: 'EUR' } },
    ]);
    await session.approve('call_1_1', { inputHash: session.pending[0]?.inputHash ?? '' });
    expect((await session.settled()).text).toBe('end');
    expect(done).toEqual(['pay 12 EUR to Ann']);
    expect(results(session.messages)).toEqual(['Ann lives in Graz', 'paid 12 to Ann']);
  },
  edited: async (session, done) => {
    // What ran when it was cut off is not known to have taken effect; it is not repeated.
    await session.reject('call_1_1');
    await session.settled();
    expect(done).toEqual([]);
    expect(results(session.messages)[0]).toMatch(/outcome|unknown/);
    expect(transcript(session.messages)[1]).toBe('assistant: pay{"to":"Bob","amount":1} | pay{"to":"Ann","amount":12}');
    await session.approve('call_1_0', { input: { to: 'Bob', amount: 1 } });
  },
  'waiting-for-result': async (session) => {
    expect(session.pending).toMatchObject([{ callId: 'call_1_0', tool: 'ask_user', needs: 'result' }]);
    await session.respond('call_1_0', 'the left one');
    expect((await session.settled()).text).toBe('end');
    expect(results(session.messages)).toEqual(['the left one']);
  },
  running: async (session, done) => {
    expect((await session.settled()).text).toBe('end');
    // Its annotations say that it may run again; what was settled is not repeated.
    expect(done).toEqual(['slow index']);
    expect(results(session.messages)[1]).toBe('done');
  },
  'tool-backing-off': async (session, done) => {
    expect((await session.settled()).text).toBe('end');
    expect(done).toEqual(['flaky']);
    expect(results(session.messages)).toEqual(['worked']);
  },
  nested: async (session, done) => {
    expect(session.pending).toMatchObject([
      {
        callId: 'call_1_0-call_1_0',
        path: ['call_1_0'],
        tool: 'pay',
        input: { to: 'Zoe', amount: 5, currency: 'EUR' },
      },
    ]);
    await session.approve('call_1_0-call_1_0');
    expect((await session.settled()).text).toBe('end');
    expect(done).toEqual(['pay 5 EUR to Zoe']);
    expect(results(session.messages)).toEqual(['paid']);
  },
  remembered: async (session) => {
    const { context } = session.actor.getSnapshot();
    const known = (to: string, amount: number) =>
      recall(context, 'pay', { asked: { to, amount }, input: { to, amount, currency: 'EUR' } });
    expect([known('Ann', 12), known('Bob', 2), known('Bob', 1), known('Ann', 2)]).toEqual([
      'approve',
      'approve',
      undefined,
      undefined,
    ]);
  },
  stopping: async (session) => {
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'it takes too long' });
  },
  'error-limit': async (session) => {
    await expect(session.settled()).rejects.toMatchObject({
      code: 'error-limit',
      message: expect.stringContaining('name'),
    });
    expect(session.actor.getSnapshot().context.turn.outcome).toMatchObject({
      errors: [{ callId: 'call_1_0', tool: 'look_up', message: results(session.messages)[0] }],
    });
  },
  'nested-decided': async (session, done) => {
    const [decision] = session.actor.getSnapshot().context.decisions;
    expect(decision).toMatchObject({
      by: 'boss',
      input: { to: 'Zoe of number 17, Long Street in the Old Town', amount: 4 },
    });
    await session.reject('call_1_0-call_1_1');
    expect((await session.settled()).text).toBe('end');
    expect(done).toEqual(['pay 4 EUR to Zoe of number 17, Long Street in the Old Town']);
    expect(session.actor.getSnapshot().context.decisions[0]).toEqual(decision);
  },
  'decided-and-busy': async (session) => {
    expect((await session.settled()).text).toBe('end');
    const { decisions } = session.actor.getSnapshot().context;
    expect(decisions).toMatchObject([{ callId: 'call_1_0', by: 'boss', edited: true, remembered: 'tool' }]);
    expect(JSON.stringify(decisions)).not.toContain('Ann');
    expect(recall(session.actor.getSnapshot().context, 'pay', { asked: {}, input: {} })).toBe('approve');
    // The same decision once more is no other one.
    await session.approve('call_1_0', { input: { to: 'Ann', amount: 9, currency: 'EUR' } });
    await expect(
      session.approve('call_1_0', { input: { to: 'Ann', amount: 8, currency: 'EUR' } }),
    ).rejects.toMatchObject({
      code: 'decision-conflict',
    });
  },
};

/** Of work that was waiting for a time: the clock of the test has passed it. */
const later = { now: () => 4e12, setTimeout: (run: () => void) => setTimeout(run, 0), clearTimeout: () => undefined };

describe.each([1, 2, 3])('documents of version %i', (version) => {
  test.each(names(version))('R38, R40: %s opens, says the same after every trip, and goes on', async (name) => {
    const clock = name === 'tool-backing-off' ? { clock: later } : {};
    const { session, done } = opened(version, name, { ...clock, idleTimeout: 1e6 });
    const go = goOn[name];
    if (go === undefined) throw new Error(`nothing says how ${name} goes on`);
    await go(session, done);
    expectWhole(session.messages);
  });
});

test('B134: documents of version 3 are written as they were: a change of the format needs a version and a migration', async () => {
  expect(names(3)).toHaveLength(16);
  for (const name of names(3)) {
    const never = () => new Promise<string>(() => undefined);
    const { session } = opened(3, name, { answers: [never], inner: [never], isHeld: true });
    expect(JSON.parse(JSON.stringify(session))).toEqual(JSON.parse(fixture(3, name)));
    await session[Symbol.asyncDispose]();
  }
});

test.each([1, 2].flatMap((version) => names(version).map((name) => [name, version] as const)))(
  'B134: %s of version %i is the same after three trips in version 3',
  async (name, version) => {
    const never = () => new Promise<string>(() => undefined);
    const options = { answers: [never], inner: [never], isHeld: true };
    const first = JSON.stringify(opened(version, name, options).session);
    let text = first;
    for (let trip = 0; trip < 3; trip += 1) text = JSON.stringify(fixtureAgent(options).restore(text));
    expect(JSON.parse(text)).toEqual(JSON.parse(first));
    expect(JSON.parse(text)).toMatchObject({ machineVersion: 3, sessionId: JSON.parse(first).sessionId });
  },
);

describe('a session whose tool is gone', () => {
  const without = (name: string) =>
    createAgent({ model: scriptedModel([]), tools: fixtureTools([]).filter((tool) => tool.name !== name) });

  test.each([
    ['running', 'slow', 'call_1_1'],
    ['tool-backing-off', 'flaky', 'call_1_0'],
  ])('%s: is refused by the name of the tool %s', (name, tool, callId) => {
    expect(() => without(tool).restore(fixture(3, name))).toThrow(
      expect.objectContaining({
        code: 'incompatible-document',
        message: expect.stringMatching(new RegExp(`${callId} of the tool "${tool}"`)),
      }),
    );
  });

  test('also where it is an agent, or one of the tools of an agent', async () => {
    expect(() => without('x').restore(fixture(3, 'nested'))).toThrow(
      expect.objectContaining({ code: 'incompatible-document', message: expect.stringContaining('"clerk"') }),
    );
    const clerk = createAgent({ model: scriptedModel([]) }).asTool({ name: 'clerk' });
    const store = memoryStore();
    await importSession(store, fixture(3, 'nested'));
    await expect(createAgent({ model: scriptedModel([]), tools: [clerk], store }).open('nested')).rejects.toMatchObject(
      {
        code: 'incompatible-document',
        message: expect.stringContaining('"pay"'),
      },
    );
  });

  test.each([
    ['waiting', 'pay', 'call_1_1'],
    ['waiting-for-result', 'ask_user', 'call_1_0'],
  ])('%s: a store does not open it without %s until the call is rejected or answered', async (name, tool, callId) => {
    const store = memoryStore();
    await importSession(store, fixture(3, name));
    const open = () =>
      createAgent({
        model: scriptedModel(['end']),
        tools: fixtureTools([]).filter((each) => each.name !== tool),
        store,
      }).open(name);
    await expect(open()).rejects.toMatchObject({
      code: 'incompatible-document',
      message: expect.stringMatching(new RegExp(`${callId} of the tool "${tool}"`)),
    });
    await store.post(name, { type: 'call.result', callId, output: 'done by hand' });
    const session = await open();
    expect((await session.settled()).text).toBe('end');
    expect(JSON.stringify(session.messages)).toContain('done by hand');
  });

  test('of a document it is restored, so that the call can be rejected', async () => {
    const agent = createAgent({
      model: scriptedModel(['end']),
      tools: fixtureTools([]).filter(({ name }) => name !== 'pay'),
    });
    const session = agent.restore(fixture(3, 'waiting'));
    expect(session.pending).toMatchObject([{ callId: 'call_1_1', tool: 'pay' }]);
    await session.reject('call_1_1', { reason: 'no such tool any more' });
    expect((await session.settled()).text).toBe('end');
  });

  test('where the call is settled, or nothing is open, it opens', async () => {
    expect(without('look_up').restore(fixture(3, 'waiting')).status).toBe('waiting');
    expect(without('look_up').restore(fixture(3, 'answered')).status).toBe('settled');
  });

  test('opening it from a store leaves what the store has', async () => {
    const store = memoryStore();
    const agent = fixtureAgent({ store });
    agent.restore(fixture(3, 'waiting'));
    await agent.close();
    const before = JSON.stringify(await store.read('waiting'));
    const other = createAgent({ model: scriptedModel([]), tools: [], store });
    await expect(other.open('waiting')).rejects.toMatchObject({ code: 'incompatible-document' });
    expect(JSON.stringify(await store.read('waiting'))).toBe(before);
    expect((await other.open('waiting', { readOnly: true })).pending).toHaveLength(1);
    const again = await fixtureAgent({ store }).open('waiting');
    await again.approve('call_1_1');
    expect((await again.settled()).text).toBe('end');
  });
});
