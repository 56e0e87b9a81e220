import { describe, expect, test } from 'vitest';
import { clearToolResults, compaction, keepLast, summarize } from '../../src/compaction/index.ts';
import { type AgentEvent, type Compaction, type Message, ModelError, createAgent } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { provider } from '../support/provider.ts';
import { inBothModes } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const tooLong = (): ModelError =>
  new ModelError('model-request-failed', 'context_length_exceeded', { status: 400, transient: false, overflow: true });

const talk = (n: number): string[] => Array.from({ length: n }, (_, index) => `a${index}`);

const compactions = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'compaction' ? [[event.by, event.before, event.after]] : []));

inBothModes('compaction (R49)', (run) => {
  /** Asks `n` questions, one turn each. */
  const ask = async (agent: ReturnType<typeof createAgent>, n: number) => {
    const session = await agent.open();
    const events: AgentEvent[] = [];
    for (let index = 0; index < n; index += 1) events.push(...(await run(agent, `q${index}`, { session })).events);
    return { session, events };
  };

  test('R49: what is sent gets shorter, what is stored stays whole and can be shown', async () => {
    const model = scriptedModel(talk(5));
    const agent = createAgent({
      model,
      compaction: compaction({ when: { messages: 6 }, strategies: [keepLast({ messages: 3 })] }),
    });
    const { session } = await ask(agent, 5);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 3, 5]);
    expect(transcript(session.messages)).toEqual([0, 1, 2, 3, 4].flatMap((n) => [`user: q${n}`, `assistant: a${n}`]));
    expect(transcript(model.requests[3]?.messages ?? [])).toEqual(['user: q2', 'assistant: a2', 'user: q3']);
  });

  test('R49: what a compaction changes in place is sent and not stored', async () => {
    const model = scriptedModel(talk(2));
    const spoil: Compaction = {
      compact: ({ messages }) => {
        for (const message of messages) message.content = 'short';
        (messages as Message[]).push({ role: 'user', content: 'and short' });
        return { messages, by: ['spoil'] };
      },
    };
    const { session } = await ask(createAgent({ model, compaction: spoil }), 2);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: short',
      'assistant: short',
      'user: short',
      'user: and short',
    ]);
    expect(transcript(session.messages)).toEqual(['user: q0', 'assistant: a0', 'user: q1', 'assistant: a1']);
  });

  test('R47, R49: what holds for one turn stands before its message, also where a compaction gives it another form', async () => {
    const model = scriptedModel(talk(2));
    const asIs: Compaction = { compact: ({ messages }) => ({ messages, by: [] }) };
    const contextProviders = [{ name: 'clock', beforeTurn: () => ({ messages: 'it is noon' }) }];
    await ask(createAgent({ model, compaction: asIs, contextProviders }), 2);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: q0',
      'assistant: a0',
      'user: it is noon',
      'user: q1',
    ]);
  });

  test('R43, R49: a summary is made once, survives a restore, and its tokens count', async () => {
    const notes = scriptedModel([{ text: 'NOTES', usage: { inputTokens: 7, outputTokens: 3 } }], { name: 'small' });
    const usage = { inputTokens: 10, outputTokens: 1 };
    const make = (answers: string[]) => {
      const model = scriptedModel(answers.map((text) => ({ text, usage })));
      const strategies = [summarize({ model: notes, keep: { messages: 2 } })];
      return { model, agent: createAgent({ model, compaction: compaction({ when: { messages: 6 }, strategies }) }) };
    };
    const first = make(talk(4));
    const { session } = await ask(first.agent, 4);
    expect(session.actor.getSnapshot().context.usage).toEqual({ inputTokens: 47, outputTokens: 7 });
    const result = await session.settled();
    expect(result.usage).toEqual({ inputTokens: 17, outputTokens: 4 });
    expect(result.modelCalls.map(({ model, purpose }) => [model, purpose])).toEqual([
      ['small', 'compaction'],
      ['scripted', undefined],
    ]);
    const second = make(['b']);
    const restored = reopened(second.agent, session);
    await run(second.agent, 'again', { session: restored });
    expect(transcript(second.model.requests[0]?.messages ?? [])).toEqual([
      expect.stringContaining('NOTES'),
      'user: q2',
      'assistant: a2',
      'user: q3',
      'assistant: a3',
      'user: again',
    ]);
    expect(notes.requests).toHaveLength(1);
    expect(restored.messages).toHaveLength(10);
  });

  test('R49: a summary that fails changes nothing: all is sent, an event tells, the turn is answered', async () => {
    const notes = scriptedModel([new Error('no quota')]);
    const model = scriptedModel(talk(3));
    const strategies = [summarize({ model: notes, keep: { messages: 2 } })];
    const agent = createAgent({ model, compaction: compaction({ when: { messages: 4 }, strategies }) });
    const session = await agent.open();
    const events = session.events();
    for (const question of ['q0', 'q1', 'q2']) await run(agent, question, { session });
    expect(model.requests[2]?.messages).toHaveLength(5);
    expect(JSON.stringify(saved(session))).not.toContain('reaches');
    for await (const event of events) {
      if (event.type === 'compaction') throw new Error('nothing was made shorter');
      if (event.type !== 'error') continue;
      expect(event.error).toMatchObject({ code: 'compaction-failed', message: 'compaction failed: no quota' });
      break;
    }
  });

  test('R49: a compaction that throws or keeps what is no JSON is left out, and an event tells', async () => {
    for (const compact of [
      () => {
        throw new Error('oh no');
      },
      () => ({ messages: [], memory: new Map() as never, by: ['x'] }),
    ]) {
      const model = scriptedModel(['one']);
      const agent = createAgent({ model, compaction: { compact } });
      const { result } = await run(agent, 'hello');
      expect(result.text).toBe('one');
      expect(model.requests[0]?.messages).toHaveLength(1);
    }
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['messages that are no list', { messages: 'all', by: ['x'] }],
    ['what is no message', { messages: ['hello', null], by: ['x'] }],
    ['a role that nobody has', { messages: [{ role: 'wizard', content: 'hello' }], by: ['x'] }],
    ['nothing to send', { messages: [], by: ['x'] }],
    ['names that are no list', { messages: [{ role: 'user', content: 'short' }], by: 'x' }],
    ['calls that are none', { messages: [{ role: 'user', content: 'short' }], by: ['x'], calls: [null] }],
    [
      'tokens that are no numbers',
      {
        messages: [{ role: 'user', content: 'short' }],
        by: ['x'],
        calls: [{ model: 'm', usage: { inputTokens: '9' } }],
      },
    ],
  ])('R49: a compaction that gives %s is left out, and an event tells', async (_name, given) => {
    const model = scriptedModel(['one']);
    const agent = createAgent({ model, compaction: { compact: () => given as never } });
    const session = await agent.open();
    const events = session.events();
    const { result } = await run(agent, 'hello', { session });
    expect(result.text).toBe('one');
    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(['user: hello']);
    for await (const event of events) {
      if (event.type === 'finish') throw new Error('no event told');
      if (event.type !== 'error') continue;
      expect(event.error).toMatchObject({ code: 'compaction-failed' });
      break;
    }
  });

  test('R49: a request that the provider finds too long is made shorter once and sent again', async () => {
    const model = scriptedModel(['a0', 'a1', tooLong(), 'a2', 'a3']);
    const agent = createAgent({
      model,
      compaction: compaction({ when: { tokens: 100_000 }, strategies: [keepLast({ messages: 2 })] }),
    });
    const { session, events } = await ask(agent, 4);
    expect(model.requests.map(({ messages }) => transcript(messages))).toEqual([
      ['user: q0'],
      ['user: q0', 'assistant: a0', 'user: q1'],
      ['user: q0', 'assistant: a0', 'user: q1', 'assistant: a1', 'user: q2'],
      ['user: q1', 'assistant: a1', 'user: q2'],
      ['user: q1', 'assistant: a1', 'user: q2', 'assistant: a2', 'user: q3'],
    ]);
    expect(session.messages).toHaveLength(8);
    if (events.length > 0) expect(compactions(events)).toEqual([[['keep-last'], 5, 3]]);
  });

  test('R49: what cannot be shorter, or is too long again, fails with `context-overflow`', async () => {
    const options = { when: { tokens: 100_000 }, strategies: [keepLast({ messages: 2 })] };
    const short = scriptedModel([tooLong()]);
    const { error } = await run(createAgent({ model: short, compaction: compaction(options) }), 'hello');
    expect(error?.code).toBe('context-overflow');
    short.assertFinished();
    const long = scriptedModel(['a0', 'a1', tooLong(), tooLong()]);
    const agent = createAgent({ model: long, compaction: compaction(options) });
    const { session } = await ask(agent, 2);
    expect((await run(agent, 'q2', { session })).error?.code).toBe('context-overflow');
    long.assertFinished();
    // What was cut for it stays cut.
    expect(JSON.stringify(saved(session))).toContain('keep-last');
  });

  test('R10, R49: a forced tool choice holds for the first reply also where a summary was made before it', async () => {
    const notes = scriptedModel(['NOTES']);
    const model = scriptedModel([
      'a0',
      'a1',
      'a2',
      new ModelError('model-request-failed', 'busy', { transient: true }),
      calls(call('look')),
      'done',
    ]);
    const strategies = [summarize({ model: notes, keep: { messages: 2 } })];
    const agent = createAgent({
      model,
      tools: [toolOf('look', () => 'seen')],
      retry: { initialDelay: 0 },
      compaction: compaction({ when: { messages: 6 }, strategies }),
    });
    const { session } = await ask(agent, 3);
    await run(agent, 'q3', { session, toolChoice: 'required' });
    expect(model.requests.slice(3).map(({ toolChoice }) => toolChoice)).toEqual(['required', 'required', undefined]);
    expect(notes.requests).toHaveLength(1);
  });

  test('R47, R49: what a provider gives stands before the question, whatever was cut', async () => {
    const model = scriptedModel(talk(4));
    const agent = createAgent({
      model,
      contextProviders: [{ name: 'day', beforeTurn: () => ({ messages: 'It is Monday.' }) }],
      compaction: compaction({ when: { messages: 4 }, strategies: [keepLast({ messages: 1 })] }),
    });
    await ask(agent, 4);
    expect(model.requests.map(({ messages }) => transcript(messages))).toEqual([
      ['user: It is Monday.', 'user: q0'],
      ['user: q0', 'assistant: a0', 'user: It is Monday.', 'user: q1'],
      ['user: It is Monday.', 'user: q2'],
      ['user: q2', 'assistant: a2', 'user: It is Monday.', 'user: q3'],
    ]);
  });
});

describe('compaction (R49)', () => {
  test('B71, R49: a strict server takes every request of a long turn whose results are cleared and cut', async () => {
    const asked = (n: number) => ({ calls: [1, 2, 3].map((k) => ({ id: `c${n}_${k}`, name: 'look' })) });
    await using from = await provider([...Array.from({ length: 12 }, (_, n) => asked(n)), 'done']);
    const agent = createAgent({
      model: from.model,
      tools: [toolOf('look', () => 'x'.repeat(500))],
      compaction: compaction({
        when: { messages: 10 },
        strategies: [clearToolResults({ keep: { rounds: 2 } }), keepLast({ messages: 5 })],
      }),
    });
    const { text, messages } = await agent.run('look around');
    expect(text).toBe('done');
    expect(results(messages).every((result) => result.length === 500)).toBe(true);
    expect(messages).toHaveLength(26);
    for (const { body } of from.server.requests) {
      const sent = body['messages'] as { role: string; content: string }[];
      expect(sent.length).toBeLessThanOrEqual(17);
      expect(sent[0]).toMatchObject({ role: 'user', content: 'look around' });
    }
  });

  test('R49: a stop while a summary is made aborts it, and nothing is asked', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const notes = scriptedModel([
      (_, { signal }) => {
        begun.resolve(signal);
        return new Promise(() => undefined);
      },
    ]);
    const model = scriptedModel(talk(2));
    const strategies = [summarize({ model: notes, keep: { messages: 1 } })];
    const agent = createAgent({ model, compaction: compaction({ when: { messages: 2 }, strategies }) });
    const session = await agent.open();
    await agent.run('q0', { session });
    void session.send('q1');
    const signal = await begun.promise;
    await session.stop();
    expect(signal.aborted).toBe(true);
    expect((await session.settled()).outcome.type).toBe('stopped');
    expect(model.requests).toHaveLength(1);
  });

  test('R46, R49: the agent’s own model makes the summary with its middleware around it', async () => {
    const asked: (string | undefined)[] = [];
    const sessions = new Set<string | undefined>();
    const model = scriptedModel(['a0', 'NOTES', 'a1']);
    const agent = createAgent({
      model,
      instructions: 'Be short.',
      modelMiddleware: [
        (next) => ({
          ...next,
          generate: (request, options) => {
            asked.push(request.instructions?.slice(0, 9));
            sessions.add(options.sessionId);
            return next.generate(request, options);
          },
        }),
      ],
      compaction: compaction({ when: { messages: 2 }, strategies: [summarize({ keep: { messages: 1 } })] }),
    });
    const session = await agent.open();
    await agent.run('q0', { session });
    await agent.run('q1', { session });
    expect(asked).toEqual(['Be short.', 'You write', 'Be short.']);
    expect([...sessions]).toEqual([session.id]);
    expect(transcript(model.requests[2]?.messages ?? [])).toEqual([expect.stringContaining('NOTES'), 'user: q1']);
  });

  test('R1: what is no compaction is refused when the agent is made', () => {
    for (const given of [{}, () => [], { compact: 1 }]) {
      const make = () => createAgent({ model: scriptedModel([]), compaction: given as unknown as Compaction });
      expect(make).toThrow('compaction');
    }
  });
});
