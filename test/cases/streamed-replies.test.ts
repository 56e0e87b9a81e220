import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { tool } from '../../src/tools/tool.ts';
import { atOnce, provider, wireTranscript } from '../support/provider.ts';
import { callPiece, delta, sse, sseOpen } from '../support/replay-server.ts';
import { expectWhole, inBothModes, runStreamed, runWhole } from '../support/run.ts';
import { counter, reopened } from '../support/sessions.ts';
import { results, transcript } from '../support/transcript.ts';

const note = (give: (input: unknown) => unknown = () => 'found') => {
  const noted = counter(give);
  const search = tool({ name: 'search', inputSchema: z.object({ query: z.string() }), execute: noted.run });
  const now = tool({ name: 'now', inputSchema: z.object({}), execute: noted.run });
  return { runs: noted.calls, search, now };
};

inBothModes('replies of odd servers', (run) => {
  test('B11: several objects in one argument text: nothing runs, the call has one error, the model mends it', async () => {
    const { runs, search } = note();
    await using from = await provider([
      { calls: [{ id: 'c1', name: 'search', args: '{"query":"a"}{"query":"b"}{"query":"c"}' }] },
      { calls: [{ id: 'c2', name: 'search', args: '{"query":"a"}' }] },
      'done',
    ]);
    const { result } = await run(createAgent({ model: from.model, tools: [search] }), 'go');
    expect(result.text).toBe('done');
    expect(results(result.messages)[0]).toContain('not one JSON object');
    expect(runs).toEqual([{ query: 'a' }]);
    expect(
      from
        .sent(2)
        .filter(({ role }) => role === 'tool')
        .map(({ tool_call_id: id }) => id),
    ).toEqual(['c1', 'c2']);
  });

  test('B15: arguments that stop short are never run; a model that goes on so ends at the error limit', async () => {
    const { runs, search } = note();
    const cut = { calls: [{ id: 'c1', name: 'search', args: '{"query": ' }] };
    await using from = await provider([cut, cut, cut, cut, cut]);
    const { error, session } = await run(createAgent({ model: from.model, tools: [search] }), 'go');
    expect(error?.code).toBe('error-limit');
    expect(from.server.requests).toHaveLength(4);
    expect(runs).toEqual([]);
    expect(results(session.messages)).toHaveLength(4);
  });

  test.each(['stop', 'other', 'unknown', null])(
    'B21: calls are run whatever the finish reason says (%s)',
    async (finish) => {
      const { runs, now } = note();
      await using from = await provider([
        {
          content: 'Let me look.',
          calls: [
            { id: 'c1', name: 'now' },
            { id: 'c2', name: 'now' },
          ],
          finish,
        },
        'done',
      ]);
      const agent = createAgent({ model: from.model, tools: [now], retry: atOnce });
      const { result } = await run(agent, 'go');
      expect(runs).toHaveLength(2);
      expect(result.text).toBe('done');
      expect(wireTranscript(from.sent(1))).toEqual([
        'user: go',
        'assistant: Let me look. now({}) now({})',
        'tool: found',
        'tool: found',
      ]);
    },
  );

  test('B22: a finish reason of calls without any is asked again once, then the turn has a named end', async () => {
    const nothing = { content: '', calls: [], finish: 'tool_calls' };
    await using from = await provider([nothing, nothing, nothing, nothing]);
    const { error, session } = await run(createAgent({ model: from.model, tools: [note().now] }), 'go');
    expect(error?.code).toBe('empty-reply');
    expect(from.server.requests).toHaveLength(2);
    expect(transcript(session.messages)).toEqual(['user: go']);
  });

  test('B36: thoughts alone are no answer: asked again once, then a named end', async () => {
    const thoughts = { content: '', extra: { reasoning_content: 'The answer is 4' } };
    await using from = await provider([thoughts, thoughts, thoughts]);
    const { error, session } = await run(createAgent({ model: from.model }), '2+2?');
    expect(error?.code).toBe('empty-reply');
    expect(from.server.requests).toHaveLength(2);
    expect(transcript(session.messages)).toEqual(['user: 2+2?']);
  });

  test('B36: thoughts and then an answer is an answer', async () => {
    await using from = await provider([{ content: '', extra: { reasoning_content: 'hm' }, finish: 'stop' }, '4']);
    const { result } = await run(createAgent({ model: from.model }), '2+2?');
    expect(result.text).toBe('4');
  });

  test.each(['reasoning_content', 'reasoning'])(
    'B31: %s goes back word for word, also after a save and a load',
    async (field) => {
      const { now } = note();
      const gated = tool({ name: 'gated', inputSchema: z.object({}), needsApproval: true, execute: () => 'ok' });
      const insists = ({ body }: { body: Record<string, unknown> }) => {
        const messages = body['messages'] as Record<string, unknown>[];
        const bare = messages.filter(({ role, tool_calls: made }) => role === 'assistant' && made !== undefined);
        return bare.every((message) => message[field] === 'need time')
          ? { content: 'done' }
          : { status: 400, json: { error: { message: `missing ${field}` } } };
      };
      await using from = await provider([
        { extra: { [field]: 'need time' }, calls: [{ id: 'c1', name: 'gated' }] },
        insists,
      ]);
      const agent = createAgent({ model: from.model, tools: [now, gated] });
      const { session } = await run(agent, 'go');
      const later = reopened(agent, session);
      await later.approve('call_1_0');
      expect((await later.settled()).text).toBe('done');
      expectWhole(later.messages);
    },
  );

  test('B31: thoughts are not sent to a provider that did not have them', async () => {
    const { now } = note();
    await using one = await provider([
      { extra: { reasoning_content: 'mine' }, calls: [{ id: 'c1', name: 'now' }] },
      'done',
    ]);
    await using other = await provider(['hello']);
    const first = await run(createAgent({ model: one.model, tools: [now] }), 'go');
    const document = first.session.toJSON();
    await run(createAgent({ model: other.model, tools: [now] }), 'more', { session: document });
    expect(other.server.requests[0]?.raw).not.toContain('mine');
    expect(other.sent(0)).toHaveLength(5);
  });
});

test('B17: a stream that is cut inside arguments is asked for again; nothing of it runs or is kept', async () => {
  const { runs, search } = note();
  await using from = await provider([
    {
      body: sseOpen(
        delta({ role: 'assistant', content: 'Saving.' }),
        delta({ tool_calls: [callPiece(0, 'c1', 'search', '{"query":"abc')] }),
      ),
    },
    'done',
  ]);
  const agent = createAgent({ model: from.model, tools: [search], retry: atOnce });
  const { result, events } = await runStreamed(agent, 'go');
  expect(runs).toEqual([]);
  expect(transcript(result.messages)).toEqual(['user: go', 'assistant: done']);
  expect(events.filter(({ type }) => type === 'error')).toHaveLength(1);
});

test('B17: where it is cut every time the turn fails with a code, and the session can go on', async () => {
  const cut = { body: sseOpen(delta({ content: 'Sav' })) };
  await using from = await provider([cut, cut, 'done']);
  const agent = createAgent({ model: from.model, retry: { ...atOnce, attempts: 2 } });
  const { error, session } = await runStreamed(agent, 'go');
  expect(error?.code).toBe('model-error');
  expect(transcript(session.messages)).toEqual(['user: go']);
  await session.retry();
  expect((await session.settled()).text).toBe('done');
});

test('B18: a text whose socket is destroyed is no answer; the partial text is shown and not kept', async () => {
  await using from = await provider([{ body: sseOpen(delta({ content: 'The answer is' })), then: 'destroy' }]);
  const agent = createAgent({ model: from.model, retry: { attempts: 1 } });
  const { error, session, events } = await runStreamed(agent, 'go');
  expect(error?.code).toBe('model-error');
  expect(events).toContainEqual({ type: 'text-delta', text: 'The answer is' });
  expect(transcript(session.messages)).toEqual(['user: go']);
});

test('B18: a server that keeps the socket open after its last event holds nobody up', async () => {
  await using from = await provider([{ body: sse(delta({ content: 'hi' }, 'stop')), then: 'stay-open' }]);
  expect((await runStreamed(createAgent({ model: from.model }), 'go')).result.text).toBe('hi');
});

test('B18: a finish reason is enough, without the closing event', async () => {
  await using from = await provider([{ body: sseOpen(delta({ content: 'hi' }, 'stop')) }]);
  expect((await runStreamed(createAgent({ model: from.model }), 'go')).result.text).toBe('hi');
});

test.each([
  ['alone', []],
  ['after some text', [delta({ content: 'par' })]],
])(
  'B24: an error inside a stream of status 200 (%s) fails the turn with its text, and is not asked again',
  async (_, before) => {
    await using from = await provider([
      { body: sse(...before, { error: { message: 'quota exceeded', code: null } }) },
      'never',
    ]);
    const { error, session } = await runStreamed(createAgent({ model: from.model, retry: atOnce }), 'go');
    expect(error?.message).toContain('quota exceeded');
    expect(from.server.requests).toHaveLength(1);
    expect(transcript(session.messages)).toEqual(['user: go']);
  },
);

test('B24: an error that is only a text may pass: it is asked again, and its text is not lost', async () => {
  const exploded = { body: sse({ error: 'STREAM_EXPLODED' }) };
  await using from = await provider([exploded, exploded, exploded, 'never']);
  const { error } = await runStreamed(createAgent({ model: from.model, retry: atOnce }), 'go');
  expect(error?.message).toContain('STREAM_EXPLODED');
  expect(from.server.requests).toHaveLength(3);
});

test('B24: the same in a whole reply', async () => {
  await using from = await provider([{ json: { error: { message: 'quota exceeded', code: null } } }, 'never']);
  const { error } = await runWhole(createAgent({ model: from.model, retry: atOnce }), 'go');
  expect(error?.message).toContain('quota exceeded');
  expect(from.server.requests).toHaveLength(1);
});
