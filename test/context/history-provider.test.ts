import { describe, expect, test } from 'vitest';
import { type HistoryProvider, type Message, type NewMessages, createAgent } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';
import { transcript } from '../support/transcript.ts';

/** A history in memory that writes at the position it is given, and notes what it was handed. */
const archive = () => {
  const kept = new Map<string, Message[]>();
  const handed: NewMessages[] = [];
  const history: HistoryProvider = {
    load: ({ sessionId }) => kept.get(sessionId) ?? [],
    append: async (given) => {
      handed.push(given);
      const before = (kept.get(given.sessionId) ?? []).slice(0, given.position);
      kept.set(given.sessionId, [...before, ...structuredClone([...given.messages])]);
    },
  };
  const of = (sessionId: string): string[] => transcript(kept.get(sessionId) ?? []);
  return { history, handed, of, kept };
};

const look = toolOf('look', () => 'seen');

inBothModes('a history provider (R47)', (run) => {
  test('R47: what it loads is sent and not stored; what is new is handed over once, in order', async () => {
    const { history, handed, of } = archive();
    const model = scriptedModel([calls(call('look')), 'a0', 'a1', 'a2']);
    const agent = createAgent({ model, tools: [look], history });
    const { session } = await run(agent, 'q0');
    const first = ['user: q0', 'assistant: look{}', 'tool: seen', 'assistant: a0'];
    expect(of(session.id)).toEqual(first);
    await run(agent, 'q1', { session });
    const { result } = await run(agent, 'q2', { session });
    expect(of(session.id)).toEqual([...first, 'user: q1', 'assistant: a1', 'user: q2', 'assistant: a2']);
    expect(handed.map(({ turn, position, messages }) => [turn, position, messages.length])).toEqual([
      [1, 0, 4],
      [2, 4, 2],
      [3, 6, 2],
    ]);
    expect(transcript(model.requests[3]?.messages ?? [])).toEqual([...of(session.id).slice(0, 6), 'user: q2']);
    // The session holds its last turn, and shows it.
    expect(transcript(session.messages)).toEqual(['user: q2', 'assistant: a2']);
    expect(transcript(result.messages)).toEqual(['user: q2', 'assistant: a2']);
    expect(JSON.stringify({ ...saved(session), sessionId: '' })).not.toContain('q1');
  });

  test('R8, R47: another process goes on with the key alone, and call ids do not repeat', async () => {
    const { history, of } = archive();
    const make = () => {
      const model = scriptedModel([calls(call('look', {}, 'same')), 'done']);
      return { model, agent: createAgent({ model, tools: [look], history }) };
    };
    const first = make();
    const { session } = await run(first.agent, 'q0');
    const second = make();
    await run(second.agent, 'q1', { session: saved(session) });
    expect(of(session.id)).toHaveLength(8);
    const sent = second.model.requests[1]?.messages ?? [];
    expectWhole(sent);
    expect(transcript(sent)).toEqual(of(session.id).slice(0, 7));
  });

  test.each([
    ['failed', { retry: { attempts: 1 } }, [new Error('down')], ['user: q0']],
    [
      'limit',
      { limits: { maxToolCalls: 1 } },
      [calls(call('look'), call('look'))],
      ['user: q0', /^assistant/, /^tool/],
    ],
    ['refused', {}, [{ text: 'no', finishReason: 'content-filter' }], ['user: q0']],
  ] as const)('R47: a turn that ends as %s is handed over as well', async (_, options, answers, expected) => {
    const { history, of } = archive();
    const agent = createAgent({ model: scriptedModel([...answers]), tools: [look], history, ...options });
    const { session } = await run(agent, 'q0');
    expect(of(session.id)).toEqual(
      expected.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))),
    );
  });

  test('R47: a retried turn hands over what is new alone, and sends nothing twice', async () => {
    const { history, handed, of } = archive();
    const model = scriptedModel([calls(call('look')), new Error('down'), 'a0', 'a1']);
    const contextProviders = [{ name: 'day', beforeTurn: () => ({ messages: 'Monday' }) }];
    const agent = createAgent({ model, tools: [look], history, contextProviders, retry: { attempts: 1 } });
    const { session } = await run(agent, 'q0');
    await session.retry();
    await session.settled();
    const turn = ['user: q0', 'assistant: look{}', 'tool: seen'];
    expect(of(session.id)).toEqual([...turn, 'assistant: a0']);
    expect(handed.map(({ position, messages }) => [position, messages.length])).toEqual([
      [0, 3],
      [3, 1],
    ]);
    expect(transcript(model.requests[2]?.messages ?? [])).toEqual(['user: Monday', ...turn]);
    await run(agent, 'q1', { session });
    expect(transcript(model.requests[3]?.messages ?? [])).toEqual([
      ...turn,
      'assistant: a0',
      'user: Monday',
      'user: q1',
    ]);
  });

  test('R45, R47: in manual mode a reply is handed over with its results', async () => {
    const { history, of } = archive();
    const model = scriptedModel([calls(call('look')), 'a0']);
    const agent = createAgent({ model, tools: [look], history, autopilot: false });
    const { session } = await run(agent, 'q0');
    expect(of(session.id)).toEqual(['user: q0']);
    const output = { type: 'text', value: 'by hand' } as const;
    const content = [{ type: 'tool-result', toolCallId: 'call_1_0', toolName: 'look', output } as const];
    await run(agent, { role: 'tool', content }, { session });
    expect(of(session.id)).toEqual(['user: q0', 'assistant: look{}', 'tool: by hand', 'assistant: a0']);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual(of(session.id).slice(0, 3));
  });

  test('R47: messages that could not be handed over are sent by the session, and come with the next turn', async () => {
    const { history, of } = archive();
    let isDown = true;
    const flaky: HistoryProvider = {
      load: history.load,
      append: (given) => {
        if (isDown) throw new Error('disk full');
        return history.append(given);
      },
    };
    const model = scriptedModel(['a0', 'a1']);
    const agent = createAgent({ model, history: flaky });
    const session = await agent.open();
    const events = session.events();
    await run(agent, 'q0', { session });
    expect(of(session.id)).toEqual([]);
    isDown = false;
    await run(agent, 'q1', { session });
    expect(of(session.id)).toEqual(['user: q0', 'assistant: a0', 'user: q1', 'assistant: a1']);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual(['user: q0', 'assistant: a0', 'user: q1']);
    for await (const event of events) {
      if (event.type !== 'error') continue;
      expect(event.error).toMatchObject({ code: 'context-provider-error', message: 'history provider: disk full' });
      break;
    }
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no disk')), 'no disk'],
    ['gives what is no message', () => [{ role: 'nobody' }] as never, 'role'],
    ['gives nothing', () => undefined as never, 'load gives must be an array, got undefined'],
    ['gives a text', () => 'hello' as never, 'load gives must be an array, got "hello"'],
  ])('R47: a history that %s fails the turn; `retry` loads it again', async (_, load, named) => {
    const { history, of } = archive();
    let isBroken = true;
    const broken: HistoryProvider = { ...history, load: (turn) => (isBroken ? load() : history.load(turn)) };
    const { error, session } = await run(createAgent({ model: scriptedModel(['a0']), history: broken }), 'q0');
    expect(error).toMatchObject({ code: 'context-provider-error', message: expect.stringContaining(named) });
    isBroken = false;
    await session.retry();
    expect((await session.settled()).text).toBe('a0');
    expect(of(session.id)).toEqual(['user: q0', 'assistant: a0']);
  });

  test('R6: a history that is not whole is mended before it is sent', async () => {
    const { history, kept } = archive();
    const model = scriptedModel(['a0']);
    const agent = createAgent({ model, history });
    const session = await agent.open();
    const orphan = { type: 'tool-call', toolCallId: 'x', toolName: 'look', input: {} } as const;
    kept.set(session.id, [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: [orphan] },
    ]);
    await run(agent, 'q0', { session });
    expectWhole(model.requests[0]?.messages ?? []);
    expect(transcript(model.requests[0]?.messages ?? [])[2]).toContain('interrupted');
  });
});

describe('a history provider (R47)', () => {
  test('R47: a stopped turn is handed over with all results', async () => {
    const { history, of } = archive();
    const held = heldTool('held');
    const agent = createAgent({
      model: scriptedModel([calls(call('held'))]),
      tools: [held.tool],
      history,
      stopGrace: 0,
    });
    const session = await agent.open();
    void session.send('q0');
    await held.whenBegun(1);
    await session.stop();
    await session.settled();
    expect(of(session.id)).toEqual(['user: q0', 'assistant: held{}', expect.stringContaining('stopped')]);
  });

  test('R38, R47: a turn that another process ends is handed over there, with the same position', async () => {
    const { history, handed, of } = archive();
    const gated = toolOf('gated', () => 'ran', { needsApproval: true });
    const make = (answers: Parameters<typeof scriptedModel>[0]) =>
      createAgent({ model: scriptedModel(answers), tools: [gated], history });
    const first = make(['a0', calls(call('gated'))]);
    const session = await first.open();
    await first.run('q0', { session });
    await first.run('q1', { session });
    const restored = reopened(make(['a1']), session);
    await restored.approve('call_1_0');
    expect((await restored.settled()).text).toBe('a1');
    expect(handed.map(({ position }) => position)).toEqual([0, 2]);
    expect(of(session.id)).toEqual([
      'user: q0',
      'assistant: a0',
      'user: q1',
      'assistant: gated{}',
      'tool: ran',
      'assistant: a1',
    ]);
  });

  test('R38, R47: after a crash between its write and ours the same position comes again', async () => {
    const { history, handed, of } = archive();
    const written = Promise.withResolvers<void>();
    const crashing: HistoryProvider = {
      load: history.load,
      append: async (given) => {
        await history.append(given);
        written.resolve();
        await new Promise(() => undefined);
      },
    };
    const first = await createAgent({ model: scriptedModel(['a0']), history: crashing }).open();
    void first.send('q0');
    await written.promise;
    const agent = createAgent({ model: scriptedModel(['a1']), history });
    const restored = reopened(agent, first);
    await agent.run('q1', { session: restored });
    expect(handed.map(({ position, messages }) => [position, messages.length])).toEqual([
      [0, 2],
      [0, 2],
      [2, 2],
    ]);
    expect(of(first.id)).toEqual(['user: q0', 'assistant: a0', 'user: q1', 'assistant: a1']);
  });

  test('R47: a failed turn and the message that follows it at once are handed over once each', async () => {
    const { history, handed, of } = archive();
    const slow: HistoryProvider = {
      load: history.load,
      append: async (given) => {
        await new Promise((resolve) => setImmediate(resolve));
        await history.append(given);
      },
    };
    const model = scriptedModel([new Error('down'), 'a1']);
    const session = await createAgent({ model, history: slow, retry: { attempts: 1 } }).open();
    const events = session.events();
    void session.send('q0');
    for await (const event of events) {
      if (event.type !== 'finish') continue;
      if (event.turn === 2) break;
      void session.send('q1');
    }
    await session.settled();
    expect(handed.map(({ turn, position }) => [turn, position])).toEqual([
      [1, 0],
      [2, 1],
    ]);
    expect(of(session.id)).toEqual(['user: q0', 'user: q1', 'assistant: a1']);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual(['user: q0', 'user: q1']);
  });

  test('R47: what a session had before it got a history provider is handed over with its next turn', async () => {
    const { history, of } = archive();
    const session = await createAgent({ model: scriptedModel(['a0']) }).open();
    void session.send('q0');
    await session.settled();
    const model = scriptedModel(['a1']);
    const agent = createAgent({ model, history });
    await agent.run('q1', { session: reopened(agent, session) });
    expect(of(session.id)).toEqual(['user: q0', 'assistant: a0', 'user: q1', 'assistant: a1']);
    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(of(session.id).slice(0, 3));
  });

  test('R47: concurrent sessions never mix', async () => {
    const { history, of } = archive();
    const model = scriptedModel(
      Array.from(
        { length: 40 },
        () =>
          ({ messages }) =>
            transcript(messages).join('; '),
      ),
    );
    const agent = createAgent({ model, history });
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    for (const turn of [1, 2]) await Promise.all(ids.map((session) => agent.run(`${session} ${turn}`, { session })));
    for (const id of ids) {
      expect(of(id)).toHaveLength(4);
      expect(
        of(id)
          .join()
          .match(/s\d+/g)
          ?.every((each) => each === id),
      ).toBe(true);
    }
  });

  test('R1: what is no history is refused when the agent is made', () => {
    for (const history of [{}, { load: () => [] }, () => []]) {
      expect(() => createAgent({ model: scriptedModel([]), history: history as never })).toThrow('history');
    }
  });
});
