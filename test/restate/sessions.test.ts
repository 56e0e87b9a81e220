import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AgentError, type Message, TurnError, createAgent, tool } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { type RestateServer, restateMissing, startRestate } from '../support/restate-server.ts';
import { call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { serveAgent } from './serve.ts';

const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
};

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fulfilled',
    (error: AgentError) => error.code,
  );

describe.skipIf(restateMissing !== false)('sessions on Restate', () => {
  let server: RestateServer;
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.close());

  test('a turn goes over the engine as it goes in memory', async () => {
    const script = () => scriptedModel([calls(call('Add', { a: 1, b: 2 }), call('Nope')), 'It is 3.']);
    const add = tool({
      name: 'Add',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    });
    await using served = await serveAgent(server, { model: script(), tools: [add] });
    const session = await served.open('one');
    expect(await session.status()).toBe('idle');
    expect(await codeOf(session.settled())).toBe('session-idle');
    expect(await session.send('Add 1 and 2.')).toEqual({ type: 'delivered' });
    const result = await session.settled();

    const local = await createAgent({ model: script(), tools: [add] }).open('one');
    await local.send('Add 1 and 2.');
    expect(result).toEqual(await local.settled());
    expect(await session.status()).toBe('settled');
    expect(await session.messages()).toEqual(local.messages);
    const { createdAt: _at, revision: _revision, agent: _agent, ...document } = await session.toJSON();
    const { createdAt: _atLocal, agent: _agentLocal, ...localDocument } = local.toJSON();
    expect({ ...document, state: { ...document.state, context: { ...document.state.context, turn: 0 } } }).toEqual({
      ...localDocument,
      state: { ...localDocument.state, context: { ...localDocument.state.context, turn: 0 } },
    });
  });

  test('R27: somebody approves with edited input, rejects and answers, also after the turn was asked for twice', async () => {
    const ran: unknown[] = [];
    const book = tool({
      name: 'Book',
      inputSchema: z.object({ seats: z.number() }),
      needsApproval: true,
      execute: (input) => {
        ran.push(input);
        return 'booked';
      },
    });
    const model = scriptedModel([
      calls(call('Book', { seats: 3 }), call('Book', { seats: 4 }), call('Ask', { what: 'name' })),
      'Done.',
    ]);
    await using served = await serveAgent(server, {
      model,
      tools: [book, outsideTool('Ask')],
      approvals: { hold: 'gated' },
    });
    const session = await served.open();
    await session.send('Book it.', { id: 'mail-1' });
    expect(await session.send('Book it.', { id: 'mail-1' })).toEqual({ type: 'delivered' });
    const { outcome, pending } = await session.settled();
    expect(outcome).toEqual({ type: 'pending' });
    expect(pending.map(({ tool: name, needs }) => [name, needs])).toEqual([
      ['Book', 'approval'],
      ['Book', 'approval'],
      ['Ask', 'result'],
    ]);
    expect(await session.pending()).toEqual(pending);
    const [first, second, third] = pending.map(({ callId }) => callId) as [string, string, string];
    expect(await codeOf(session.approve(first, { input: { seats: 'two' } }))).toBe('invalid-input');
    expect(await codeOf(session.approve(first, { inputHash: 'stale' }))).toBe('call-changed');
    expect(await codeOf(session.approve('call_9_9'))).toBe('unknown-call');
    await session.approve(first, { input: { seats: 2 }, by: 'ann' });
    await session.approve(first, { input: { seats: 2 }, by: 'ann' });
    expect(await codeOf(session.reject(first))).toBe('decision-conflict');
    await session.reject(second, { reason: 'too many' });
    await session.respond(third, { name: 'Ann' });
    expect((await session.settled()).text).toBe('Done.');
    expect(ran).toEqual([{ seats: 2 }]);
    expect(JSON.stringify(await session.messages())).toContain('too many');
    expect(model.requests).toHaveLength(2);
  });

  test('R35, R36: cancel reaches one running tool, stop all of them, and what a tool says in its grace is heard', async () => {
    const held = heldTool('Held');
    const polite = toolOf(
      'Polite',
      (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve('gave up politely'));
        }),
    );
    const model = scriptedModel([calls(call('Held'), call('Held'), call('Polite')), 'Again.']);
    await using served = await serveAgent(server, { model, tools: [held.tool, polite], stopGrace: 100_000 });
    const session = await served.open();
    await session.send('Go.');
    await held.whenBegun(2);
    const { callId } = held.begun[0] as { callId: string };
    const told = held.begun.map(
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
    );
    const cancelling = session.cancel(callId);
    await told[0];
    expect(held.begun[1]?.signal.aborted).toBe(false);
    held.fail(0, new Error('given up'));
    await cancelling;
    const stopping = session.stop('enough');
    await told[1];
    held.fail(1, new Error('given up'));
    await stopping;
    const { outcome } = await session.settled();
    expect(outcome).toEqual({ type: 'stopped', reason: 'enough' });
    const text = JSON.stringify(await session.messages());
    expect(text).toContain('cancelled');
    expect(text).toContain('gave up politely');
    await session.send('Once more.');
    expect((await session.settled()).text).toBe('Again.');
  });

  test('R40: a model that fails is asked again after a delay; a turn that failed can be retried', async () => {
    const broken = Object.assign(new Error('overloaded'), {});
    const model = scriptedModel([broken, 'Now it works.']);
    await using served = await serveAgent(server, { model });
    const session = await served.open();
    await session.send('Hello?');
    await expect(session.settled()).rejects.toThrow(TurnError);
    expect(await codeOf(session.settled())).toBe('model-error');
    await session.retry();
    expect((await session.settled()).text).toBe('Now it works.');
    expect(await codeOf(session.retry())).toBe('nothing-to-retry');
  });

  test('R30, R37: alarms ring: a timeout, a back-off of a tool, an approval that expires, a deadline', async () => {
    let tries = 0;
    const flaky = toolOf(
      'Flaky',
      () => {
        tries += 1;
        if (tries === 1) throw new Error('not yet');
        return 'at last';
      },
      { retry: { attempts: 2, initialDelay: 30 } },
    );
    const slow = toolOf('Slow', () => new Promise(() => undefined), { timeout: 50 });
    const gated = toolOf('Gated', () => 'never', { needsApproval: true });
    const model = scriptedModel([calls(call('Flaky'), call('Slow')), calls(call('Gated')), 'Over.']);
    await using served = await serveAgent(server, {
      model,
      tools: [flaky, slow, gated],
      approvals: { expireAfter: 150 },
    });
    const session = await served.open();
    await session.send('Go.');
    let result = await session.settled();
    while (result.outcome.type === 'pending') result = await session.settled();
    expect(result.text).toBe('Over.');
    const text = JSON.stringify(result.messages);
    expect(text).toContain('at last');
    expect(text).toContain('timed out after 50 ms');
    expect(text).toContain('expired');

    const held = heldTool('Held');
    const late = scriptedModel([calls(call('Held'))]);
    await using other = await serveAgent(server, {
      model: late,
      tools: [held.tool],
      stopGrace: 10,
      limits: { deadline: 200 },
    });
    const overdue = await other.open();
    await overdue.send('Go.');
    expect((await overdue.settled()).outcome).toMatchObject({ type: 'limit', limit: 'deadline' });
    held.end(0);
  });

  test('R33, R34: a queued message learns its fate when its turn begins, a steered one in this turn', async () => {
    const held = heldTool('Held');
    const model = scriptedModel([calls(call('Held')), 'First.', 'Second.']);
    await using served = await serveAgent(server, { model, tools: [held.tool] });
    const session = await served.open();
    await session.send('One.');
    await held.whenBegun(1);
    const queued = session.send('Two.');
    const steered = session.send('By the way.', { mode: 'steer' });
    const early = await Promise.race([queued, steered, session.status()]);
    expect(early).toBe('busy');
    held.end(0);
    expect(await steered).toEqual({ type: 'delivered' });
    expect(await queued).toEqual({ type: 'delivered' });
    expect((await session.settled()).text).toBe('Second.');
    expect((await session.messages()).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  test('R32: an agent inside a call is decided on from the root, at any depth', async () => {
    const gated = toolOf('Gated', () => 'secret', { needsApproval: true });
    const inner = createAgent({ model: scriptedModel([calls(call('Gated')), 'Inner done.']), tools: [gated] });
    const middle = createAgent({
      model: scriptedModel([calls(call('Inner', { prompt: 'go' })), 'Middle done.']),
      tools: [inner.asTool({ name: 'Inner', description: 'x' })],
    });
    const model = scriptedModel([
      calls(call('Middle', { prompt: 'go' }), call('Middle', { prompt: 'no' })),
      'All done.',
    ]);
    const tools = [
      middle.asTool({
        name: 'Middle',
        description: 'x',
        needsApproval: (input) => (input as { prompt: string }).prompt === 'no',
      }),
    ];
    await using served = await serveAgent(server, { model, tools, approvals: { hold: 'gated' } });
    const session = await served.open();
    await session.send('Go.');
    const { pending } = await session.settled();
    expect(pending.map(({ path }) => path.length)).toEqual([2, 0]);
    for (const { callId, path } of pending)
      await (path.length === 0 ? session.reject(callId) : session.approve(callId));
    const result = await session.settled();
    expect(result.text).toBe('All done.');
    expect(JSON.stringify(result.messages)).toContain('Middle done.');
  });

  test('R47: providers and a history elsewhere are asked and told once a turn', async () => {
    const told: string[] = [];
    const kept: Message[] = [];
    const model = scriptedModel([calls(call('Note')), 'One.', 'Two.']);
    await using served = await serveAgent(server, {
      model,
      tools: [toolOf('Note', () => 'noted')],
      contextProviders: [
        {
          name: 'weather',
          beforeTurn: ({ turn }) => {
            told.push(`before ${turn}`);
            return { instructions: 'It rains.' };
          },
          afterTurn: ({ turn, result }) => {
            told.push(`after ${turn}: ${result.text}`);
          },
        },
      ],
      history: {
        load: () => [...kept],
        append: ({ position, messages }) => {
          kept.splice(position, kept.length, ...messages);
        },
      },
    });
    const session = await served.open();
    await session.send('First.');
    await session.send('Second.');
    let result = await session.settled();
    while (result.text !== 'Two.') result = await session.settled();
    await until(() => kept.length === 6);
    expect(told).toEqual(['before 1', 'after 1: One.', 'before 2', 'after 2: Two.']);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
    expect(model.requests.every(({ instructions }) => instructions === 'It rains.')).toBe(true);
  });

  test('an alarm that nobody waits for any more is set no more', async () => {
    const name = 'hurried';
    const model = scriptedModel([calls(call('Gated')), 'Done.']);
    const gated = toolOf('Gated', () => 'opened', { needsApproval: true });
    const hour = 3_600_000;
    await using served = await serveAgent(server, {
      name,
      model,
      tools: [gated],
      limits: { deadline: hour },
      approvals: { expireAfter: hour },
    });
    const open = async (): Promise<string[]> => {
      const query = `SELECT target, status FROM sys_invocation WHERE target_service_name LIKE '${name}.%' AND status <> 'completed'`;
      const answer = await fetch(`${server.admin}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query }),
      });
      const { rows } = (await answer.json()) as { rows: { status: string }[] };
      return rows.map(({ status }) => status);
    };
    const session = await served.open();
    await session.send('Open.');
    const { pending } = await session.settled();
    // The approval expires in an hour; the deadline counts only while somebody works.
    await until(async () => (await open()).join() === 'scheduled');
    await session.approve(pending[0]?.callId ?? '');
    expect((await session.settled()).text).toBe('Done.');
    await until(async () => (await open()).length === 0);
  });

  test('ids of sessions are data', async () => {
    const model = scriptedModel(Array.from({ length: 8 }, (_, index) => `Answer ${index}.`));
    await using served = await serveAgent(server, { model });
    const ids = ['..', '.', '../../x', 'a/b?c#d', '🚂 "quoted" \\ %2e', 'A', 'a', 'x'.repeat(1000)];
    const texts = [];
    for (const id of ids) {
      const session = await served.open(id);
      await session.send('Who?');
      const { text, sessionId } = await session.settled();
      expect(sessionId).toBe(id);
      texts.push(text);
    }
    expect(new Set(texts).size).toBe(8);
    expect(await codeOf(served.open(''))).toBe('invalid-option');
  });

  test('a structured answer is parsed where the agent itself is given', async () => {
    const model = scriptedModel([calls(call('final_answer', { day: '2030-01-02' }))]);
    const output = z.object({ day: z.string().transform((text) => new Date(text)) });
    await using served = await serveAgent(server, { model, output });
    const session = await served.open();
    await session.send('When?');
    expect((await session.settled()).output).toEqual({ day: new Date('2030-01-02') });
  });
});
