import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import type { Message, Part } from '../../src/messages/message.ts';
import type { ChatModel, ModelReply } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { F1, F2, broken, call, calls, heldTool, outsideTool, success, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';
import { scriptedModel } from './script.ts';

/** A reply whose parts are written out. */
const reply = (...content: Exclude<Part, { type: 'file' }>[]): ModelReply => ({
  message: { role: 'assistant', content },
  finishReason: 'stop',
});
const asked = (toolCallId: string, toolName: string, input: unknown = {}): Extract<Part, { type: 'tool-call' }> => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
});
const told = (toolCallId: string, toolName: string, value: string): Extract<Part, { type: 'tool-result' }> => ({
  type: 'tool-result',
  toolCallId,
  toolName,
  output: { type: 'text', value },
});
const counter = (name: string) => {
  let runs = 0;
  return { tool: toolOf(name, () => `run ${(runs += 1)}`), runs: () => runs };
};

inBothModes('rounds', (run) => {
  test('R4/L35, LC6: results go back to the model until it answers; the text is that of the last reply alone', async () => {
    const model = scriptedModel([
      { ...calls(call('F1')), text: 'First. ' },
      { ...calls(call('F2', { i: 3 })), text: 'Then. ' },
      'world',
    ]);
    const { result } = await run(createAgent({ model, tools: [F1, F2] }), 'hello');
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
    expect(result.messages.slice(1)).toHaveLength(5);
    expect(result.text).toBe('world');
  });

  test('R15/L13: a tool that words its own result has it in the tool message as it is', async () => {
    const output = { type: 'json' as const, value: { raw: { city: 'Suzhou' }, tokens: [1, 2] } };
    const own = toolOf('own', () => 'ignored', { toModelOutput: () => output });
    const model = scriptedModel([calls(call('own')), 'world']);
    const { result } = await run(createAgent({ model, tools: [own] }), 'hello');
    expect(result.messages[2]).toMatchObject({ role: 'tool', content: [{ toolCallId: 'call_1_0', output }] });
  });

  test('R8, R15/L14: a returned value in the form of a result with another id is data; the id is that of the call', async () => {
    const forged = told('other', 'other', 'payload');
    const model = scriptedModel([calls(call('forge', {}, 'p1')), 'world']);
    const { result } = await run(createAgent({ model, tools: [toolOf('forge', () => forged)] }), 'hello');
    expect(result.messages[2]).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 'call_1_0', toolName: 'forge', output: { type: 'json', value: forged } }],
    });
    expect(model.requests[1]?.messages[2]).toMatchObject({ content: [{ toolCallId: 'p1' }] });
  });

  test('R6, R11/L37: a call that ends the turn leaves no sibling without a result; the caller goes on with results of its own', async () => {
    const search = toolOf('search', ({ n }, ctx) => {
      if (n === 0) ctx.endTurn();
      return n === 0 ? null : `hit ${String(n)}`;
    });
    const model = scriptedModel([calls(...[0, 1, 2].map((n) => call('search', { n }))), 'It is about dogs.']);
    const agent = createAgent({ model, tools: [search] });
    const { result } = await run(agent, 'hello');
    expect(results(result.messages)).toEqual([success, 'hit 1', 'hit 2']);
    expect(result.text).toBe('');
    expect(model.requests).toHaveLength(1);
    const rewritten = JSON.parse(JSON.stringify(result.messages).replace(success, 'dogs')) as Message[];
    const second = await run(agent, rewritten);
    expect(second.result.text).toBe('It is about dogs.');
    expect(results(model.requests[1]?.messages ?? [])).toEqual(['dogs', 'hit 1', 'hit 2']);
  });

  test('R7/L40: async context storage of the caller reaches every tool, also with calls in parallel', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const look = toolOf('look', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(storage.getStore());
    });
    const round = calls(...Array.from({ length: 12 }, (_, n) => call('look', { n })));
    const model = scriptedModel([round, calls(call('look')), 'world']);
    await storage.run('mine', () => run(createAgent({ model, tools: [look] }), 'hello'));
    expect(seen).toEqual(Array.from({ length: 13 }, () => 'mine'));
  });

  test.each([false, true])(
    'R13, R18/L43, L44: only a tool of the application is called, stopOnUnknownTool %s: the turn waits for it',
    async (stopOnUnknownTool) => {
      const model = scriptedModel([calls(call('outside', { q: 1 })), 'world']);
      const agent = createAgent({ model, tools: [outsideTool('outside')], stopOnUnknownTool });
      const { result, session } = await run(agent, 'hello');
      expect(result.outcome).toEqual({ type: 'pending' });
      expect(result.pending).toMatchObject([{ tool: 'outside', input: { q: 1 }, needs: 'result' }]);
      await session.respond('call_1_0', 'by hand');
      expect((await session.settled()).text).toBe('world');
      expectWhole(session.messages);
    },
  );

  test('R13/M46: of a mixed round the runnable calls run once, in the same turn, whatever becomes of the others', async () => {
    const counted = counter('counted');
    const model = scriptedModel([calls(call('counted'), call('outside')), 'world']);
    const agent = createAgent({ model, tools: [counted.tool, outsideTool('outside')] });
    const { session, result } = await run(agent, 'hello');
    expect(result.pending.map(({ tool }) => tool)).toEqual(['outside']);
    const restored = agent.restore(JSON.stringify(session.toJSON()));
    await restored.respond('call_1_1', 'by hand');
    expect(results((await restored.settled()).messages)).toEqual(['run 1', 'by hand']);
    expect(counted.runs()).toBe(1);
    expectWhole(restored.messages);
  });

  test('R6/L53: a call with its result is history: later turns do not run it again', async () => {
    const counted = counter('counted');
    const model = scriptedModel([calls(call('counted')), 'one', 'two', 'three']);
    const agent = createAgent({ model, tools: [counted.tool] });
    const { session, result } = await run(agent, 'hello');
    await run(agent, 'more', { session });
    await run(agent, [...result.messages, { role: 'user', content: 'more' }]);
    expect(counted.runs()).toBe(1);
  });

  test('R9/L54: a call that the provider runs itself is shown, not run, also without a result yet', async () => {
    const counted = counter('counted');
    const model = scriptedModel([
      reply({ ...asked('s', 'counted'), providerExecuted: true }, { type: 'text', text: 'world' }),
    ]);
    const { result } = await run(createAgent({ model, tools: [counted.tool] }), 'hello');
    expect(counted.runs()).toBe(0);
    expect(transcript(result.messages)).toEqual(['user: hello', 'assistant: counted{} | world']);
    expect(results(result.messages)).toEqual([]);
  });

  test('R9/L56: a model that is an agent itself has run its calls: they are shown, not run again', async () => {
    const counted = counter('counted');
    const inner = createAgent({ model: scriptedModel([calls(call('counted')), 'world']), tools: [counted.tool] });
    const stacked: ChatModel = {
      name: 'stacked',
      generate: async ({ messages }) => {
        const { messages: all } = await inner.run(messages);
        const parts = all.flatMap(({ role, content }) =>
          role === 'user' || typeof content === 'string' ? [] : content,
        );
        return { message: { role: 'assistant', content: parts }, finishReason: 'stop' };
      },
    };
    const { result } = await run(createAgent({ model: stacked, tools: [counted.tool] }), 'hello');
    expect(counted.runs()).toBe(1);
    expect(transcript(result.messages)).toEqual(['user: hello', 'assistant: counted{} | run 1 | world']);
  });

  test('R9/LC9: of a reply that answers some of its calls only the rest runs', async () => {
    const counted = counter('counted');
    const model = scriptedModel([
      reply(asked('a', 'counted'), told('a', 'counted', 'theirs'), asked('b', 'counted')),
      'world',
    ]);
    const { result } = await run(createAgent({ model, tools: [counted.tool] }), 'hello');
    expect(counted.runs()).toBe(1);
    expect(results(result.messages)).toEqual(['run 1']);
  });

  test('R18/D09: with `stopOnUnknownTool` an agent without tools ends the turn; the call has its result', async () => {
    const model = scriptedModel([calls(call('nope'))]);
    const { error, result } = await run(createAgent({ model, stopOnUnknownTool: true }), 'hello');
    expect(error?.code).toBe('unknown-tool');
    expect(results(result.messages)).toHaveLength(1);
  });

  test('R20/D12: at the limit one of three parallel calls throws: all three ran, and the error is that one', async () => {
    let runs = 0;
    const odd = toolOf('odd', ({ n }) => {
      runs += 1;
      if (n === 1) throw new Error('Oh no!');
      return 'fine';
    });
    const model = scriptedModel([calls(...[0, 1, 2].map((n) => call('odd', { n })))]);
    const { error, result } = await run(
      createAgent({ model, tools: [odd], limits: { maxConsecutiveErrors: 0 } }),
      'hello',
    );
    expect(runs).toBe(3);
    expect(error?.message).toContain('Oh no!');
    expect(result.outcome).toMatchObject({ errors: [{ callId: 'call_1_1', message: 'Oh no!' }] });
    expect(results(result.messages)).toEqual(['fine', 'Error: the tool failed.', 'fine']);
  });

  test('R20/LC27: an agent that shall not go on after an error rejects, and the error of the tool is at hand', async () => {
    const model = scriptedModel([calls(call('broken'))]);
    const { error } = await run(createAgent({ model, tools: [broken], limits: { maxConsecutiveErrors: 0 } }), 'hello');
    expect(error?.result.outcome).toMatchObject({
      type: 'failed',
      errors: [{ tool: 'broken', name: 'Error', message: 'Oh no!' }],
    });
  });

  test('R19/D19: a result that says of itself that it is an error makes a failing round', async () => {
    const soft = toolOf('soft', () => ({ content: [{ type: 'text', text: 'no such city' }], isError: true }));
    const again = calls(call('soft'));
    const model = scriptedModel([again, again]);
    const { error, result } = await run(
      createAgent({ model, tools: [soft], limits: { maxConsecutiveErrors: 1 } }),
      'hello',
    );
    expect(error?.code).toBe('error-limit');
    expect(results(result.messages)).toEqual(['no such city', 'no such city']);
  });

  test.each([true, false])(
    'R18/LC32: an unknown tool is told in the same words with detailedErrors %s',
    async (detailedErrors) => {
      const model = scriptedModel([calls(call('nope')), 'world']);
      const { result } = await run(createAgent({ model, tools: [F1], detailedErrors }), 'hello');
      expect(results(result.messages)).toEqual(['Error: there is no tool named "nope". Known tools: F1.']);
      expect(result.text).toBe('world');
    },
  );

  test('R43/D21: how the turn finished is what the last model call said', async () => {
    const model = scriptedModel([
      { message: { role: 'assistant', content: [asked('a', 'F1')] }, finishReason: 'tool-calls', model: 'first' },
      { message: { role: 'assistant', content: 'world' }, finishReason: 'stop', model: 'second' },
    ]);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(result.modelCalls.map(({ model: name, finishReason }) => [name, finishReason])).toEqual([
      ['first', 'tool-calls'],
      ['second', 'stop'],
    ]);
  });

  test('R6, R8/D37: one tool message per round, and ids that no other round has', async () => {
    const model = scriptedModel([
      calls(call('F1', {}, 'a'), call('F1', { n: 1 }, 'b')),
      calls(call('F1', {}, 'a'), call('F1', { n: 1 }, 'b')),
      'world',
    ]);
    const { result, events } = await run(createAgent({ model, tools: [F1] }), 'hello');
    const ids = result.messages.flatMap((message) =>
      message.role === 'tool' ? [message.content.map(({ toolCallId }) => toolCallId)] : [],
    );
    expect(ids).toEqual([
      ['call_1_0', 'call_1_1'],
      ['call_2_0', 'call_2_1'],
    ]);
    const shown = events.flatMap((event) => (event.type === 'tool-result' ? [event.callId] : []));
    expect(shown.toSorted()).toEqual(events.length === 0 ? [] : ids.flat());
  });

  describe.each([true, false])('returnDirect %s', (returnDirect) => {
    test('R11/LC18: a tool that is polled ten times, or answers at once', async () => {
      let polls = 0;
      const poll = toolOf('poll', () => ((polls += 1) < 10 ? 'pending' : 'ready'), { returnDirect, polling: true });
      const model = scriptedModel(
        returnDirect ? [calls(call('poll'))] : [...Array.from({ length: 10 }, () => calls(call('poll'))), 'world'],
      );
      const { result } = await run(createAgent({ model, tools: [poll] }), 'hello');
      expect(polls).toBe(returnDirect ? 1 : 10);
      expect(result.text).toBe(returnDirect ? 'pending' : 'world');
    });
  });
});

inBothModes('an abort by the caller', (run) => {
  test('R6, R35/D15, LC24: inside a tool: its signal aborts, the run ends as stopped, and the call has a result all the same', async () => {
    const abort = new AbortController();
    const seen: AbortSignal[] = [];
    const slow = toolOf('slow', (_, { signal }) => {
      seen.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        abort.abort();
      });
    });
    const model = scriptedModel([calls(call('slow')), 'world']);
    const agent = createAgent({ model, tools: [slow] });
    const { result, session } = await run(agent, 'hello', { signal: abort.signal });
    expect(result.outcome.type).toBe('stopped');
    expect(seen[0]?.aborted).toBe(true);
    expect(results(result.messages)).toEqual(['Error: the call was stopped while it ran; its outcome is unknown.']);
    expect((await run(agent, 'more', { session })).result.text).toBe('world');
  });
});

test('R38/LC98: of a round that was cut off, what had finished is not run again', async () => {
  const counted = counter('counted');
  const held = heldTool('held', { annotations: { idempotent: true } });
  const model = scriptedModel([calls(call('counted'), call('held')), 'world']);
  const agent = createAgent({ model, tools: [counted.tool, held.tool] });
  const session = await agent.open();
  const settled = Promise.withResolvers<void>();
  session.actor.on('tool-result', () => settled.resolve());
  void session.send('hello').catch(() => undefined);
  await Promise.all([held.whenBegun(1), settled.promise]);
  const document = JSON.stringify(session.toJSON());
  await session[Symbol.asyncDispose]();
  const restored = agent.restore(document);
  await held.whenBegun(2);
  held.end(1, 'again');
  expect(results((await restored.settled()).messages)).toEqual(['run 1', 'again']);
  expect(counted.runs()).toBe(1);
  expectWhole(restored.messages);
});
