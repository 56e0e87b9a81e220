import { describe, expect, test } from 'vitest';
import { ModelError } from '../../src/models/model-error.ts';
import type { RunOptions } from '../../src/sessions/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { atOnce, provider } from '../support/provider.ts';
import { delta, sseOpen } from '../support/replay-server.ts';
import { expectWhole, inBothModes, resting, runStreamed } from '../support/run.ts';
import { rejection, reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const many = (answer: ScriptedAnswer, times: number): ScriptedAnswer[] => Array.from({ length: times }, () => answer);
const passing = (message: string): ModelError => new ModelError('model-request-failed', message, { transient: true });

inBothModes('options of one run', (run) => {
  test('limits hold for this turn alone, each by its name', async () => {
    const model = scriptedModel(many(calls(call('F1')), 20));
    const agent = createAgent({ model, tools: [F1], limits: { onLimit: 'pause', maxIterations: 5 } });
    const limited = async (limits: NonNullable<RunOptions['limits']>) => (await run(agent, 'go', { limits })).result;
    expect(await limited({ maxIterations: 2 })).toMatchObject({ iterations: 2, outcome: { limit: 'maxIterations' } });
    expect(await limited({ maxToolCalls: 3 })).toMatchObject({ iterations: 3, outcome: { limit: 'maxToolCalls' } });
    expect(await limited({})).toMatchObject({ iterations: 5 });
    const { error } = await run(agent, 'go', { limits: { maxIterations: 1, onLimit: 'fail' } });
    expect(error?.code).toBe('iteration-limit');
    expect(model.requests).toHaveLength(2 + 4 + 5 + 1);
  });

  test('a tool choice that is forced for one run holds for its first model call', async () => {
    const model = scriptedModel([calls(call('F1')), 'one', 'two']);
    const agent = createAgent({ model, tools: [F1], toolChoice: 'none' });
    const { session } = await run(agent, 'go', { toolChoice: { tool: 'F1' } });
    await run(agent, 'more', { session });
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([{ tool: 'F1' }, undefined, 'none']);
  });

  test('settings are laid over those of the agent, for every model call of the turn', async () => {
    const model = scriptedModel([calls(call('F1')), 'one', 'two']);
    const agent = createAgent({ model, tools: [F1], settings: { temperature: 0, seed: 1 } });
    const { session } = await run(agent, 'go', { settings: { temperature: 1 } });
    await run(agent, 'more', { session });
    const both = { temperature: 1, seed: 1 };
    expect(model.requests.map(({ settings }) => settings)).toEqual([both, both, { temperature: 0, seed: 1 }]);
  });

  test('they wait with their message in the queue, and hold after a save and a load', async () => {
    const gate = toolOf('gate', () => 'ok', { needsApproval: true });
    const model = scriptedModel([calls(call('gate')), calls(call('F1')), 'never']);
    const agent = createAgent({ model, tools: [gate, F1] });
    const options: RunOptions = { limits: { maxIterations: 2, onLimit: 'pause' }, settings: { seed: 5 } };
    const { session } = await run(agent, 'go', options);
    const later = reopened(agent, session);
    await later.approve('call_1_0');
    expect((await later.settled()).outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
    expect(model.requests.map(({ settings }) => settings?.seed)).toEqual([5, 5]);
    expectWhole(later.messages);
  });

  test('the context is for the tools of this turn; it is never stored', async () => {
    const seen: unknown[] = [];
    const look = toolOf('look', (_, { context }) => seen.push(context));
    const model = scriptedModel([calls(call('look')), 'one', calls(call('look')), 'two']);
    const agent = createAgent({ model, tools: [look] });
    const context = { secret: 'word', live: () => 1 };
    const { session } = await run(agent, 'go', { context });
    await run(agent, 'more', { session, context: 2 });
    expect(seen).toEqual([context, 2]);
    expect(seen[0]).toBe(context);
    expect(JSON.stringify(saved(session))).not.toContain('word');
  });

  test.each([
    [{ limits: { maxIterations: 0 } }, /run: option "limits.maxIterations" must be an integer ≥ 1, got 0/],
    [{ limits: { deadline: Number.NaN } }, /limits.deadline.*NaN/],
    [{ limits: { rounds: 3 } }, /there is no option "limits.rounds"/],
    [{ toolChoice: 'must' }, /toolChoice/],
    [{ settings: 3 }, /settings/],
  ])('what is out of bounds is refused and nothing is asked: %j', async (options, message) => {
    const model = scriptedModel([]);
    const agent = createAgent({ model });
    const error = await rejection(run(agent, 'go', { session: 's', ...options } as never));
    expect(error).toMatchObject({ code: 'invalid-option' });
    expect(error.message).toMatch(message);
    expect((await agent.open('s')).status).toBe('idle');
  });

  test('fallback models are asked in order when the tries are used up, and each reply says who gave it', async () => {
    const first = scriptedModel(many(passing('a'), 4), { name: 'first' });
    const second = scriptedModel(many(passing('b'), 4), { name: 'second' });
    const third = scriptedModel([calls(call('F1')), 'third says'], { name: 'third' });
    const agent = createAgent({
      model: first,
      fallback: [second, third],
      tools: [F1],
      retry: { ...atOnce, attempts: 2 },
    });
    const { result, events } = await run(agent, 'go');
    // The next model call of a turn begins with the first model again.
    expect([first, second, third].map(({ requests }) => requests.length)).toEqual([4, 4, 2]);
    expect(result.text).toBe('third says');
    expect(result.modelCalls.map(({ model }) => model)).toEqual(['third', 'third']);
    for (const event of events) if (event.type === 'step-finish') expect(event.model).toBe('third');
  });

  test('the fallback sees the same request, in its own tongue', async () => {
    const down = { status: 503, json: { error: { message: 'down' } } };
    await using one = await provider([
      { calls: [{ id: 'c1', name: 'F1' }], extra: { reasoning_content: 'mine' } },
      down,
    ]);
    await using two = await provider(['two says']);
    const agent = createAgent({
      model: one.model,
      fallback: [two.model],
      tools: [F1],
      retry: { ...atOnce, attempts: 1 },
    });
    const { result } = await run(agent, 'go');
    expect(result.text).toBe('two says');
    expect(two.sent(0).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(two.server.requests[0]?.raw).not.toContain('mine');
  });

  test('where all of them fail the turn fails with the last one’s words, and `retry` begins with the first', async () => {
    const first = scriptedModel([passing('a'), 'first says'], { name: 'first' });
    const second = scriptedModel([passing('b')], { name: 'second' });
    const agent = createAgent({ model: first, fallback: [second], retry: { ...atOnce, attempts: 1 } });
    const { error, session } = await run(agent, 'go');
    expect(error?.message).toBe('b');
    await session.retry();
    expect((await session.settled()).text).toBe('first says');
  });
});

describe('a stream that falls silent', () => {
  test('is an error that may pass: it is asked for again, and what it had said is not kept', async () => {
    const clock = manualClock();
    await using from = await provider([{ body: sseOpen(delta({ content: 'par' })), then: 'stay-open' }, 'whole']);
    const agent = createAgent({ model: from.model, clock, idleTimeout: 500, retry: { initialDelay: 7 } });
    const stream = agent.stream('go');
    const running = (async () => {
      for await (const event of stream) {
        if (event.type === 'text-delta' && event.text === 'par') clock.advance(500);
        if (event.type === 'error') expect(event).toMatchObject({ error: { code: 'model-stream-broken' } });
        if (event.type === 'transition' && event.to === 'thinking.backing-off') {
          while ((await clock.armed()) !== 7) await new Promise((resolve) => setImmediate(resolve));
          clock.advance(7);
        }
      }
    })();
    const result = await stream.result;
    await running;
    expect(result.text).toBe('whole');
    expect(transcript(result.messages)).toEqual(['user: go', 'assistant: whole']);
    expect(await from.server.requests[0]?.closed).toBe(true);
    expect(clock.timers).toBe(0);
  });

  test('a stop while it is silent ends the request at once', async () => {
    await using from = await provider([{ body: sseOpen(delta({ content: 'par' })), then: 'stay-open' }]);
    const agent = createAgent({ model: from.model, idleTimeout: 60_000 });
    const session = await agent.open();
    const stream = agent.stream('go', { session });
    for await (const event of stream) if (event.type === 'text-delta') await session.stop('enough');
    expect((await stream.result).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    expect(await from.server.requests[0]?.closed).toBe(true);
    expect(transcript(session.messages)).toEqual(['user: go']);
  });
});

describe('several agents and sessions at once', () => {
  test('two agents share tools, a model and a server; nothing gets mixed', async () => {
    const echo = toolOf('echo', async ({ n }) => `echo ${String(n)}`);
    const answers = Array.from({ length: 80 }, () => ({ body }: { body: Record<string, unknown> }) => {
      const messages = body['messages'] as { role: string; content: string }[];
      const { content = '', role } = messages.at(-1) ?? {};
      return role === 'tool'
        ? { content: `${messages[0]?.content} ${content}` }
        : { calls: [{ id: 'same', name: 'echo', args: JSON.stringify({ n: content }) }] };
    });
    await using from = await provider(answers);
    const agents = ['A', 'B'].map((instructions) => createAgent({ model: from.model, tools: [echo], instructions }));
    const runs = agents.flatMap((agent, at) =>
      Array.from({ length: 20 }, async (_, n) => {
        const { result, session } = await runStreamed(agent, `${n}`, { session: `s${n}` });
        expect(result.text).toBe(`${'AB'[at]} echo ${n}`);
        return session;
      }),
    );
    const sessions = await Promise.all(runs);
    expect(new Set(sessions).size).toBe(40);
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(20);
  });

  test('many turns of many sessions, with approvals in some, each come to their own end', async () => {
    const gate = toolOf('gate', ({ n }) => `gate ${String(n)}`, { needsApproval: true });
    const answer: ScriptedAnswer = ({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return `done ${results([last])[0]}`;
      return { toolCalls: [call(Number(last?.content) % 2 === 0 ? 'gate' : 'F1', { n: last?.content })] };
    };
    const agent = createAgent({ model: scriptedModel(many(answer, 200)), tools: [gate, F1] });
    const texts = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const { outcome, sessionId, text } = await agent.run(`${n}`);
        if (outcome.type !== 'pending') return text;
        const session = reopened(agent, await agent.open(sessionId));
        await session.approve('call_1_0');
        const end = await resting(session);
        expectWhole(session.messages);
        return end.text;
      }),
    );
    expect(texts).toEqual(Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? `done gate ${n}` : 'done Result 1')));
  });

  test('one store, two agents: what one wrote the other goes on with', async () => {
    const store = memoryStore();
    const first = createAgent({ model: scriptedModel(['one']), store });
    const second = createAgent({ model: scriptedModel(['two']), store });
    const { sessionId } = await first.run('a');
    const { text } = await second.run('b', { session: sessionId });
    expect(text).toBe('two');
    const session = await second.open(sessionId);
    expect(transcript(session.messages)).toEqual(['user: a', 'assistant: one', 'user: b', 'assistant: two']);
  });
});

inBothModes('a model for one turn', (run) => {
  test('answers that turn in place of the own one, inside the middleware, and the next turn has the own one again', async () => {
    const own = scriptedModel(['own']);
    const other = scriptedModel([calls(call('echo')), 'other'], { name: 'other' });
    const asked: string[] = [];
    const agent = createAgent({
      model: own,
      tools: [toolOf('echo', () => 'echo')],
      modelMiddleware: [
        (next) => ({
          ...next,
          name: next.name,
          generate: (request, options) => {
            asked.push(next.name);
            return next.generate(request, options);
          },
          stream: (request, options) => {
            asked.push(next.name);
            return next.stream?.(request, options) ?? other.stream(request, options);
          },
        }),
      ],
    });
    const { result, session } = await run(agent, 'first', { model: other });
    expect(result.text).toBe('other');
    expect((await run(agent, 'second', { session })).result.text).toBe('own');
    expect(asked).toEqual(['other', 'other', 'scripted']);
    own.assertFinished();
    other.assertFinished();
  });

  test('is refused where it is no model', async () => {
    const agent = createAgent({ model: scriptedModel([]) });
    await expect(run(agent, 'hello', { model: {} as never })).rejects.toMatchObject({ code: 'invalid-option' });
  });
});
