import { describe, expect, test } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { z } from 'zod';
import { type ContextProvider, type EndedTurn, type ProvidedContext, createAgent, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { inBothModes } from '../support/run.ts';
import { counter, rejection, reopened, saved } from '../support/sessions.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

/** Gives the same to every turn, and notes what it is asked and told. */
const providerOf = (given: ProvidedContext | undefined, name = 'memory') => {
  const asked = counter(() => given);
  const told: EndedTurn[] = [];
  const provider: ContextProvider = {
    name,
    beforeTurn: (turn) => asked.run(turn as never) as ProvidedContext,
    afterTurn: (turn) => void told.push(turn),
  };
  return { provider, asked: asked.calls as unknown as { turn: number; messages: readonly unknown[] }[], told };
};

const endings = (told: readonly EndedTurn[]) => told.map(({ turn, result }) => `${turn} ${result.outcome.type}`);

inBothModes('context providers (R47)', (run) => {
  test('R47: asked once a turn, for all of its model calls; instructions follow the agent’s own', async () => {
    const { provider, asked } = providerOf({ instructions: 'Ann likes tea.', messages: 'Today is Monday.' });
    const model = scriptedModel([calls(call('look')), 'one', 'two']);
    const tools = [toolOf('look', () => 'seen')];
    const agent = createAgent({ model, tools, instructions: 'Be short.', contextProviders: [provider] });
    const { session } = await run(agent, 'hello');
    await run(agent, 'again', { session });
    expect(asked.map(({ turn, messages }) => [turn, messages.length])).toEqual([
      [1, 1],
      [2, 5],
    ]);
    expect(model.requests.map(({ instructions }) => instructions)).toEqual(
      Array.from({ length: 3 }, () => 'Be short.\n\nAnn likes tea.'),
    );
    expect(model.requests.map(({ messages }) => transcript(messages))).toEqual([
      ['user: Today is Monday.', 'user: hello'],
      ['user: Today is Monday.', 'user: hello', 'assistant: look{}', 'tool: seen'],
      ['user: hello', 'assistant: look{}', 'tool: seen', 'assistant: one', 'user: Today is Monday.', 'user: again'],
    ]);
  });

  test('R48: what they give is not stored, nor in the document or the result', async () => {
    const { provider } = providerOf({ instructions: 'SECRET', messages: 'SECRET' });
    const agent = createAgent({ model: scriptedModel(['one']), contextProviders: [provider] });
    const { session, result } = await run(agent, 'hello');
    expect(transcript(session.messages)).toEqual(['user: hello', 'assistant: one']);
    expect(transcript(result.messages)).toEqual(['user: hello', 'assistant: one']);
    expect(JSON.stringify(session)).not.toContain('SECRET');
  });

  test('R48: with `store` the session keeps the messages where they were sent, once', async () => {
    const { provider } = providerOf({
      messages: ['first', 'second'].map((content) => ({ role: 'user', content })),
      store: true,
    });
    const passing = providerOf({ messages: 'passing' }, 'passing');
    const model = scriptedModel([calls(call('look')), 'one', 'two']);
    const tools = [toolOf('look', () => 'seen')];
    const agent = createAgent({ model, tools, contextProviders: [provider, passing.provider] });
    const { session } = await run(agent, 'hello');
    const kept = ['user: hello', 'user: first', 'user: second', 'assistant: look{}', 'tool: seen', 'assistant: one'];
    expect(transcript(session.messages)).toEqual(kept);
    expect(transcript(model.requests[0]?.messages ?? [])).toEqual(['user: passing', ...kept.slice(0, 3)]);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual(['user: passing', ...kept.slice(0, 5)]);
    await run(agent, 'again', { session });
    expect(transcript(session.messages)).toEqual([
      ...kept,
      'user: again',
      'user: first',
      'user: second',
      'assistant: two',
    ]);
  });

  test('R47: their tools are shown, checked, and gone after the turn', async () => {
    const double = tool({
      name: 'double',
      inputSchema: z.object({ n: z.number() }),
      execute: ({ n }) => n * 2,
    });
    let turn = 0;
    const provider: ContextProvider = {
      name: 'math',
      beforeTurn: () => ((turn += 1) === 1 ? { tools: [double] } : undefined),
    };
    const model = scriptedModel([
      calls(call('double', { n: 2 }), call('double', { n: 'x' })),
      'four',
      calls(call('double', { n: 2 })),
      'sorry',
    ]);
    const agent = createAgent({ model, contextProviders: [provider] });
    const { session } = await run(agent, 'hello');
    expect(results(session.messages)).toEqual(['4', expect.stringContaining('n')]);
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['double']);
    await run(agent, 'again', { session });
    expect(model.requests[2]?.tools).toBeUndefined();
    expect(results(session.messages).at(-1)).toContain('double');
  });

  test.each([
    ['answered', {}, ['one']],
    ['limit', { limits: { maxToolCalls: 1 } }, [calls(call('look'), call('look'))]],
    ['refused', {}, [{ text: 'no', finishReason: 'content-filter' }]],
    ['tool-calls', { autopilot: false }, [calls(call('look'))]],
    ['failed', { retry: { attempts: 1 } }, [new Error('down')]],
  ] as const)('R47: told of a turn that ends as %s, before its caller goes on', async (outcome, options, answers) => {
    const { provider, told } = providerOf(undefined);
    const agent = createAgent({
      model: scriptedModel([...answers]),
      tools: [toolOf('look', () => 'seen')],
      contextProviders: [provider],
      ...options,
    });
    const { session } = await run(agent, 'hello', { context: 'mine' });
    expect(endings(told)).toEqual([`1 ${outcome}`]);
    expect(told[0]).toMatchObject({ sessionId: session.id, context: 'mine' });
    expect(transcript(told[0]?.result.messages ?? [])[0]).toBe('user: hello');
    expect(session.actor.getSnapshot().context.turn.untold).toBeUndefined();
  });

  test('R47: a provider that throws fails the turn with its name; `retry` asks again', async () => {
    let broken = true;
    const told: string[] = [];
    const provider: ContextProvider = {
      name: 'memory',
      beforeTurn: () => {
        if (broken) throw new Error('no connection');
        return { instructions: 'all is well' };
      },
      afterTurn: ({ result }) => void told.push(result.outcome.type),
    };
    const model = scriptedModel(['one']);
    const agent = createAgent({ model, contextProviders: [provider] });
    const { error, session } = await run(agent, 'hello');
    expect(error).toMatchObject({
      code: 'context-provider-error',
      message: 'context provider "memory": no connection',
    });
    broken = false;
    await session.retry();
    expect((await session.settled()).text).toBe('one');
    expect(model.requests[0]?.instructions).toBe('all is well');
    expect(told).toEqual(['failed', 'answered']);
  });

  test.each<[string, unknown, string]>([
    ['an unknown key', { instruction: 'x' }, 'instruction'],
    ['a text that is none', { instructions: 1 }, 'instructions'],
    ['what is no message', { messages: [{ role: 'nobody', content: 'x' }] }, 'role'],
    ['what is no tool', { tools: [{}] }, 'tools[0]'],
    ['a tool that the application answers', { tools: [tool({ name: 'ask', inputSchema: z.object({}) })] }, 'ask'],
    ['a tool of a name that the agent has', { tools: [toolOf('own', () => 1)] }, 'own'],
    ['a text in place of an object', 'x', 'beforeTurn'],
  ])('R47: %s fails the turn, and the message names it', async (_, given, named) => {
    const provider: ContextProvider = { name: 'memory', beforeTurn: () => given as ProvidedContext };
    const agent = createAgent({
      model: scriptedModel([]),
      tools: [toolOf('own', () => 2)],
      contextProviders: [provider],
    });
    const { error } = await run(agent, 'hello');
    expect(error).toMatchObject({ code: 'context-provider-error', message: expect.stringContaining('"memory"') });
    expect(error?.message).toContain(named);
  });

  test('R47: what `afterTurn` throws is an event; the turn stays as it is, and the next one begins', async () => {
    const provider: ContextProvider = {
      name: 'memory',
      afterTurn: () => {
        throw new Error('disk full');
      },
    };
    const agent = createAgent({ model: scriptedModel(['one', 'two']), contextProviders: [provider] });
    const session = await agent.open();
    const events = session.events();
    const { result } = await run(agent, 'hello', { session });
    expect(result.text).toBe('one');
    expect((await run(agent, 'again', { session })).result.text).toBe('two');
    for await (const event of events) {
      if (event.type !== 'error') continue;
      expect(event.error).toMatchObject({
        code: 'context-provider-error',
        message: 'context provider "memory": disk full',
      });
      break;
    }
  });
});

describe('context providers (R47)', () => {
  test('R47: a stop while a provider thinks aborts it, and it is told', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const told: string[] = [];
    const provider: ContextProvider = {
      name: 'slow',
      beforeTurn: ({ signal }) => {
        begun.resolve(signal);
        return new Promise(() => undefined);
      },
      afterTurn: ({ result }) => void told.push(result.outcome.type),
    };
    const session = await createAgent({ model: scriptedModel([]), contextProviders: [provider] }).open();
    void session.send('hello');
    const signal = await begun.promise;
    await session.stop('enough');
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expect(signal.aborted).toBe(true);
    expect(told).toEqual(['stopped']);
  });

  test('R47: a queued message waits until the providers know how the turn before ended', async () => {
    const log: string[] = [];
    const ending = Promise.withResolvers<void>();
    const provider: ContextProvider = {
      name: 'log',
      beforeTurn: ({ turn }) => void log.push(`before ${turn}`),
      afterTurn: async ({ turn }) => {
        if (turn === 1) await ending.promise;
        log.push(`after ${turn}`);
      },
    } as ContextProvider;
    const model = scriptedModel(['one', 'two']);
    const session = await createAgent({ model, contextProviders: [provider] }).open();
    const events = session.events();
    void session.send('hello');
    void session.send('again');
    let turns = 0;
    for await (const event of events) {
      if (event.type !== 'finish') continue;
      turns += 1;
      if (turns === 1) {
        expect(model.requests).toHaveLength(1);
        ending.resolve();
      }
      if (turns === 2) break;
    }
    await session.settled();
    expect(log).toEqual(['before 1', 'after 1', 'before 2', 'after 2']);
  });

  test('R47: concurrent sessions never mix', async () => {
    const told = new Map<string, string>();
    const provider: ContextProvider = {
      name: 'who',
      beforeTurn: async ({ sessionId }) => {
        await Promise.resolve();
        return { instructions: sessionId, tools: [toolOf(`who_${sessionId}`, () => sessionId)] };
      },
      afterTurn: ({ sessionId, result }) => void told.set(sessionId, result.text),
    };
    const model = scriptedModel(
      Array.from({ length: 40 }, () => ({ instructions, messages, tools }) => {
        if (messages.at(-1)?.role === 'tool') return `${instructions}: ${results(messages).join()}`;
        return calls(...(tools ?? []).map(({ name }) => call(name)));
      }),
    );
    const agent = createAgent({ model, contextProviders: [provider] });
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const all = await Promise.all(ids.map((session) => agent.run('who am I?', { session })));
    expect(all.map(({ text }) => text)).toEqual(ids.map((id) => `${id}: ${id}`));
    expect([...told]).toEqual(expect.arrayContaining(ids.map((id) => [id, `${id}: ${id}`])));
  });

  test('R38, R47: after a restore a pending call of a provided tool runs with the tool that is given again', async () => {
    const make = (word: string) => {
      const told: EndedTurn[] = [];
      const book = toolOf('book', () => word, { needsApproval: true, sequential: true });
      const provider: ContextProvider = {
        name: 'travel',
        beforeTurn: () => ({ tools: [book], instructions: word, messages: 'once', store: true }),
        afterTurn: (turn) => void told.push(turn),
      };
      const model = scriptedModel(word === 'first' ? [calls(call('book'))] : ['booked']);
      return { agent: createAgent({ model, contextProviders: [provider] }), model, told };
    };
    const before = make('first');
    const { sessionId } = await before.agent.run('book it');
    const waiting = await before.agent.open(sessionId);
    const after = make('second');
    const restored = reopened(after.agent, waiting);
    expect(restored.pending.map(({ callId }) => callId)).toEqual(['call_1_0']);
    await restored.approve('call_1_0');
    expect((await restored.settled()).text).toBe('booked');
    expect(transcript(restored.messages)).toEqual([
      'user: book it',
      'user: once',
      'assistant: book{}',
      'tool: second',
      'assistant: booked',
    ]);
    expect(after.model.requests[0]).toMatchObject({ instructions: 'second', tools: [{ name: 'book' }] });
    expect(endings(after.told)).toEqual(['1 answered']);
    expect(before.told).toEqual([]);
  });

  test('R47: a tool that its provider gives no more after a restore is unknown, and the turn goes on', async () => {
    let given = true;
    const provider: ContextProvider = {
      name: 'travel',
      beforeTurn: () => (given ? { tools: [toolOf('book', () => 'booked', { needsApproval: true })] } : {}),
    };
    const model = scriptedModel([calls(call('book')), 'sorry']);
    const agent = createAgent({ model, contextProviders: [provider] });
    const { sessionId } = await agent.run('book it');
    const document = saved(await agent.open(sessionId));
    given = false;
    const other = createAgent({ model, contextProviders: [provider] });
    const restored = other.restore(document);
    await restored.approve('call_1_0');
    expect((await restored.settled()).text).toBe('sorry');
    expect(results(restored.messages)[0]).toContain('book');
  });

  test('R47: a session that was saved before its providers were told tells them when it is restored', async () => {
    const never: ContextProvider = { name: 'memory', afterTurn: () => new Promise(() => undefined) };
    const first = await createAgent({ model: scriptedModel(['one']), contextProviders: [never] }).open();
    const events = first.events();
    void first.send('hello');
    for await (const event of events) if (event.type === 'finish') break;
    const document = saved(first);
    const told: EndedTurn[] = [];
    const later: ContextProvider = { name: 'memory', afterTurn: (turn) => void told.push(turn) };
    const agent = createAgent({ model: scriptedModel([]), contextProviders: [later] });
    const restored = agent.restore(document);
    expect((await restored.settled()).text).toBe('one');
    expect(endings(told)).toEqual(['1 answered']);
    reopened(createAgent({ model: scriptedModel([]), contextProviders: [later] }), restored);
    expect(told).toHaveLength(1);
  });

  test('R47: a machine of one turn without a session, and an agent inside a call, ask and tell as well', async () => {
    const inner = providerOf({ instructions: 'inner' });
    const outer = providerOf({ instructions: 'outer' });
    const helper = createAgent({ model: scriptedModel(['helped']), contextProviders: [inner.provider] });
    const model = scriptedModel([calls(call('helper', { prompt: 'help' })), 'done']);
    const agent = createAgent({
      model,
      tools: [helper.asTool({ name: 'helper' })],
      contextProviders: [outer.provider],
    });
    const actor = createActor(agent.machine, { input: { message: 'go', singleTurn: true } });
    const result = await toPromise(actor.start());
    await Promise.resolve();
    expect(result.text).toBe('done');
    expect(endings(inner.told)).toEqual(['1 answered']);
    expect(endings(outer.told)).toEqual(['1 answered']);
    expect(model.requests.map(({ instructions }) => instructions)).toEqual(['outer', 'outer']);
  });

  test('R1: what is no list of providers is refused when the agent is made', () => {
    const model = scriptedModel([]);
    for (const contextProviders of [
      {},
      [{ name: 'x' }],
      [{ beforeTurn: () => undefined }],
      [{ name: 'x', afterTurn: 1 }],
    ]) {
      expect(() => createAgent({ model, contextProviders: contextProviders as never })).toThrow('contextProviders');
    }
    expect(() => createAgent({ model, contextProviders: [] })).not.toThrow();
  });

  test('R38: closing a session waits until its providers are told, and saves that they were', async () => {
    const ending = Promise.withResolvers<void>();
    const provider: ContextProvider = { name: 'slow', afterTurn: () => ending.promise };
    const agent = createAgent({ model: scriptedModel(['one']), contextProviders: [provider] });
    const session = await agent.open();
    const events = session.events();
    void session.send('hello');
    for await (const event of events) if (event.type === 'finish') break;
    const closing = session[Symbol.asyncDispose]();
    ending.resolve();
    await closing;
    expect(JSON.stringify(session)).not.toContain('untold');
    await expect(rejection(session.retry())).resolves.toMatchObject({ code: 'session-closed' });
  });
});
