import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AgentError } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { type RestateServer, restateMissing, startRestate } from '../support/restate-server.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { serveAgent } from './serve.ts';

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fulfilled',
    (error: AgentError) => error.code,
  );

const gated = toolOf('Gated', () => 'opened', { needsApproval: true });

afterEach(() => {
  vi.useRealTimers();
});

describe.skipIf(restateMissing !== false)('clients of sessions on Restate', () => {
  let server: RestateServer;
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.close());

  const post = (path: string, body: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${server.ingress}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: signal ?? null,
    });

  test('R36: a stop waits for the turn that it stopped, and for no other', async () => {
    const model = scriptedModel(Array.from({ length: 3 }, () => calls(call('Gated'))));
    await using served = await serveAgent(server, { model, tools: [gated], name: 'stopped' });
    const session = await served.open('s');
    await session.stop('early', { id: 'none' });
    await session.send('Open.');
    await session.settled();
    // Somebody else is faster than the client that asked for the stop.
    const told = { sessionId: 's', id: 'stop', command: { type: 'stop', reason: 'enough' } };
    const answer = await post('stopped.sessions/s%3As/command', JSON.stringify(told));
    expect(await answer.json()).toEqual({ end: 1 });
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    await session.send('Once more.');
    expect((await session.settled()).pending).toHaveLength(1);
    // Sent again they stop nothing, and wait for nothing.
    await session.stop('enough', { id: 'stop' });
    await session.stop('early', { id: 'none' });
    expect(await session.pending()).toHaveLength(1);
    expect(await session.status()).toBe('waiting');
    await session.stop('now');
    expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'now' });
  });

  test('an id that was given to a command is refused for another one', async () => {
    const model = scriptedModel([calls(call('Gated')), 'Open.']);
    await using served = await serveAgent(server, { model, tools: [gated] });
    const session = await served.open();
    await session.send('Open.', { id: 'mail' });
    const { pending } = await session.settled();
    const callId = pending[0]?.callId ?? '';
    await session.approve(callId, { id: 'decision', by: 'ann' });
    expect((await session.settled()).text).toBe('Open.');
    expect(await codeOf(session.send('Open!', { id: 'mail' }))).toBe('invalid-option');
    expect(await codeOf(session.send('Open.', { id: 'mail', mode: 'steer' }))).toBe('invalid-option');
    expect(await codeOf(session.send('Open.', { id: 'decision' }))).toBe('invalid-option');
    expect(await codeOf(session.approve(callId, { id: 'decision', by: 'bob' }))).toBe('invalid-option');
    expect(await session.send('Open.', { id: 'mail' })).toEqual({ type: 'delivered' });
    await session.approve(callId, { by: 'ann', id: 'decision' });
    expect(await session.messages()).toHaveLength(4);
  });

  test('who has waited too long is forgotten when the next one waits', async () => {
    await using served = await serveAgent(server, { model: scriptedModel(['Hello.']), name: 'waited-for' });
    const session = await served.open('s');
    const waiters = async (key: string, of: (value: unknown) => unknown): Promise<unknown> => {
      const query = `SELECT value_utf8 FROM state WHERE service_name = 'waited-for.sessions' AND key = '${key}'`;
      const answer = await fetch(`${server.admin}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query }),
      });
      const { rows } = (await answer.json()) as { rows: { value_utf8: string }[] };
      return rows.length === 0 ? [] : of(JSON.parse(rows[0]?.value_utf8 ?? ''));
    };
    const left = new AbortController();
    const ask = (): void =>
      void post('waited-for.sessions/s%3As/wait', '{"for":"news","revision":999}', left.signal).catch(() => undefined);
    const expectWaiters = async (key: string, of: (value: unknown) => unknown): Promise<void> => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const seen = new Set<string>();
      for (let round = 0; round < 3; round += 1) {
        ask();
        let found: unknown = [];
        do found = await waiters(key, of);
        while ((found as unknown[]).length === 0 || seen.has(JSON.stringify(found)));
        expect(found).toHaveLength(1);
        seen.add(JSON.stringify(found));
        vi.setSystemTime(Date.now() + 200_000);
      }
      vi.useRealTimers();
    };
    await expectWaiters('waiters', (value) => value);
    await session.send('Hello?');
    await session.settled();
    await expectWaiters('head', (value) => (value as { waiters: unknown }).waiters);
    left.abort();
  });

  test('a message that would be too much for the engine to carry on is refused, and the session goes on without it', async () => {
    await using served = await serveAgent(server, { model: scriptedModel(['One.', 'Two.']) });
    const session = await served.open();
    await session.send('Hello.');
    await session.settled();
    // Four bytes each where it is carried, as JSON inside JSON.
    const text = '"'.repeat(6_500_000);
    await expect(session.send(text, { id: 'large' })).rejects.toMatchObject({
      code: 'engine-error',
      message: expect.stringContaining('give large data by reference'),
    });
    await session.send('Shorter.', { id: 'large' });
    expect((await session.settled()).text).toBe('Two.');
    expect(JSON.stringify(await session.messages()).length).toBeLessThan(1_000);
  });

  test('what is no wait, and no part of a session, is refused at once', async () => {
    await using _served = await serveAgent(server, { model: scriptedModel([]), name: 'asked' });
    const bodies: Record<string, string[]> = {
      wait: ['null', '{}', '5', '{"for":"news"}', '{"for":"end","end":-1}', '{"for":"fate","id":7}', '{"for":"check"}'],
      read: ['null', '{}', '{"revision":"x","messages":0}', '{"revision":-5,"messages":-5}'],
    };
    for (const [handler, all] of Object.entries(bodies))
      for (const body of all)
        expect([body, (await post(`asked.sessions/s%3As/${handler}`, body)).status]).toEqual([body, 400]);
  });
});
