import { describe, expect, test } from 'vitest';
import { waitFor } from 'xstate';
import { z } from 'zod';
import type { Message } from '../../src/messages/message.ts';
import { ModelError } from '../../src/models/model-error.ts';
import type { ModelRequest } from '../../src/models/chat-model.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { Agent } from '../../src/sessions/agent.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { SessionDocument } from '../../src/documents/document.ts';
import type { Session } from '../../src/sessions/session.ts';
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts';
import { type Tool, tool } from '../../src/tools/tool.ts';
import { manualClock } from '../support/manual-clock.ts';
import { expectWhole, inBothModes, resting } from '../support/run.ts';
import { rejection, reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const last = (messages: readonly Message[]): string => results(messages).at(-1) ?? 'nothing';
/** Answers with its name and the last result that it reads. */
const echoing =
  (name: string): ScriptedAnswer =>
  ({ messages }: ModelRequest) => ({
    text: `${name}: ${last(messages)}`,
    usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 },
  });
const asking = (...toolCalls: ReturnType<typeof call>[]): ScriptedAnswer => ({
  toolCalls,
  usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 },
});
const delegate = (to: string, prompt = 'help'): ReturnType<typeof call> => call(to, { prompt });
const many = (answers: readonly ScriptedAnswer[], times: number): ScriptedAnswer[] =>
  Array.from({ length: times }, () => answers).flat();
const asTool = (agent: Agent, name = agent.name): Tool => agent.asTool({ name, description: `asks ${name}` });

/** What a model of a script by history says: it calls until it has read a result, then it answers. */
const byHistory = (name: string, first: ReturnType<typeof call>[]): ScriptedModel => {
  const answer: ScriptedAnswer = (request) => {
    const has = request.messages.some(({ role }) => role === 'tool');
    const said = has ? echoing(name) : asking(...first);
    return typeof said === 'function' ? said(request, { signal: new AbortController().signal }) : (said as never);
  };
  return scriptedModel(
    Array.from({ length: 100 }, () => answer),
    { name },
  );
};

/** An agent in an agent in an agent; the innermost has one gated tool and one for the application. */
const family = (bottom: Partial<AgentOptions> = {}, own: readonly Tool[] = []) => {
  const wiped: unknown[] = [];
  const wipe = toolOf(
    'wipe',
    (input) => {
      wiped.push(input);
      return `wiped ${JSON.stringify(input)}`;
    },
    { needsApproval: true },
  );
  const models = {
    bottom: byHistory('bottom', [call('wipe', { disk: 1 })]),
    middle: byHistory('middle', [delegate('bottom')]),
    top: byHistory('top', [delegate('middle')]),
  };
  const bottomAgent = createAgent({ model: models.bottom, tools: [wipe, ...own], name: 'bottom', ...bottom });
  const middleAgent = createAgent({ model: models.middle, tools: [asTool(bottomAgent)], name: 'middle' });
  const agent = createAgent({ model: models.top, tools: [asTool(middleAgent)], name: 'top' });
  return { agent, wiped, models };
};

const atBottom = 'call_1_0-call_1_0-call_1_0';

inBothModes('R32: an agent inside an agent', (run) => {
  test('its answer is the result of the call; its messages stay inside; its instructions and tools are its own', async () => {
    const inner = scriptedModel([asking(call('F1')), echoing('inner')]);
    const outer = scriptedModel([asking(delegate('inner', 'find it')), echoing('outer')]);
    const helper = createAgent({ model: inner, tools: [F1], name: 'inner', instructions: 'inner rules' });
    const agent = createAgent({ model: outer, tools: [asTool(helper)], instructions: 'outer rules' });
    const { result } = await run(agent, 'go');
    expect(result.text).toBe('outer: inner: Result 1');
    expect(transcript(result.messages)).toEqual([
      'user: go',
      'assistant: inner{"prompt":"find it"}',
      'tool: inner: Result 1',
      'assistant: outer: inner: Result 1',
    ]);
    expect(transcript(inner.requests[0]?.messages ?? [])).toEqual(['user: find it']);
    expect(inner.requests[0]).toMatchObject({ instructions: 'inner rules', tools: [{ name: 'F1' }] });
    expect(outer.requests[0]).toMatchObject({ instructions: 'outer rules', tools: [{ name: 'inner' }] });
  });

  test('what all of them used is counted at the root, per turn and per session', async () => {
    const { agent, models } = family({ approvals: { policy: () => 'approve' } });
    const { result, session } = await run(agent, 'go');
    expect(result.text).toMatch(/^top: middle: bottom: wiped/);
    expect(result.usage).toEqual({ inputTokens: 60, outputTokens: 6, totalTokens: 66 });
    expect(session.actor.getSnapshot().context.usage).toEqual(result.usage);
    expect(models.bottom.requests).toHaveLength(2);
  });

  test('an approval three levels down is listed at the root with the calls above it, and is decided there', async () => {
    const { agent, wiped } = family();
    const { result, session } = await run(agent, 'go');
    expect(result.outcome).toEqual({ type: 'pending' });
    expect(result.pending).toMatchObject([
      {
        callId: atBottom,
        path: ['call_1_0', 'call_1_0-call_1_0'],
        tool: 'wipe',
        input: { disk: 1 },
        needs: 'approval',
      },
    ]);
    expect(session.status).toBe('waiting');
    await session.approve(atBottom, { by: 'ann', inputHash: result.pending[0]?.inputHash ?? '' });
    const end = await session.settled();
    expect(end.text).toBe('top: middle: bottom: wiped {"disk":1}');
    expect(wiped).toEqual([{ disk: 1 }]);
    expect(session.actor.getSnapshot().context.decisions).toMatchObject([
      { callId: atBottom, decision: 'approved', by: 'ann' },
    ]);
    expectWhole(session.messages);
  });

  test('a failing, a refused and a limited agent: the one above reads it and goes on', async () => {
    const broken = createAgent({ model: scriptedModel([new Error('no')]), name: 'broken' });
    const refusing = createAgent({ model: scriptedModel([{ refusal: 'I will not' }]), name: 'refusing' });
    const limited = createAgent({
      model: scriptedModel([asking(call('F1')), 'so far']),
      tools: [F1],
      limits: { maxIterations: 1 },
      name: 'limited',
    });
    const paused = createAgent({
      model: scriptedModel([asking(call('F1'))]),
      tools: [F1],
      limits: { maxIterations: 1, onLimit: 'pause' },
      name: 'paused',
    });
    const agents = [broken, refusing, limited, paused];
    const outer = scriptedModel([asking(...agents.map(({ name }) => delegate(name))), 'done']);
    const { result } = await run(createAgent({ model: outer, tools: agents.map((each) => asTool(each)) }), 'go');
    expect(results(result.messages)).toEqual([
      'Error: the agent failed.',
      expect.stringMatching(/^Error: .*refused/),
      'so far',
      'Error: the agent reached its limit "maxIterations" before it had an answer.',
    ]);
    expect(result.text).toBe('done');
  });

  test('a failing agent counts as an error of the round', async () => {
    const broken = createAgent({ model: scriptedModel([new Error('no'), new Error('no')]), name: 'broken' });
    const outer = scriptedModel(many([asking(delegate('broken'))], 3));
    const { error } = await run(
      createAgent({ model: outer, tools: [asTool(broken)], limits: { maxConsecutiveErrors: 1 } }),
      'go',
    );
    expect(error?.code).toBe('error-limit');
    expect(error?.message).toContain('broken: no');
  });

  test('arguments that do not fit start no agent', async () => {
    const inner = scriptedModel([]);
    const helper = createAgent({ model: inner, name: 'inner' });
    const outer = scriptedModel([asking(call('inner', { prompt: '' })), asking(call('inner', {})), 'done']);
    const { result } = await run(createAgent({ model: outer, tools: [asTool(helper)] }), 'go');
    for (const text of results(result.messages)) expect(text).toContain('prompt');
    expect(inner.requests).toHaveLength(0);
  });

  test('a schema and a message of its own', async () => {
    const inner = scriptedModel(['inner says']);
    const helper = createAgent({ model: inner, name: 'inner' }).asTool({
      name: 'inner',
      description: 'x',
      inputSchema: z.object({ topic: z.string(), depth: z.number().default(2) }),
      message: ({ topic, depth }) => `${topic} to depth ${depth}`,
    });
    const outer = scriptedModel([asking(call('inner', { topic: 'cats' })), echoing('outer')]);
    await run(createAgent({ model: outer, tools: [helper] }), 'go');
    expect(transcript(inner.requests[0]?.messages ?? [])).toEqual(['user: cats to depth 2']);
  });

  test('a call that asks nothing is told so, field by field, and asks no agent', async () => {
    const inner = scriptedModel([]);
    const outer = scriptedModel([asking(call('inner', { question: 'cats?' })), echoing('outer')]);
    const { result } = await run(
      createAgent({ model: outer, tools: [asTool(createAgent({ model: inner, name: 'inner' }))] }),
      'go',
    );
    expect(result.text).toContain('\n- prompt: expected a text that is not empty');
    expect(inner.requests).toEqual([]);
  });

  test('a structured answer of the inner agent is JSON for the outer one', async () => {
    const inner = scriptedModel([calls(call('final_answer', { n: 4 }))]);
    const helper = createAgent({ model: inner, name: 'inner', output: z.object({ n: z.number() }) });
    const outer = scriptedModel([asking(delegate('inner')), echoing('outer')]);
    const { result } = await run(
      createAgent({ model: outer, tools: [helper.asTool({ name: 'inner', description: 'x' })] }),
      'go',
    );
    expect(result.text).toBe('outer: {"n":4}');
  });

  test('an agent that returns directly gives the answer', async () => {
    const helper = createAgent({ model: scriptedModel(['inner says']), name: 'inner' });
    const outer = scriptedModel([asking(delegate('inner'))]);
    const tools = [helper.asTool({ name: 'inner', description: 'x', returnDirect: true })];
    const { result } = await run(createAgent({ model: outer, tools }), 'go');
    expect(result.text).toBe('inner says');
  });

  test('a call of an agent may need approval itself: nothing of it begins before', async () => {
    const inner = scriptedModel(['inner says']);
    const helper = createAgent({ model: inner, name: 'inner' });
    const tools = [helper.asTool({ name: 'inner', description: 'x', needsApproval: true })];
    const outer = scriptedModel([asking(delegate('inner')), echoing('outer')]);
    const { result, session } = await run(createAgent({ model: outer, tools }), 'go');
    expect(result.pending).toMatchObject([{ callId: 'call_1_0', path: [], tool: 'inner' }]);
    expect(inner.requests).toHaveLength(0);
    await session.approve('call_1_0', { input: { prompt: 'another way' } });
    expect((await session.settled()).text).toBe('outer: inner says');
    expect(transcript(inner.requests[0]?.messages ?? [])).toEqual(['user: another way']);
  });
});

describe('R32: what an inner agent waits for', () => {
  const decided = {
    approve: {
      decide: (session: Session, id: string) => session.approve(id),
      text: 'wiped {"disk":1}',
      ran: [{ disk: 1 }],
    },
    edit: {
      decide: (session: Session, id: string) => session.approve(id, { input: { disk: 2 } }),
      text: 'wiped {"disk":2}',
      ran: [{ disk: 2 }],
    },
    reject: {
      decide: (session: Session, id: string) => session.reject(id, { reason: 'not today' }),
      text: 'Tool call invocation rejected. not today',
      ran: [],
    },
    respond: { decide: (session: Session, id: string) => session.respond(id, 'by hand'), text: 'by hand', ran: [] },
  };

  test.each(Object.entries(decided))(
    'decided by %s at the root, in another process',
    async (_, { decide, text, ran }) => {
      const before = family();
      const { sessionId } = await before.agent.run('go');
      const document = saved(await before.agent.open(sessionId));
      const { agent, wiped, models } = family();
      const session = agent.restore(document);
      expect(session.pending.map(({ callId }) => callId)).toEqual([atBottom]);
      await decide(session, atBottom);
      const result = await resting(session);
      expect(result.text).toBe(`top: middle: bottom: ${text}`);
      expect(wiped).toEqual(ran);
      // Nothing was planned again: each model gives its answer only.
      expect([models.top, models.middle, models.bottom].map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
      expectWhole(session.messages);
    },
  );

  test('two copies of one document, decided apart, with a save and a load between every step', async () => {
    const gate = (name: string) => toolOf(name, (input) => `${name} ${JSON.stringify(input)}`, { needsApproval: true });
    const tools = [gate('one'), gate('two'), outsideTool('ask')];
    const make = () => {
      const inner = byHistory('inner', [call('one', { n: 1 }), call('two', { n: 2 }), call('ask', { q: '?' })]);
      const bottom = createAgent({ model: inner, tools, name: 'inner', approvals: { hold: 'gated' } });
      return createAgent({ model: byHistory('outer', [delegate('inner')]), tools: [asTool(bottom)] });
    };
    const { sessionId, pending } = await (async () => {
      const agent = make();
      const result = await agent.run('go');
      return { ...result, sessionId: saved(await agent.open(result.sessionId)) };
    })();
    expect(pending.map(({ tool, needs }) => [tool, needs])).toEqual([
      ['one', 'approval'],
      ['two', 'approval'],
      ['ask', 'result'],
    ]);
    const ids = pending.map(({ callId }) => callId);
    type Decide = (session: Session, id: string) => Promise<void>;
    const steps = async (document: SessionDocument, decisions: readonly [number, Decide][]): Promise<string> => {
      let now = document;
      for (const [index, decide] of decisions) {
        const session = make().restore(now);
        expect(session.pending.map(({ callId }) => callId)).toContain(ids[index]);
        await decide(session, ids[index] ?? '');
        now = saved(session);
        await session[Symbol.asyncDispose]();
      }
      const session = make().restore(now);
      const { text } = await resting(session);
      expectWhole(session.messages);
      return text;
    };
    const respond =
      (value: string): Decide =>
      (session, id) =>
        session.respond(id, value);
    const a = await steps(sessionId, [
      [2, respond('42')],
      [0, (session, id) => session.approve(id)],
      [1, (session, id) => session.reject(id, { reason: 'no' })],
    ]);
    const b = await steps(sessionId, [
      [1, (session, id) => session.approve(id, { input: { n: 9 } })],
      [0, (session, id) => session.reject(id)],
      [2, respond('7')],
    ]);
    expect(a).toBe('outer: inner: 42');
    expect(b).toBe('outer: inner: 7');
  });

  test('an edit that does not fit is refused at the root, changes nothing, and is no decision', async () => {
    const strict = createAgent({
      model: byHistory('inner', [call('pay', { sum: 1 })]),
      tools: [
        tool({
          name: 'pay',
          inputSchema: z.object({ sum: z.number() }),
          needsApproval: true,
          execute: ({ sum }) => `paid ${sum}`,
        }),
      ],
      name: 'inner',
    });
    const agent = createAgent({ model: byHistory('outer', [delegate('inner')]), tools: [asTool(strict)] });
    const { sessionId, pending } = await agent.run('go');
    let session = await agent.open(sessionId);
    const id = pending[0]?.callId ?? '';
    expect(await rejection(session.approve(id, { input: { sum: 'much' } }))).toMatchObject({ code: 'invalid-input' });
    expect(session.pending).toMatchObject([
      { callId: id, input: { sum: 1 }, refusedEdit: expect.stringContaining('sum') },
    ]);
    expect(session.actor.getSnapshot().context.decisions).toEqual([]);
    session = reopened(agent, session);
    expect(session.pending).toHaveLength(1);
    await session.approve(id, { input: { sum: 2 } });
    expect((await resting(session)).text).toBe('outer: inner: paid 2');
    expect(session.actor.getSnapshot().context.decisions).toHaveLength(1);
    expectWhole(session.messages);
  });

  test('decisions on calls that do not wait there are refused', async () => {
    const { agent } = family();
    const { sessionId } = await agent.run('go');
    const session = await agent.open(sessionId);
    const before = saved(session);
    expect(await rejection(session.approve(`${atBottom}9`))).toMatchObject({ code: 'unknown-call' });
    expect(await rejection(session.approve('call_1_0'))).toMatchObject({ code: 'decision-conflict' });
    expect(await rejection(session.approve(atBottom, { inputHash: 'other' }))).toMatchObject({ code: 'call-changed' });
    expect(saved(session)).toEqual(before);
    await session.approve(atBottom);
    await session.approve(atBottom);
    expect(await rejection(session.reject(atBottom))).toMatchObject({ code: 'decision-conflict' });
  });

  test('what is remembered inside holds for the rest of that agent’s turn, and not outside of it', async () => {
    let ran = 0;
    const gate = toolOf('gate', () => (ran += 1), { needsApproval: true });
    const inner = createAgent({
      model: scriptedModel([asking(call('gate')), asking(call('gate', { n: 2 })), echoing('inner')]),
      tools: [gate],
      name: 'inner',
    });
    const outer = scriptedModel([asking(delegate('inner')), asking(call('gate')), echoing('outer')]);
    const agent = createAgent({ model: outer, tools: [asTool(inner), gate] });
    const { sessionId, pending } = await agent.run('go');
    const session = reopened(agent, await agent.open(sessionId));
    await session.approve(pending[0]?.callId ?? '', { remember: 'tool' });
    const result = await session.settled();
    expect(ran).toBe(2);
    expect(result.pending).toMatchObject([{ callId: 'call_2_0', path: [], tool: 'gate' }]);
    expectWhole(session.messages);
  });

  test.each([
    ['approve', undefined, 'tool'],
    ['approve', 'input', 'tool'],
    ['reject', undefined, 'input'],
  ] as const)('R29: %s inside again, to remember more than %s, is a contradiction', async (decide, first, more) => {
    const { agent } = family();
    const { sessionId } = await agent.run('go');
    const session = await agent.open(sessionId);
    const given = first === undefined ? {} : { remember: first };
    await session[decide](atBottom, given);
    const after = reopened(agent, session);
    expect(await rejection(after[decide](atBottom, { remember: more }))).toMatchObject({ code: 'decision-conflict' });
    await after[decide](atBottom, given);
    await after[decide](atBottom);
    const { decisions } = after.actor.getSnapshot().context;
    expect(decisions.map(({ remembered }) => remembered)).toEqual([first]);
  });

  test('an approval inside that is not decided in time is a rejection', async () => {
    const clock = manualClock();
    const { agent } = family({ clock, approvals: { expireAfter: 5000 } });
    const { sessionId, pending } = await agent.run('go');
    expect(pending[0]?.expiresAt).toBe(clock.now() + 5000);
    const session = await agent.open(sessionId);
    clock.advance(5000);
    expect((await resting(session)).text).toContain('rejected. expired');
  });

  test('superseded by a message at the root: all that waits inside is rejected, then the message is read', async () => {
    const wipe = toolOf('wipe', () => 'never', { needsApproval: true });
    const bottom = createAgent({
      model: byHistory('inner', [call('wipe'), call('wipe', { n: 2 })]),
      tools: [wipe],
      name: 'inner',
    });
    const outer = scriptedModel([asking(delegate('inner')), 'outer is done']);
    const agent = createAgent({ model: outer, tools: [asTool(bottom)], approvals: { onMessage: 'supersede' } });
    const { sessionId } = await agent.run('go');
    const session = await agent.open(sessionId);
    const { outcome } = await agent.run('do Y', { session });
    expect(outcome.type).toBe('answered');
    expect(transcript(session.messages).slice(2)).toEqual([
      expect.stringContaining('superseded by a new message'),
      'user: do Y',
      'assistant: outer is done',
    ]);
    expectWhole(session.messages);
  });
});

describe('R32: two agents side by side', () => {
  const pair = () => {
    const gate = toolOf('gate', ({ of }) => `gate of ${String(of)}`, { needsApproval: true });
    const agents = ['left', 'right'].map((name) =>
      createAgent({ model: byHistory(name, [call('gate', { of: name })]), tools: [gate], name }),
    );
    const outer = byHistory('outer', [delegate('left'), delegate('right'), call('F1')]);
    return createAgent({ model: outer, tools: [...agents.map((each) => asTool(each)), F1] });
  };

  test.each([
    ['left first', [0, 1]],
    ['right first', [1, 0]],
  ])('both wait, both are listed, and are decided one by one over restores (%s)', async (_, order) => {
    const { sessionId, pending } = await (async () => {
      const agent = pair();
      const result = await agent.run('go');
      return { pending: result.pending, sessionId: saved(await agent.open(result.sessionId)) };
    })();
    expect(pending.map(({ path, input }) => [path, input])).toEqual([
      [['call_1_0'], { of: 'left' }],
      [['call_1_1'], { of: 'right' }],
    ]);
    let session = pair().restore(sessionId);
    for (const index of order) {
      session = pair().restore(saved(session));
      await session.approve(pending[index]?.callId ?? '');
      await session.settled();
    }
    const result = await session.settled();
    expect(results(result.messages)).toEqual(['left: gate of left', 'right: gate of right', 'Result 1']);
    expectWhole(session.messages);
  });

  test('the same agent twice in one round: two sessions, two approvals', async () => {
    const gate = toolOf('gate', ({ n }) => `gate ${String(n)}`, { needsApproval: true });
    const answer: ScriptedAnswer = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? `inner: ${last(messages)}`
        : { toolCalls: [call('gate', { n: messages[0]?.content })] };
    const inner = createAgent({ model: scriptedModel([answer, answer, answer, answer]), tools: [gate], name: 'inner' });
    const agent = createAgent({
      model: byHistory('outer', [delegate('inner', 'a'), delegate('inner', 'b')]),
      tools: [asTool(inner)],
    });
    const { sessionId, pending } = await agent.run('go');
    expect(new Set(pending.map(({ callId }) => callId)).size).toBe(2);
    const session = await agent.open(sessionId);
    await session.reject(pending[1]?.callId ?? '', { reason: 'no b' });
    await session.approve(pending[0]?.callId ?? '');
    const result = await resting(session);
    expect(results(result.messages)).toEqual(['inner: gate a', 'inner: Tool call invocation rejected. no b']);
    expectWhole(session.messages);
  });
});

describe('R32: stop and cancel reach the bottom', () => {
  const running = async (options: Partial<AgentOptions> = {}) => {
    const held = heldTool('held');
    const bottom = createAgent({
      model: byHistory('bottom', [call('held')]),
      tools: [held.tool],
      name: 'bottom',
      stopGrace: 0,
    });
    const middle = createAgent({
      model: byHistory('middle', [delegate('bottom'), call('F1')]),
      tools: [asTool(bottom), F1],
      name: 'middle',
    });
    const agent = createAgent({
      model: byHistory('top', [delegate('middle'), call('F1')]),
      tools: [asTool(middle), F1],
      ...options,
    });
    const session = await agent.open();
    void session.send('go');
    await held.whenBegun(1);
    return { held, agent, session };
  };

  test('a stop at the root stops the tool at the bottom, and leaves a whole history', async () => {
    const { held, session } = await running();
    await session.stop('enough');
    expect(held.begun[0]?.signal.aborted).toBe(true);
    const result = await session.settled();
    expect(result.outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expect(results(result.messages)).toEqual([expect.stringMatching(/stopped/), 'Result 1']);
    expect(Object.keys(session.actor.getSnapshot().children)).toEqual(['wake']);
    expectWhole(session.messages);
  });

  test('while it waits for people, too', async () => {
    const { agent } = family();
    const { sessionId } = await agent.run('go');
    const session = reopened(agent, await agent.open(sessionId));
    await session.stop('enough');
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expect(session.pending).toEqual([]);
    expectWhole(session.messages);
  });

  test('while the inner model thinks, its request is aborted', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const silent = scriptedModel([
      (_, { signal }) => {
        asked.resolve(signal);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
    ]);
    const inner = createAgent({ model: silent, name: 'inner' });
    const agent = createAgent({ model: byHistory('outer', [delegate('inner')]), tools: [asTool(inner)] });
    const session = await agent.open();
    void session.send('go');
    const signal = await asked.promise;
    await session.stop();
    expect(signal.aborted).toBe(true);
    expect((await session.settled()).outcome).toEqual({ type: 'stopped' });
  });

  test('the call of the agent is cancelled: its tools are aborted, the round goes on', async () => {
    const { held, session } = await running();
    await session.cancel('call_1_0');
    const result = await session.settled();
    expect(held.begun[0]?.signal.aborted).toBe(true);
    expect(result.outcome.type).toBe('answered');
    expect(results(result.messages)).toEqual([expect.stringMatching(/cancelled/), 'Result 1']);
    expectWhole(session.messages);
  });

  test('the call at the bottom is cancelled: the agents above go on with that', async () => {
    const { held, session } = await running();
    await session.cancel('call_1_0-call_1_0-call_1_0');
    const result = await session.settled();
    expect(held.begun[0]?.signal.aborted).toBe(true);
    expect(results(result.messages)).toEqual(['middle: Result 1', 'Result 1']);
    expectWhole(session.messages);
  });

  test('a cancel of a call that is not there, at any depth, is refused', async () => {
    const { held, session } = await running();
    for (const id of ['call_9_9', 'call_1_0-call_9_9', 'call_1_0-call_1_0-call_9_9']) {
      expect(await rejection(session.cancel(id))).toMatchObject({ code: 'unknown-call' });
    }
    held.end(0);
    await session.settled();
  });

  test('a deadline at the root reaches the bottom', async () => {
    const clock = manualClock();
    const { held, session } = await running({ clock, limits: { deadline: 1000 } });
    clock.advance(1000);
    const result = await resting(session);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'deadline' });
    expect(held.begun[0]?.signal.aborted).toBe(true);
    expectWhole(session.messages);
  });

  test('a session that is closed while the bottom works goes on elsewhere; a call that had begun there is not repeated', async () => {
    const { held, agent, session } = await running();
    const document = saved(session);
    await session[Symbol.asyncDispose]();
    expect(held.begun[0]?.signal.aborted).toBe(true);
    const later = agent.restore(document);
    const result = await resting(later);
    expect(held.begun).toHaveLength(1);
    expect(results(result.messages)).toEqual(['middle: Result 1', 'Result 1']);
    expectWhole(later.messages);
  });
});

describe('R32: over a restore in the middle of the work', () => {
  /** An answer that never comes; it tells when it is asked for. */
  const silence =
    (asked: () => void): ScriptedAnswer =>
    () => {
      asked();
      return new Promise<string>(() => undefined);
    };
  const make = (inner: readonly ScriptedAnswer[], outer: readonly ScriptedAnswer[], clock = manualClock()) => {
    const models = { inner: scriptedModel(inner), outer: scriptedModel(outer) };
    const helper = createAgent({ model: models.inner, tools: [F1], name: 'inner', clock });
    return { agent: createAgent({ model: models.outer, tools: [asTool(helper), F1], clock }), models, clock };
  };
  const doneIn = async (session: Session, models: { inner: ScriptedModel; outer: ScriptedModel }) => {
    const result = await resting(session);
    expectWhole(session.messages);
    return [result.text, models.inner.requests.length, models.outer.requests.length];
  };

  test('while the inner model is asked: it is asked again, and nothing else is', async () => {
    const asked = Promise.withResolvers<void>();
    const silent = silence(asked.resolve);
    const first = make([asking(call('F1')), silent], [asking(delegate('inner'))]);
    const session = await first.agent.open();
    void session.send('go').catch(() => undefined);
    await asked.promise;
    const later = make([echoing('inner')], [echoing('outer')]);
    expect(await doneIn(later.agent.restore(saved(session)), later.models)).toEqual(['outer: inner: Result 1', 1, 1]);
  });

  test('while the inner model waits for its next try: the wait goes on', async () => {
    const failing = new ModelError('model-request-failed', 'down', { transient: true });
    const first = make([failing], [asking(delegate('inner'))]);
    const session = await first.agent.open();
    void session.send('go').catch(() => undefined);
    expect(await first.clock.armed()).toBe(500);
    const document = saved(session);
    const clock = manualClock(first.clock.now() + 100);
    const later = make(['inner says'], [echoing('outer')], clock);
    const restored = later.agent.restore(document);
    expect(await clock.armed()).toBe(400);
    clock.advance(400);
    expect(await doneIn(restored, later.models)).toEqual(['outer: inner says', 1, 1]);
  });

  test('when the inner agent is done and the outer model is asked', async () => {
    const asked = Promise.withResolvers<void>();
    const silent = silence(asked.resolve);
    const first = make(['inner says'], [asking(delegate('inner')), silent]);
    const session = await first.agent.open();
    void session.send('go').catch(() => undefined);
    await asked.promise;
    const later = make([], [echoing('outer')]);
    expect(await doneIn(later.agent.restore(saved(session)), later.models)).toEqual(['outer: inner says', 0, 1]);
  });

  test('an inner agent that does not exist any more is an error that says so, when the session is opened', async () => {
    const { agent } = family();
    const { sessionId } = await agent.run('go');
    const document = saved(await agent.open(sessionId));
    const other = createAgent({ name: 'top', model: scriptedModel([]), tools: [F1] });
    expect(() => other.restore(document)).toThrow(expect.objectContaining({ code: 'incompatible-document' }));
  });
});

describe('R32: streams and context', () => {
  test('what an inner agent says as it goes is in the stream of the root, under the call that it answers', async () => {
    const inner = createAgent({ model: scriptedModel([{ text: 'inner words' }]), name: 'inner' });
    const agent = createAgent({
      model: scriptedModel([asking(delegate('inner')), 'outer words']),
      tools: [asTool(inner)],
    });
    const stream = agent.stream('go');
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    const texts = Map.groupBy(
      events.filter((event) => event.type === 'text-delta'),
      ({ insideCall }) => insideCall,
    );
    expect([...texts].map(([call, said]) => [call, said.map(({ text }) => text).join('')])).toEqual([
      ['call_1_0', 'inner words'],
      [undefined, 'outer words'],
    ]);
    expect((await stream.result).text).toBe('outer words');
  });

  test('an approval inside is told in the stream of the root, once', async () => {
    const { agent } = family();
    const stream = agent.stream('go');
    const events: AgentEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.filter(({ type }) => type === 'approval-request')).toMatchObject([
      { callId: atBottom, tool: 'wipe' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'finish', result: { pending: [{ callId: atBottom }] } });
  });

  test('the context of the turn reaches tools at the bottom, also after a restore; ids and keys are unique', async () => {
    const seen: unknown[] = [];
    const look = toolOf(
      'look',
      (_, ctx) => {
        seen.push(ctx.context, ctx.idempotencyKey, ctx.sessionId);
        return 'ok';
      },
      { needsApproval: true },
    );
    const make = () => {
      const inner = createAgent({ model: byHistory('inner', [call('look')]), tools: [look], name: 'inner' });
      return createAgent({ model: byHistory('outer', [delegate('inner')]), tools: [asTool(inner)] });
    };
    const first = make();
    const { pending } = await first.run('go', { session: 's', context: { user: 1 } });
    const context = { user: 2 };
    const session = make().restore(saved(await first.open('s')), { context });
    await session.approve(pending[0]?.callId ?? '');
    await resting(session);
    expect(seen).toEqual([context, 's/call_1_0:call_1_0-call_1_0', 's/call_1_0']);
  });
});

describe('R32: what is left when an agent is cut off', () => {
  const cutOff = async (onMessage: 'queue' | 'supersede' = 'queue') => {
    const held = heldTool('held');
    const wipe = toolOf('wipe', () => 'wiped', { needsApproval: true });
    const inner = createAgent({
      model: byHistory('inner', [call('wipe'), call('held')]),
      tools: [wipe, held.tool],
      name: 'inner',
      approvals: { hold: 'gated' },
    });
    const beside = heldTool('beside');
    const agent = createAgent({
      model: byHistory('outer', [delegate('inner'), call('beside')]),
      tools: [asTool(inner), beside.tool],
      approvals: { onMessage },
    });
    const session = await agent.open();
    void session.send('go');
    await Promise.all([held.whenBegun(1), beside.whenBegun(1)]);
    await waitFor(session.actor, () => session.pending.length === 1);
    return { held, beside, agent, session };
  };

  test('a call that is cancelled while something waits inside: nothing is listed or can be decided any more', async () => {
    const { beside, session } = await cutOff();
    const id = session.pending[0]?.callId ?? '';
    await session.cancel('call_1_0');
    expect(session.pending).toEqual([]);
    expect(await rejection(session.approve(id))).toBeInstanceOf(Error);
    expect(session.actor.getSnapshot().context.decisions).toEqual([]);
    beside.end(0);
    const result = await session.settled();
    expect(results(result.messages)).toEqual([expect.stringMatching(/cancelled/), 'done']);
    expectWhole(session.messages);
  });

  test('the model reads that it had begun, also where it waited for somebody', async () => {
    const { agent } = family();
    const { sessionId } = await agent.run('go');
    const session = await agent.open(sessionId);
    await session.cancel('call_1_0');
    expect(results((await session.settled()).messages)).toEqual([
      'Error: the call was cancelled while it ran; its outcome is unknown.',
    ]);
    expectWhole(session.messages);
  });

  test('what it had used until then is counted', async () => {
    const { beside, session } = await cutOff();
    await session.cancel('call_1_0');
    beside.end(0);
    const result = await session.settled();
    // Two model calls outside, one inside.
    expect(result.usage.totalTokens).toBe(33);
  });

  test('a message supersedes what waits inside also while other calls inside run', async () => {
    const { held, beside, session } = await cutOff('supersede');
    const fate = session.send('do Y');
    expect(session.pending).toEqual([]);
    held.end(0);
    beside.end(0);
    expect(await fate).toEqual({ type: 'delivered' });
    await resting(session);
    expect(transcript(session.messages).slice(3)).toEqual(['user: do Y', expect.stringMatching(/^assistant: outer/)]);
    expectWhole(session.messages);
  });
});
