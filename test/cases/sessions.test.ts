import { describe, expect, test } from 'vitest';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import type { SessionStore } from '../../src/stores/store.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { provider } from '../support/provider.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const gate = toolOf('gate', () => 'gate ran', { needsApproval: true });

/** A store whose commits end when the test says so. */
const slowStore = () => {
  const inner = memoryStore();
  const waiting: PromiseWithResolvers<void>[] = [];
  const begun = Promise.withResolvers<void>();
  let isOpen = false;
  const store: SessionStore = {
    ...inner,
    commit: async (commit) => {
      begun.resolve();
      if (!isOpen) {
        const gateway = Promise.withResolvers<void>();
        waiting.push(gateway);
        await gateway.promise;
      }
      await inner.commit(commit);
    },
  };
  return {
    store,
    begun: begun.promise,
    open: () => {
      isOpen = true;
      for (const { resolve } of waiting) resolve();
    },
  };
};

const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
};

inBothModes('one session, many users', (run) => {
  test('B127: two runs at once are served one after the other, and nothing is lost', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held')), 'answer A', calls(call('F1')), 'answer B']);
    const agent = createAgent({ model, tools: [held.tool, F1] });
    const both = Promise.all([run(agent, 'A', { session: 's' }), run(agent, 'B', { session: 's' })]);
    await held.whenBegun(1);
    held.end(0);
    const [a, b] = await both;
    expect([a.result.text, b.result.text]).toEqual(['answer A', 'answer B']);
    expect(a.session).toBe(b.session);
    expect(transcript(a.session.messages)).toEqual([
      'user: A',
      'assistant: held{}',
      'tool: done',
      'assistant: answer A',
      'user: B',
      'assistant: F1{}',
      'tool: Result 1',
      'assistant: answer B',
    ]);
  });

  test('B127: a run beside a decision on what waits: both count', async () => {
    const model = scriptedModel([calls(call('gate')), 'one', 'two']);
    const agent = createAgent({ model, tools: [gate] });
    const { session } = await run(agent, 'A', { session: 's' });
    const [, fate] = await Promise.all([session.approve('call_1_0'), session.send('B')]);
    expect(fate).toEqual({ type: 'delivered' });
    await resting(session);
    expect(transcript(session.messages).filter((line) => line.startsWith('user'))).toEqual(['user: A', 'user: B']);
    expect(results(session.messages)).toEqual(['gate ran']);
    expectWhole(session.messages);
  });

  test('B128: over a pause and a load every message, call and result is there once', async () => {
    const model = scriptedModel([calls(call('gate')), 'done']);
    const agent = createAgent({ model, tools: [gate] });
    const { session } = await run(agent, 'go');
    const later = reopened(agent, session);
    await later.approve('call_1_0');
    await later.settled();
    const end = reopened(agent, later);
    expect(transcript(end.messages)).toEqual(['user: go', 'assistant: gate{}', 'tool: gate ran', 'assistant: done']);
    expect(end.actor.getSnapshot().context.decisions).toHaveLength(1);
    expectWhole(end.messages);
  });

  test('B130: a run is over when it is saved, not before', async () => {
    const slow = slowStore();
    const agent = createAgent({ model: scriptedModel(['done']), store: slow.store });
    let isOver = false;
    const running = run(agent, 'go', { session: 's' }).then(() => (isOver = true));
    await slow.begun;
    await turns(5);
    expect(isOver).toBe(false);
    slow.open();
    await running;
    const stored = await agent.open('s', { readOnly: true });
    expect(transcript(stored.messages)).toEqual(['user: go', 'assistant: done']);
  });

  test('B130: nor is a run that waits for somebody, or one that was aborted', async () => {
    const slow = slowStore();
    const aborting = new AbortController();
    const held = heldTool('held');
    const model = scriptedModel([calls(call('gate')), calls(call('held'))]);
    const agent = createAgent({ model, tools: [gate, held.tool], store: slow.store, stopGrace: 0 });
    const over: string[] = [];
    const waiting = run(agent, 'go', { session: 'a' }).then(() => over.push('waiting'));
    await slow.begun;
    const aborted = run(agent, 'go', { session: 'b', signal: aborting.signal }).then(() => over.push('aborted'));
    await held.whenBegun(1);
    aborting.abort();
    await turns(5);
    expect(over).toEqual([]);
    slow.open();
    await Promise.all([waiting, aborted]);
    const kept = await slow.store.list();
    expect(kept.map(({ sessionId, status, pending }) => ({ sessionId, status, pending }))).toEqual(
      expect.arrayContaining([
        { sessionId: 'a', status: 'waiting', pending: 1 },
        { sessionId: 'b', status: 'settled', pending: 0 },
      ]),
    );
    const stopped = await agent.open('b', { readOnly: true });
    expect(results(stopped.messages)).toEqual([expect.stringMatching(/was stopped/)]);
  });
});

test('B130: saves of one session reach the store in the order in which they were made', async () => {
  const revisions: number[] = [];
  const texts: string[] = [];
  const gates: (() => void)[] = [];
  const inner = memoryStore();
  const store: SessionStore = {
    ...inner,
    commit: async (commit) => {
      // The first commit takes longer than those after it.
      if (gates.length === 0) await new Promise<void>((resolve) => gates.push(resolve));
      revisions.push(commit.summary.revision);
      texts.push(`${commit.summary.messages} messages`);
      await inner.commit(commit);
    },
  };
  const agent = createAgent({ model: scriptedModel(['one', 'two']), store });
  const session = await agent.open('s');
  await Promise.all([session.send('a'), session.send('b')]);
  await turns(5);
  gates[0]?.();
  await session[Symbol.asyncDispose]();
  expect(texts.at(-1)).toBe('4 messages');
  expect(texts).toEqual(texts.toSorted());
  expect(revisions).toEqual(revisions.map((_, index) => index + 1));
  expect(JSON.parse(`[${(await store.read('s'))?.messages.join(',')}]`)).toEqual(session.messages);
});

describe('B134: a document is the same after every load and save', () => {
  test('with calls that wait for a decision, for a result, and inside an agent', async () => {
    const inner = createAgent({
      model: scriptedModel([calls(call('gate', { deep: true }))]),
      tools: [gate],
      name: 'inner',
    });
    const asked = calls(call('gate', { n: 1 }), call('ask'), call('inner', { prompt: 'p' }));
    const agent = createAgent({
      model: scriptedModel([asked]),
      tools: [gate, outsideTool('ask'), inner.asTool({ name: 'inner', description: 'inner' })],
      approvals: { hold: 'gated', expireAfter: 1e12 },
    });
    const { sessionId } = await agent.run('go');
    const first = saved(await agent.open(sessionId));
    let document = first;
    for (let round = 0; round < 3; round += 1) {
      const session = agent.restore(JSON.stringify(document));
      await turns(2);
      document = saved(session);
      expect(document).toEqual(first);
      expect(session.pending).toHaveLength(3);
    }
  });

  test('at rest, with a message queued, and while the model is asked', async () => {
    const model = scriptedModel(['one', () => new Promise<string>(() => undefined)]);
    const agent = createAgent({ model });
    const session = await agent.open();
    const rested = async (): Promise<void> => {
      const document = saved(session);
      expect(saved(agent.restore(document))).toEqual(document);
    };
    await session.send('a');
    await session.settled();
    await rested();
    await session.send('b');
    void session.send('c');
    const busy = saved(session);
    const again = saved(
      createAgent({ model: scriptedModel([() => new Promise<string>(() => undefined)]) }).restore(busy),
    );
    expect(again).toEqual(busy);
  });
});

describe('B136: what a document keeps', () => {
  test('values have their JSON form before they are stored, so that a load changes nothing', async () => {
    const odd = toolOf('odd', () => ({
      when: new Date(0),
      gone: undefined,
      list: [undefined, 1],
      none: Number.NaN,
      minus: -0,
      big: 10n,
      table: new Map([['a', 1]]),
      constructor: 'c',
    }));
    const agent = createAgent({ model: scriptedModel([calls(call('odd')), 'done']), tools: [odd] });
    const { sessionId } = await agent.run('go');
    const session = await agent.open(sessionId);
    const later = reopened(agent, session);
    expect(later.messages).toEqual(session.messages);
    expect(saved(later)).toEqual(saved(session));
    expect(saved(later).createdAt).toBe(saved(session).createdAt);
    const [text] = results(later.messages);
    expect(text).toContain('1970-01-01');
    expect(text).toContain('"constructor":"c"');
    expect(text).toContain('10');
  });

  test('data that looks like an object of some library stays data', async () => {
    const lure = { lc: 2, type: 'constructor', id: ['Function'], kwargs: { code: 'throw 1' } };
    const agent = createAgent({
      model: scriptedModel([calls(call('lure', lure)), 'done']),
      tools: [toolOf('lure', () => lure)],
    });
    const { sessionId } = await agent.run(JSON.stringify(lure));
    const later = reopened(agent, await agent.open(sessionId));
    expect(results(later.messages)).toEqual([JSON.stringify(lure)]);
    expect(later.messages[0]?.content).toBe(JSON.stringify(lure));
  });

  test('what JSON cannot keep is refused where it is given', async () => {
    const agent = createAgent({ model: scriptedModel([calls(call('ask'))]), tools: [outsideTool('ask')] });
    const { sessionId } = await agent.run('go');
    const session = await agent.open(sessionId);
    const before = saved(session);
    for (const value of [new Date(0), { n: 10n }, new Map(), Number.NaN, [undefined]]) {
      await expect(session.respond('call_1_0', value as never)).rejects.toMatchObject({ code: 'invalid-input' });
    }
    expect(saved(session)).toEqual(before);
  });

  test('the time of its making stays', async () => {
    const agent = createAgent({ model: scriptedModel(['one', 'two']) });
    const { sessionId } = await agent.run('go');
    const document = { ...saved(await agent.open(sessionId)), createdAt: 1234 };
    const later = agent.restore(document);
    await later.send('more');
    await resting(later);
    expect(saved(later).createdAt).toBe(1234);
  });
});

test('B137: an id is data, whatever it looks like; two ids are two sessions', async () => {
  const paths = ['../../etc/x', '/abs', 'a/b', 'a\\b', '..\\x', 'C:x', '.', '..', 'a\\u0000b', 'CON', 'a%2f..%2fb'];
  const words = ['\u00e9', 'e\u0301', 'A', 'a', '__proto__', 'constructor', 'toString', 'x'.repeat(300)];
  const ids = [...paths, ...words];
  const store = memoryStore();
  const echo = createAgent({
    model: scriptedModel(ids.map((_, index) => `answer ${index}`)),
    store,
  });
  for (const id of ids) expect((await echo.run('go', { session: id })).sessionId).toBe(id);
  const other = createAgent({ model: scriptedModel([]), store });
  for (const [index, id] of ids.entries()) {
    const session = await other.open(id);
    expect(session.id).toBe(id);
    expect(transcript(session.messages)).toEqual(['user: go', `assistant: answer ${index}`]);
  }
  await store.delete('a');
  expect(await store.read('a')).toBeUndefined();
  expect(await store.read('A')).toBeDefined();
  await expect(other.open('a\u0000b')).rejects.toMatchObject({ code: 'invalid-option' });
});

inBothModes('texts that are not whole', (run) => {
  test.each([
    ['cut inside a pair', () => '123456789🎉tail', 10],
    ['half a pair from a tool', () => 'a\ud83d', 100],
    ['half a pair in an object', () => ({ d: 'a\ud83d' }), 100],
  ])('B139: %s never reaches a provider, and the session goes on after a load', async (_, give, maxResultChars) => {
    const tools = [toolOf('f', give, { maxResultChars })];
    await using from = await provider([{ calls: [{ id: 'c1', name: 'f' }] }, 'done', 'more']);
    const agent = createAgent({ model: from.model, tools });
    const { result, session } = await run(agent, 'go');
    expect(result.text).toBe('done');
    const { result: next } = await run(agent, 'next', { session: saved(session) });
    expect(next.text).toBe('more');
    for (const { raw } of from.server.requests) expect(raw).not.toMatch(/\\ud[89a-f]/i);
    expect(from.server.requests.every(({ raw }) => raw.isWellFormed())).toBe(true);
  });

  test('B139: half a pair in the arguments, in a message and in a reply', async () => {
    const tools = [toolOf('f', (input) => input)];
    await using from = await provider([
      { content: 'bad \ud83d', calls: [{ id: 'c1', name: 'f', args: String.raw`{"d":"\ud99c x"}` }] },
      'done',
      'more',
    ]);
    const agent = createAgent({ model: from.model, tools });
    const { result, session } = await run(agent, 'go \ud83d');
    expect(result.text).toBe('done');
    expect((await run(agent, 'next', { session: saved(session) })).result.text).toBe('more');
    for (const { raw } of from.server.requests) expect(raw).not.toMatch(/\\ud[89a-f]/i);
  });
});

describe('B140: large results', () => {
  test('are cut before they are stored, and say so', async () => {
    const big = toolOf('big', () => 'x'.repeat(5_000_000), { maxResultChars: 1000 });
    const agent = createAgent({ model: scriptedModel([calls(call('big')), 'done']), tools: [big] });
    const { sessionId, messages } = await agent.run('go');
    const text = results(messages)[0] ?? '';
    expect(text.length).toBeLessThan(1200);
    expect(text).toMatch(/cut|truncated|characters/i);
    expect(JSON.stringify(await agent.open(sessionId)).length).toBeLessThan(20_000);
  });

  test('a turn late in a long session asks the model with the whole history and costs about what an early one costs', async () => {
    const answers = Array.from({ length: 400 }, (_, index) => `answer ${index} ${'y'.repeat(200)}`);
    const model = scriptedModel(answers);
    const session = await createAgent({ model, store: { ...memoryStore(), commit: async () => undefined } }).open();
    for (const [index] of answers.entries()) {
      await session.send(`message ${index} ${'x'.repeat(200)}`);
      await session.settled();
    }
    expect(model.requests.at(-1)?.messages).toHaveLength(799);
    // Messages that were sent before are sent as the same objects: nothing is copied anew for each turn.
    const [early, late] = [model.requests[10]?.messages ?? [], model.requests.at(-1)?.messages ?? []];
    expect(early.every((message, index) => message === late[index])).toBe(true);
    expectWhole(session.messages);
  });
});
