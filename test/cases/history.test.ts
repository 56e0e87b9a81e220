import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/messages/message.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { atOnce, provider, wireTranscript } from '../support/provider.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const asked = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'F1', input: {} })),
});
const answered = (...ids: string[]): Message => ({
  role: 'tool',
  content: ids.map((toolCallId) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'F1',
    output: { type: 'text', value: `out ${toolCallId}` },
  })),
});
const user = (content: string): Message => ({ role: 'user', content });
const said = (content: string): Message => ({ role: 'assistant', content });
const isUnknown = /outcome is unknown/;

inBothModes('histories that were cut or mended', (run) => {
  test('B68: a run that was stopped among four calls: the next request answers all four, after a reload too', async () => {
    const held = heldTool('held');
    await using from = await provider([
      { calls: [1, 2, 3, 4].map((n) => ({ id: `c${n}`, name: n === 1 ? 'F1' : 'held' })) },
      'one',
      'two',
    ]);
    const agent = createAgent({ model: from.model, tools: [F1, held.tool], stopGrace: 0, concurrency: 2 });
    const session = await agent.open();
    void session.send('go');
    await held.whenBegun(1);
    await session.stop();
    const document = saved(session);
    const { result } = await run(agent, 'continue', { session: document });
    expect(result.text).toBe('one');
    const [first, ...others] = results(session.messages);
    expect(first).toBe('Result 1');
    expect(others).toHaveLength(3);
    for (const text of others) expect(text).toMatch(/was stopped/);
    expect(from.sent(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'tool', 'tool', 'user']);
    expect((await run(agent, 'more', { session: saved(session) })).result.text).toBe('two');
  });

  test('B68: so is a history that came from elsewhere with calls left open', async () => {
    await using from = await provider(['done', 'again']);
    const agent = createAgent({ model: from.model, tools: [F1] });
    const given = [user('go'), asked('c1', 'c2', 'c3'), answered('c1'), user('continue')];
    const { session } = await run(agent, given);
    expect(results(session.messages)).toEqual([
      'out c1',
      expect.stringMatching(isUnknown),
      expect.stringMatching(isUnknown),
    ]);
    await run(agent, 'more', { session: saved(session) });
    expect(from.sent(1).map(({ role }) => role)).toEqual(
      'user assistant tool tool tool user assistant user'.split(' '),
    );
  });

  test('B69: results whose calls are gone are left out, in the session and in what is sent', async () => {
    await using from = await provider(['done']);
    const agent = createAgent({ model: from.model, tools: [F1] });
    const { session } = await run(agent, [user('go'), answered('c1'), user('continue')]);
    expect(wireTranscript(from.sent(0))).toEqual(['user: go', 'user: continue']);
    expect(transcript(session.messages)).toEqual(['user: go', 'user: continue', 'assistant: done']);
  });

  test('B69: a reply that was aborted leaves neither a call nor a result behind', async () => {
    const aborting = new AbortController();
    const hang = scriptedModel([
      (_, { signal }) => {
        aborting.abort();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
      'done',
    ]);
    const agent = createAgent({ model: hang, tools: [F1] });
    const { result, session } = await run(agent, 'go', { signal: aborting.signal });
    expect(result.outcome).toMatchObject({ type: 'stopped' });
    expect(transcript(session.messages)).toEqual(['user: go']);
    await run(agent, 'continue', { session });
    expect(transcript(session.messages)).toEqual(['user: go', 'user: continue', 'assistant: done']);
  });

  test.each([
    ['between a call and its result', [answered('c1'), said('done'), user('next')]],
    ['inside the results of one round', [asked('c1', 'c2', 'c3'), answered('c1'), user('next')]],
    ['before the last results', [answered('c1', 'c2'), user('next')]],
  ])('B71: a history that its owner cut %s is sent whole: no result without a call, none first', async (_, given) => {
    await using from = await provider(['ok']);
    const { result } = await run(createAgent({ model: from.model, instructions: 'S', tools: [F1] }), given);
    expect(result.text).toBe('ok');
    const sent = from.sent(0);
    expect(sent[0]).toMatchObject({ role: 'system', content: 'S' });
    expect(sent[1]?.['role']).not.toBe('tool');
    expect(sent.at(-1)).toMatchObject({ role: 'user', content: 'next' });
  });

  test('B73: an open call in the middle of a history is mended for every request of the session', async () => {
    await using from = await provider([{ calls: [{ id: 'c9', name: 'F1' }] }, 'one', 'two']);
    const agent = createAgent({ model: from.model, tools: [F1] });
    const given = [user('a'), asked('c1'), user('b'), said('c'), asked('c1', 'c2'), answered('c1', 'c2'), user('d')];
    const { session } = await run(agent, given);
    await run(agent, 'e', { session: saved(session) });
    for (const index of [0, 1, 2]) {
      const roles = from.sent(index).map(({ role }) => role);
      expect(roles.slice(0, 8)).toEqual([
        'user',
        'assistant',
        'tool',
        'user',
        'assistant',
        'assistant',
        'tool',
        'tool',
      ]);
    }
  });

  test('B74: a reply with calls only may have null as its content; a text goes out', async () => {
    await using from = await provider([{ content: null, calls: [{ id: 'c1', name: 'F1' }] }, 'done']);
    const { result } = await run(createAgent({ model: from.model, tools: [F1] }), 'go');
    expect(result.text).toBe('done');
    expect(from.sent(1)[1]?.['content']).toBe('');
  });

  test('B76: one system message, first, with the instructions of now, whatever the session was told before', async () => {
    await using from = await provider(['one', 'two', 'three', 'four']);
    const first = createAgent({ model: from.model, instructions: 'S' });
    const changed = createAgent({ model: from.model, instructions: 'S2' });
    const { session } = await run(first, 'a');
    const second = await run(first, 'b', { session: saved(session) });
    await run(changed, 'c', { session: saved(second.session) });
    await run(changed, [{ role: 'system', content: 'old' }, user('x'), said('y'), user('z')]);
    const systems = from.server.requests.map((_, index) => from.sent(index).filter(({ role }) => role === 'system'));
    expect(systems.map((each) => each.map(({ content }) => content))).toEqual([['S'], ['S'], ['S2'], ['S2']]);
    for (const [index] of systems.entries()) expect(from.sent(index)[0]?.['role']).toBe('system');
    expect(from.sent(2)).toHaveLength(6);
  });

  test('B77: after a failed turn a retry says nothing twice; two messages in a row can be merged at the edge', async () => {
    const refuse = { status: 400, json: { error: { message: 'no' } } };
    await using from = await provider([refuse, refuse, 'done'], { mergeConsecutive: true });
    const agent = createAgent({ model: from.model, retry: atOnce });
    const { session } = await run(agent, 'a');
    await session.retry();
    await session.settled().catch(() => undefined);
    expect(wireTranscript(from.sent(1))).toEqual(['user: a']);
    const { result } = await run(agent, 'b', { session });
    expect(result.text).toBe('done');
    expect(wireTranscript(from.sent(2))).toEqual(['user: a\n\nb']);
    expect(transcript(session.messages)).toEqual(['user: a', 'user: b', 'assistant: done']);
  });
});

describe('B78: a message that comes while a tool runs', () => {
  test.each(['steer', 'queue'] as const)(
    'sent to %s it stands behind the result, for the session and the provider',
    async (mode) => {
      const held = heldTool('held');
      const model = scriptedModel([calls(call('held')), 'one', 'two']);
      const agent = createAgent({ model, tools: [held.tool] });
      const session = await agent.open();
      void session.send('go');
      await held.whenBegun(1);
      const fate = session.send('stop, do X', { mode });
      expect(saved(session).messages).toEqual([{ role: 'user', content: 'go' }]);
      expectWhole(session.messages);
      held.end(0);
      expect(await fate).toEqual({ type: 'delivered' });
      await session.settled();
      const lines = transcript(session.messages);
      expect(lines.slice(0, 3)).toEqual(['user: go', 'assistant: held{}', 'tool: done']);
      expect(lines.indexOf('user: stop, do X')).toBe(mode === 'steer' ? 3 : 4);
      expectWhole(session.messages);
    },
  );

  test('it is not lost where the session is saved and opened before it is read', async () => {
    const gate = toolOf('gate', () => 'open', { needsApproval: true });
    const model = scriptedModel([calls(call('gate')), 'one']);
    const agent = createAgent({ model, tools: [gate] });
    const session = await agent.open();
    void session.send('go');
    await session.settled();
    void session.send('and X');
    const later = reopened(agent, session);
    await later.approve('call_1_0');
    await later.settled();
    expect(transcript(later.messages)).toEqual([
      'user: go',
      'assistant: gate{}',
      'tool: open',
      'user: and X',
      'assistant: one',
    ]);
    expectWhole(later.messages);
  });
});
