import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AgentOptions, type Session, type SessionDocument, createAgent, tool } from '../../src/index.ts';
import { type ScriptedAnswer, replay, scriptedModel } from '../../src/testing/index.ts';
import { call, calls, outsideTool, toolOf } from '../support/tools.ts';

const weather = tool({
  name: 'weather',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, rain: true }),
});
const book = toolOf('book', () => 'booked', { needsApproval: true });
const broken = toolOf('broken', () => {
  throw new Error('Oh no!');
});
const outside = outsideTool('outside');
const suzhou = call('weather', { city: 'Suzhou' });

/** Not asked, by the look of the test that it would fail. */
const model = { name: 'none', generate: () => Promise.reject(new Error('the model was asked')) };
const tools = [weather, book, broken, outside];
const now: AgentOptions = { model, tools };

/** A session as it was recorded, with the agent of that time. */
const recorded = async (
  answers: readonly ScriptedAnswer[],
  live: (session: Session) => Promise<void>,
  then: Partial<AgentOptions> = {},
): Promise<SessionDocument> => {
  const session = await createAgent({ tools, ...then, model: scriptedModel(answers) }).open();
  await live(session);
  const document = session.toJSON();
  await session[Symbol.asyncDispose]();
  return document;
};
const says = async (session: Session, text = 'hello'): Promise<void> => {
  await session.send(text);
  await session.settled().catch(() => undefined);
};

const journey = (): Promise<SessionDocument> =>
  recorded(
    [
      calls(suzhou, call('broken')),
      'rain',
      calls(call('book', { seats: 3 }), suzhou),
      calls(call('book', { seats: 1 }), call('outside')),
      'booked',
      calls(call('weather', { city: 7 })),
      'sorry',
    ],
    async (session) => {
      await says(session);
      await says(session, 'book');
      const [first] = session.pending;
      await session.approve(first?.callId ?? '', { input: { seats: 2 }, by: 'ann' });
      await session.settled();
      await session.reject(session.pending[0]?.callId ?? '', { reason: 'too dear' });
      await session.settled();
      await session.respond(session.pending[0]?.callId ?? '', 'by hand');
      await session.settled();
      await says(session, 'once more');
    },
  );

describe('a session that was recorded', () => {
  test('does with the same options what it did: rounds, failures, edits, rejections, answers from outside', async () => {
    const document = await journey();
    expect(await replay(document, now)).toEqual({ turns: 3, replies: 7 });
    expect(await replay(JSON.stringify(document), now)).toEqual({ turns: 3, replies: 7 });
  });

  test('may have other instructions, another model, other descriptions', async () => {
    const other = tool({
      name: 'weather',
      description: 'The weather, now',
      inputSchema: z.object({ city: z.string().optional() }),
      execute: () => 'snow',
    });
    const options = { ...now, instructions: 'Be short.', tools: [other, book, broken, outside] };
    expect(await replay(await journey(), options)).not.toHaveProperty('divergence');
  });

  test('runs no tool, asks no model, needs no rights and leaves the document as it was', async () => {
    const run: string[] = [];
    const watched = tools.map((each) =>
      each.execute === undefined ? each : { ...each, execute: () => run.push(each.name) },
    );
    const document = await journey();
    const before = JSON.stringify(document);
    await replay(document, { ...now, tools: watched, approvals: { authorize: () => false } });
    expect(run).toEqual([]);
    expect(JSON.stringify(document)).toBe(before);
  });

  test('that was steered, stopped and asked again does the same', async () => {
    const document = await recorded(
      [calls(suzhou), 'steered', calls(call('book')), 'after the stop'],
      async (session) => {
        const fate = session.send('hello');
        void session.send('and Hangzhou', { mode: 'steer' });
        await fate;
        await session.settled();
        await says(session, 'book');
        await session.stop();
        await says(session, 'again');
      },
    );
    expect(await replay(document, now)).toEqual({ turns: 3, replies: 4 });
  });

  test('that waits has to wait for the same calls', async () => {
    const document = await recorded([calls(call('book'), suzhou)], (session) => says(session));
    expect(await replay(document, now)).toEqual({ turns: 1, replies: 1 });
    expect((await replay(document, { ...now, tools: [weather, toolOf('book', () => 'booked')] })).divergence).toEqual({
      turn: 1,
      round: 1,
      expected: 'book has no result yet',
      came: 'book runs without asking',
    });
  });

  test('that was stopped after a call was approved with other arguments does the same', async () => {
    const document = await recorded(
      [calls(call('book', { seats: 3 }), call('book', { seats: 4 }))],
      async (session) => {
        await says(session);
        await session.approve(session.pending[1]?.callId ?? '', { input: { seats: 2 } });
        await session.stop();
      },
    );
    expect(await replay(document, now)).toEqual({ turns: 1, replies: 1 });
  });

  test.each<[string, (session: Session, callId: string) => Promise<void>]>([
    ['answered', (session, callId) => session.respond(callId, 'by hand')],
    ['cancelled', (session, callId) => session.cancel(callId)],
    ['stopped', (session) => session.stop()],
  ])('of which an outside call was approved with other arguments, then %s, does the same', async (_, end) => {
    const gated = tool({ name: 'gated', inputSchema: z.object({ n: z.number() }), needsApproval: true });
    const document = await recorded(
      [calls(call('gated', { n: 1 })), 'done'],
      async (session) => {
        await says(session);
        const callId = session.pending[0]?.callId ?? '';
        await session.approve(callId, { input: { n: 2 } });
        await session.settled();
        await end(session, callId);
        await session.settled();
      },
      { tools: [gated] },
    );
    expect(await replay(document, { model, tools: [gated] })).not.toHaveProperty('divergence');
  });

  test('in manual mode gets its results from the caller again', async () => {
    const document = await recorded(
      [calls(suzhou, suzhou), 'thanks', calls(suzhou)],
      async (session) => {
        await says(session);
        const [first] = session.actor.getSnapshot().context.round?.calls ?? [];
        await session.send([
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId: first?.callId ?? '',
                toolName: 'weather',
                output: { type: 'text', value: 'rain' },
              },
            ],
          },
          { role: 'user', content: 'there you are' },
        ]);
        await session.settled();
        await says(session, 'more');
      },
      { autopilot: false },
    );
    expect(await replay(document, { ...now, autopilot: false })).toEqual({ turns: 3, replies: 3 });
    expect((await replay(document, now)).divergence).toBeDefined();
  });

  test('that ended by a limit, a refusal, an error or a tool ends so again', async () => {
    const limited = { limits: { maxIterations: 1, onLimit: 'pause' as const } };
    const atLimit = await recorded([calls(suzhou)], (session) => says(session), limited);
    expect(await replay(atLimit, { ...now, ...limited })).toEqual({ turns: 1, replies: 1 });
    const refused = await recorded([calls(suzhou), { refusal: 'no' }], (session) => says(session));
    expect(await replay(refused, now)).toEqual({ turns: 1, replies: 1 });
    const failed = await recorded([calls(suzhou), new Error('down')], (session) => says(session));
    expect(await replay(failed, now)).toEqual({ turns: 1, replies: 1 });
    const last = [toolOf('last', (_, ctx) => ctx.endTurn())];
    const ended = await recorded([calls(call('last'))], (session) => says(session), { tools: last });
    expect(await replay(ended, { ...now, tools: last })).toEqual({ turns: 1, replies: 1 });
  });

  test('that began with a history does the same', async () => {
    const document = await recorded(['first', calls(suzhou), 'second'], async (session) => {
      await session.send([
        { role: 'user', content: 'before' },
        { role: 'assistant', content: 'earlier' },
        { role: 'user', content: 'now' },
      ]);
      await session.settled();
      await says(session, 'next');
    });
    expect(await replay(document, now)).toEqual({ turns: 2, replies: 3 });
  });

  test('that had replies of which nothing is left does the same', async () => {
    const answers = [{}, 'first', {}, calls(suzhou), {}, 'second', calls(suzhou), { refusal: 'no' }];
    const document = await recorded(answers, async (session) => {
      await says(session);
      await says(session, 'next');
      await says(session, 'last');
    });
    expect(await replay(document, now)).toEqual({ turns: 3, replies: 4 });
  });
});

describe('the first divergence is told', () => {
  test.each<[string, Partial<AgentOptions>, { turn: number; round: number; expected: string; came: string }]>([
    [
      'a tool that is gone',
      { tools: [book, broken, outside] },
      {
        turn: 1,
        round: 1,
        expected: 'tool: weather: ok, broken: failed',
        came: 'tool: weather: failed (there is no tool named "weather". Known tools: book, broken, outside.), broken: failed',
      },
    ],
    [
      'arguments that do not fit any more',
      {
        tools: [
          tool({ name: 'weather', inputSchema: z.object({ place: z.string() }), execute: () => 1 }),
          book,
          broken,
          outside,
        ],
      },
      {
        turn: 1,
        round: 1,
        expected: 'tool: weather: ok, broken: failed',
        came: 'tool: weather: failed (the arguments for the tool "weather" are not valid; the tool did not run. - place: Invalid input: expected string, received undefined), broken: failed',
      },
    ],
    [
      'a limit that comes earlier',
      { limits: { maxIterations: 1, onLimit: 'pause' } },
      { turn: 1, round: 2, expected: 'assistant: "rain"', came: 'the turn ends: limit maxIterations' },
    ],
    [
      'errors that are not borne any more',
      { limits: { maxConsecutiveErrors: 0 } },
      { turn: 1, round: 2, expected: 'assistant: "rain"', came: 'the turn ends: failed (error-limit)' },
    ],
    [
      'an approval that is needed now',
      { approvals: { policy: ({ tool: name }) => (name === 'weather' ? 'ask' : undefined) } },
      { turn: 1, round: 1, expected: 'weather runs without asking', came: 'weather waits for approval' },
    ],
    [
      'an approval that is not needed any more',
      { approvals: { policy: ({ tool: name }) => (name === 'book' ? 'approve' : undefined) } },
      { turn: 2, round: 1, expected: 'book asks for approval', came: 'book runs without asking' },
    ],
    [
      'a policy that rejects',
      { approvals: { policy: ({ tool: name }) => (name === 'book' ? 'reject' : undefined) } },
      {
        turn: 2,
        round: 1,
        expected: 'assistant: calls book with {"seats":2}, calls weather with {"city":"Suzhou"}',
        came: 'assistant: calls book with {"seats":3}, calls weather with {"city":"Suzhou"}',
      },
    ],
    [
      'calls that are left to the caller',
      { autopilot: false },
      {
        turn: 1,
        round: 1,
        expected: 'assistant: calls weather with {"city":"Suzhou"}, calls broken with {}',
        came: 'the turn ends: tool-calls',
      },
    ],
  ])('%s', async (_, change, divergence) => {
    expect((await replay(await journey(), { ...now, ...change })).divergence).toEqual(divergence);
  });

  test('a call that fails now, in the round of its reply and with the reason', async () => {
    const upTo = (max: number) =>
      tool({ name: 'count', inputSchema: z.object({ n: z.number().max(max) }), execute: () => 1 });
    const answers = [calls(call('count', { n: 1 })), calls(call('count', { n: 2 })), 'end'];
    const document = await recorded(answers, (session) => says(session), { tools: [upTo(9)] });
    const { divergence } = await replay(document, { model, tools: [upTo(1)] });
    expect(divergence).toMatchObject({ turn: 1, round: 2, expected: 'tool: count: ok' });
    expect(divergence?.came).toMatch(/^tool: count: failed \(the arguments for the tool "count" are not valid.* n: /);
  });

  test('a limit that came and comes no more', async () => {
    const limits = { maxIterations: 1, onLimit: 'pause' as const };
    const document = await recorded([calls(suzhou)], (session) => says(session), { limits });
    expect((await replay(document, now)).divergence).toEqual({
      turn: 1,
      round: 2,
      expected: 'the turn ends: limit maxIterations',
      came: 'the model is asked again',
    });
  });

  test('an agent in the place of its options is refused, and the error says what to give', async () => {
    const document = await recorded(['hello'], (session) => says(session));
    await expect(replay(document, createAgent(now) as never)).rejects.toMatchObject({
      code: 'invalid-option',
      message: expect.stringContaining('replay needs the options of the agent, which createAgent takes'),
    });
  });

  test('what is no document is refused', async () => {
    await expect(replay('{}', now)).rejects.toMatchObject({ code: 'invalid-document' });
  });
});
