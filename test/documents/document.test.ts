import { describe, expect, test } from 'vitest';
import { waitFor } from 'xstate';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { SessionDocument } from '../../src/documents/document.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { importSession } from '../../src/sessions/transfer.ts';
import { memoryStore } from '../../src/stores/memory-store.ts';
import { isPlainObject } from '../../src/messages/json.ts';
import { deepFreeze } from '../messages/arbitrary-history.ts';
import { oneRound } from '../support/raw.ts';
import { expectWhole } from '../support/run.ts';
import { rejection } from '../support/sessions.ts';
import { F1, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results } from '../support/transcript.ts';

const gated = toolOf('gated', () => 'gated ran', { needsApproval: true });
const agentOf = () => createAgent({ model: oneRound(calls(call('F1'), call('gated'))), tools: [F1, gated] });

/** A document of a session that waits for an approval. */
const waiting = async (): Promise<SessionDocument> => {
  const agent = agentOf();
  return (await agent.open((await agent.run('hello')).sessionId)).toJSON();
};

describe('a document', () => {
  test('M10: three trips through JSON text and a restore leave it as it is', async () => {
    const first = await waiting();
    let text = JSON.stringify(first);
    for (let times = 0; times < 3; times += 1) {
      const session = agentOf().restore(text);
      expect(session.toJSON()).toEqual(first);
      text = JSON.stringify(session.toJSON());
    }
    const session = agentOf().restore(text);
    await session.approve('call_1_1');
    expect(results((await session.settled()).messages)).toEqual(['Result 1', 'gated ran']);
    expectWhole(session.messages);
  });

  test('it is plain JSON, and not changed by what the session does later', async () => {
    const agent = agentOf();
    const session = await agent.open((await agent.run('hello')).sessionId);
    const document = session.toJSON();
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    const text = JSON.stringify(document);
    await session.approve('call_1_1');
    await session.settled();
    expect(JSON.stringify(document)).toBe(text);
  });

  test('R2: a restore leaves what it is given as it is, and two sessions of it do not touch each other', async () => {
    const document = deepFreeze(await waiting());
    const text = JSON.stringify(document);
    const first = agentOf().restore(document);
    const second = agentOf().restore(document);
    await first.approve('call_1_1');
    await first.settled();
    expect(JSON.stringify(document)).toBe(text);
    await second.reject('call_1_1');
    expect(results((await second.settled()).messages)[1]).toContain('rejected');
    expect(results(first.messages)[1]).toBe('gated ran');
  });

  test('of a busy session: the model is asked again, the finished call is not repeated', async () => {
    const held = heldTool('held', { annotations: { readOnly: true } });
    let runs = 0;
    const agent = createAgent({
      model: oneRound(calls(call('counted'), call('held'))),
      tools: [held.tool, toolOf('counted', () => (runs += 1))],
    });
    const session = await agent.open();
    void session.send('hello').catch(() => undefined);
    await held.whenBegun(1);
    await waitFor(session.actor, ({ context }) => context.round?.calls[0]?.phase === 'settled');
    const restored = agent.restore(session.toJSON());
    await held.whenBegun(2);
    held.end(1, 'ran');
    await restored.settled();
    expect(runs).toBe(1);
    expect(results(restored.messages)).toEqual(['1', 'ran']);
    await session[Symbol.asyncDispose]();
  });

  test('of a failed turn it can be retried', async () => {
    const model = scriptedModel([new Error('Oh no!'), 'world']);
    const agent = createAgent({ model });
    const session = await agent.open('x');
    await expect(agent.run('hello', { session })).rejects.toMatchObject({ code: 'model-error' });
    const restored = agent.restore(session.toJSON());
    await expect(restored.settled()).rejects.toMatchObject({ name: 'TurnError', code: 'model-error' });
    await restored.retry();
    expect((await restored.settled()).text).toBe('world');
  });
});

describe('a document that is not right', () => {
  const refused = (given: unknown, code: string, says: string | RegExp): void => {
    const before = typeof given === 'string' ? given : undefined;
    // @ts-expect-error: anything may come from outside.
    expect(() => agentOf().restore(given)).toThrow(
      expect.objectContaining({ name: 'AgentError', code, message: expect.stringMatching(says) }),
    );
    if (before !== undefined) expect(given).toBe(before);
  };
  /** The document with another value at a path; undefined takes the key away. */
  const changed = async (path: string, value?: unknown): Promise<unknown> => {
    const copy: unknown = structuredClone(await waiting());
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    const holder = keys.reduce((at, key) => (isPlainObject(at) ? at[key] : undefined), copy);
    if (!isPlainObject(holder)) throw new Error(`the document has no ${path}`);
    if (value === undefined) delete holder[last];
    else holder[last] = value;
    return deepFreeze(copy);
  };

  test('cut in half, at any place', async () => {
    const text = JSON.stringify(await waiting());
    for (let at = 0; at < text.length; at += 7)
      refused(text.slice(0, at), 'invalid-document', 'no whole session document');
  });

  test.each([undefined, null, 3, true, [], 'hello', '"text"', {}, () => 1])('%j', (given) => {
    refused(given, 'invalid-document', 'give what session.toJSON\\(\\) gave');
  });

  test.each([
    [undefined, 'it is undefined'],
    [null, 'it is null'],
    ['', 'it is an empty text'],
  ])('%j is told as what it is', (given, says) => {
    refused(given, 'invalid-document', says);
  });

  test('with a cycle, or a bigint', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    refused(circular, 'invalid-document', 'no whole session document');
    refused({ n: 1n }, 'invalid-document', 'no whole session document');
  });

  test('with more levels than any code could walk, wherever they are', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const text = JSON.stringify(await waiting());
    for (const place of ['{"format"', '"context":{', '"turn":{', '"input":{', '"calls":{']) {
      const given = place === '{"format"' ? `{"a":${deep},"format"` : `${place}"a":${deep},`;
      const document = text.replace(place, given).replaceAll(',}', '}');
      refused(document, 'invalid-document', 'no whole session document');
      expect(await rejection(importSession(memoryStore(), document))).toMatchObject({ code: 'invalid-document' });
    }
    refused({ a: JSON.parse(deep) }, 'invalid-document', 'no whole session document');
  });

  test('of a time of making that is no time', async () => {
    for (const time of [1.79e18, -(2 ** 60)])
      refused(await changed('createdAt', time), 'invalid-document', '"createdAt" is no time in ms since 1970');
  });

  test('of another format, or of a newer version', async () => {
    refused(await changed('format', 'other'), 'invalid-document', '"format" is not "agentchart/session"');
    refused(await changed('machineVersion', 999), 'newer-document', 'update agentchart here');
    for (const version of [0, -1, 1.5, '1', null]) {
      refused(await changed('machineVersion', version), 'invalid-document', '"machineVersion" is not an integer');
    }
  });

  test('with keys that set a prototype, at any depth', async () => {
    const text = JSON.stringify(await waiting());
    for (const place of ['"context":{', '"turn":{', '{"format"', '"input":{', '"calls":{', '"state":{']) {
      const evil = place === '{"format"' ? '{"__proto__":{"a":1},"format"' : `${place}"__proto__":{"a":1},`;
      const given = text.replace(place, evil).replaceAll(',}', '}');
      refused(given, 'unsafe-document', '__proto__');
      refused(JSON.parse(given), 'unsafe-document', '__proto__');
    }
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  test.each([
    ['a state that does not exist', 'nowhere', 'nowhere'],
    ['an inner state that does not exist', { thinking: 'dreaming' }, 'thinking.dreaming'],
    ['a state by the name of a method', 'constructor', 'constructor'],
  ])('with %s', async (_, value, says) => {
    refused(await changed('state.state', value), 'incompatible-document', says);
  });

  test.each([[3], [null], [[]], [{}], [{ thinking: 3 }], [{ thinking: {} }]])('with the state %j', async (value) => {
    refused(await changed('state.state', value), 'invalid-document', '"state.state" is not a state');
  });

  test.each([
    ['that does not exist', 'nowhere', 'incompatible-document', 'nowhere'],
    ['inside that does not exist', { running: 'away' }, 'incompatible-document', 'running.away'],
    ['of no name', 3, 'invalid-document', 'state.calls.call_1_1.state'],
    ['that is missing', undefined, 'invalid-document', 'state.calls.call_1_1.state'],
    ['that is not whole', 'running', 'invalid-document', 'state.calls.call_1_1.state'],
  ])('with a call in a state %s', async (_, value, code, says) => {
    refused(await changed('state.calls.call_1_1.state', value), code, says);
  });

  test('with an open call that is missing, and one that is no call of its round', async () => {
    refused(await changed('state.calls.call_1_1'), 'invalid-document', 'call_1_1');
    refused(await changed('state.calls'), 'invalid-document', 'state.calls.call_1_0 is missing');
    refused(await changed('state.calls.call_9_9', { state: 'queued' }), 'invalid-document', 'call_9_9');
  });

  test.each([
    ['inbox', {}],
    ['inbox', [null]],
    ['turn', 'first'],
    ['turn', {}],
    ['round', 3],
    ['round', {}],
    ['round', { reply: { role: 'assistant', content: [] }, calls: [null] }],
    ['lastRound', null],
    ['rounds', 'many'],
    ['usage', 3],
    ['modelCalls', null],
    ['decisions', 'none'],
  ])('with the context %s = %j', async (key, value) => {
    refused(await changed(`state.context.${key}`, value), 'invalid-document', `state\\.context\\.${key}`);
  });

  test.each([
    ['sessionId', 3],
    ['sessionId', undefined],
    ['messages', undefined],
    ['messages', 'none'],
    ['messages', [3]],
    ['messages', [{ role: 'robot', content: 'hi' }]],
    [
      'messages',
      [
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: 'x', toolName: 'F1', output: { type: 'text', value: '' } }],
        },
      ],
    ],
  ])('with the %s %j', async (key, value) => {
    refused(await changed(key, value), 'invalid-document', `"${key}"|document: messages`);
  });

  test.each(['inbox', 'turn', 'round', 'lastRound', 'rounds', 'usage', 'modelCalls', 'decisions'])(
    'without the context %s',
    async (key) => {
      refused(await changed(`state.context.${key}`), 'invalid-document', `state\\.context\\.${key}`);
    },
  );

  test('without a context or a state', async () => {
    for (const value of [undefined, null, 3, 'x', []]) {
      refused(await changed('state.context', value), 'invalid-document', 'state\\.context');
      refused(await changed('state', value), 'invalid-document', '"state"');
    }
  });
});
