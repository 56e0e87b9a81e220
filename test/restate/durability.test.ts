import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentError, createAgent } from '../../src/index.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { followWorkers, restateSessions, restateWorker } from '../../src/restate/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { type RestateServer, restateMissing, startRestate } from '../support/restate-server.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';
import { serveAgent } from './serve.ts';

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fulfilled',
    (error: AgentError) => error.code,
  );

const post = (server: RestateServer, path: string, body: unknown): Promise<Response> =>
  fetch(`${server.ingress}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe.skipIf(restateMissing !== false)('sessions on Restate over losses', () => {
  let server: RestateServer;
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.close());

  test('R38: of calls that a lost worker ran, those that may be repeated run again and the others have an unknown outcome', async () => {
    const seen: string[] = [];
    const safe = heldTool('Safe', { annotations: { idempotent: true } });
    const other = heldTool('Other');
    const retried = heldTool('Retried', { onInterrupted: 'retry' });
    const model = scriptedModel([calls(call('Safe'), call('Other'), call('Retried'))]);
    const name = 'lossy';
    const lost = await serveAgent(server, { name, model, tools: [safe.tool, other.tool, retried.tool] });
    const session = await lost.open();
    await session.send('Go.');
    await Promise.all([safe, other, retried].map((tool) => tool.whenBegun(1)));
    await lost.worker.close();

    const note = (text: string) => (_: unknown, ctx: { idempotencyKey: string }) => {
      seen.push(`${text} ${ctx.idempotencyKey === safe.begun[0]?.idempotencyKey}`);
      return text;
    };
    const later = scriptedModel(['Over.']);
    const tools = [
      toolOf('Safe', note('safe'), { annotations: { idempotent: true } }),
      toolOf('Other', note('other')),
      toolOf('Retried', note('retried'), { onInterrupted: 'retry' }),
    ];
    await using next = await serveAgent(server, { name, model: later, tools }, { port: lost.port });
    const result = await session.settled();
    expect(result.text).toBe('Over.');
    expect(seen.toSorted()).toEqual(['retried false', 'safe true']);
    expect(JSON.stringify(result.messages)).toContain('whether it took effect is unknown');
    expect(model.requests).toHaveLength(1);
    expect(later.requests).toHaveLength(1);
    expect(next.port).toBe(lost.port);
  });

  test('a call that the server was lost under is told to give up; what it has done is asked of nobody twice', async () => {
    const held = heldTool('Held');
    const model = scriptedModel([calls(call('Held')), 'Over.']);
    await using served = await serveAgent(server, { model, tools: [held.tool] });
    const session = await served.open();
    await session.send('Go.');
    await held.whenBegun(1);
    const told = new Promise((resolve) => held.begun[0]?.signal.addEventListener('abort', resolve));
    await server.restart();
    await told;
    const result = await session.settled();
    expect(result.text).toBe('Over.');
    expect(held.begun).toHaveLength(1);
    held.end(0);
  });

  test('a session waits for a human over a restart of everything, with no invocation open', async () => {
    const gated = toolOf('Gated', () => 'opened', { needsApproval: true });
    const name = 'patient';
    const first = await serveAgent(server, { name, model: scriptedModel([calls(call('Gated'))]), tools: [gated] });
    const session = await first.open();
    await session.send('Open.', { id: 'once' });
    const { pending } = await session.settled();
    const query = await fetch(`${server.admin}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        query: `SELECT target FROM sys_invocation_status WHERE target_service_name LIKE '${name}.%' AND status <> 'completed'`,
      }),
    });
    expect(await query.json()).toEqual({ rows: [] });
    await first.worker.close();
    await server.restart();

    const model = scriptedModel(['It is open.']);
    await using next = await serveAgent(server, { name, model, tools: [gated] }, { port: first.port });
    const again = await next.open(session.id);
    expect(await again.send('Open.', { id: 'once' })).toEqual({ type: 'delivered' });
    await again.approve(pending[0]?.callId ?? '', { id: 'mail', by: 'ann' });
    expect((await again.settled()).text).toBe('It is open.');
    // Whatever comes twice is carried out once.
    await again.approve(pending[0]?.callId ?? '', { id: 'mail', by: 'ann' });
    expect(await again.messages()).toHaveLength(4);
  });

  test('workers take turns with one session: each has what the other one did', async () => {
    const name = 'shared-out';
    const asked: string[] = [];
    const worker = (who: string) => {
      const script = Array.from({ length: 6 }, (_, index) => calls(call('Note', { index, text: 'x'.repeat(3_000) })));
      const model = scriptedModel(script.flatMap((each) => [each, `${who} answers.`]));
      const note = toolOf('Note', () => {
        asked.push(who);
        return 'noted';
      });
      return serveAgent(server, { name, model, tools: [note] });
    };
    await using one = await worker('one');
    await using two = await worker('two');
    const session = await one.open();
    const order = [two, one, one, two, one, two];
    for (const served of order) {
      await server.register(served.uri);
      await session.send('Note it.');
      expect((await session.settled()).text).toBe(`${served === one ? 'one' : 'two'} answers.`);
    }
    expect(asked).toEqual(order.map((served) => (served === one ? 'one' : 'two')));
    const messages = await session.messages();
    expect(messages).toHaveLength(24);
    const local = one.agent.restore(await session.toJSON());
    expect(local.messages).toEqual(messages);
    expect(local.status).toBe('settled');
  });

  test('a version without a tool takes the outcome of a call that still runs on the old one, and whatever a client says', async () => {
    const name = 'rolled-out';
    const held = heldTool('Held');
    const gated = toolOf('Gated', () => 'opened', { needsApproval: true });
    const script = Array.from({ length: 3 }, () => calls(call('Held'), call('Gated')));
    const model = scriptedModel(script);
    await using old = await serveAgent(server, {
      name,
      model,
      tools: [held.tool, gated],
      approvals: { hold: 'gated' },
    });
    const [settling, stopped, cancelled] = await Promise.all([old.open(), old.open(), old.open()]);
    for (const session of [settling, stopped, cancelled]) await session.send('Go.');
    await held.whenBegun(3);
    const callOf = (id: string) => held.begun.findIndex(({ sessionId }) => sessionId === id);

    const later = scriptedModel(Array.from({ length: 2 }, () => 'Over.'));
    await using next = await serveAgent(server, { name, model: later, tools: [] });
    await stopped.stop('enough');
    expect((await stopped.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
    await cancelled.cancel(held.begun[callOf(cancelled.id)]?.callId ?? '');
    held.end(callOf(settling.id), 'the outcome');
    for (const session of [settling, cancelled]) {
      let result = await session.settled();
      for (; result.outcome.type === 'pending'; result = await session.settled())
        for (const { callId } of result.pending)
          await (session === settling ? session.approve(callId) : session.reject(callId));
      expect(result.text).toBe('Over.');
    }
    const text = JSON.stringify(await settling.messages());
    expect(text).toContain('the outcome');
    // It was never begun.
    expect(text).toContain('Gated');
    expect(text).not.toContain('opened');
    expect(text).not.toContain('whether it took effect');
    expect(next.agent.name).toBe(name);
  });

  test('R38: of a call that was cut off, and whose tool a new version has no more, the outcome is unknown', async () => {
    const name = 'cut-off';
    const held = heldTool('Held', { annotations: { idempotent: true } });
    const old = await serveAgent(server, { name, model: scriptedModel([calls(call('Held'))]), tools: [held.tool] });
    const session = await old.open();
    await session.send('Go.');
    await held.whenBegun(1);
    await old.worker.close();
    await using _next = await serveAgent(server, { name, model: scriptedModel(['Over.']) }, { port: old.port });
    expect((await session.settled()).text).toBe('Over.');
    expect(JSON.stringify(await session.messages())).toContain('whether it took effect is unknown');
  });

  test('a session that a version cannot take up says so, and goes on where one is there that can', async () => {
    const name = 'rolled-back';
    const held = heldTool('Held');
    const innerModel = scriptedModel([calls(call('Held')), 'Inner done.']);
    const inner = createAgent({ model: innerModel, tools: [held.tool] });
    const tools = [inner.asTool({ name: 'Inner', description: 'x' })];
    const model = scriptedModel([calls(call('Inner', { prompt: 'go' })), 'All done.']);
    await using old = await serveAgent(server, { name, model, tools });
    const session = await old.open();
    await session.send('Go.');
    await held.whenBegun(1);

    await using next = await serveAgent(server, { name, model: scriptedModel([]) });
    expect(await codeOf(session.stop())).toBe('incompatible-document');
    const waiting = session.settled();
    held.end(0);
    await expect(waiting).rejects.toMatchObject({
      code: 'incompatible-document',
      message: expect.stringContaining(
        `session "${session.id}" stands still until a version of agent "${name}" is served`,
      ),
    });
    expect(await codeOf(session.settled())).toBe('incompatible-document');
    const query = `SELECT status FROM sys_invocation WHERE target_service_name = '${name}.sessions' AND target_handler_name = 'settle' AND status = 'scheduled'`;
    const isKept = async (): Promise<boolean> => {
      const answer = await fetch(`${server.admin}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query }),
      });
      return ((await answer.json()) as { rows: unknown[] }).rows.length > 0;
    };
    while (!(await isKept())) await new Promise((resolve) => setImmediate(resolve));
    expect(await codeOf(session.send('More.'))).toBe('incompatible-document');
    expect(await codeOf(session.stream()[Symbol.asyncIterator]().next())).toBe('incompatible-document');
    expect(await session.status()).toBe('busy');

    await using back = await serveAgent(server, { name, model, tools });
    expect((await session.settled()).text).toBe('All done.');
    expect(innerModel.requests).toHaveLength(2);
    expect([next.agent.name, back.agent.name]).toEqual([name, name]);
  });

  test('a session of one tenant is not there for another, nor for whoever has no key', async () => {
    const model = scriptedModel(['A secret.']);
    await using served = await serveAgent(server, { model, name: 'shared' }, { key: 'ann'.repeat(11) });
    const mine = await served.open('same id');
    await mine.send('Tell me.');
    await mine.settled();
    const { ingress } = server;
    for (const key of ['bob'.repeat(11), undefined]) {
      const sessions = restateSessions({ ingress, agent: 'shared', ...(key === undefined ? {} : { key }) });
      const other = await sessions.open('same id');
      expect(await other.status()).toBe('idle');
      expect(await other.messages()).toEqual([]);
      expect(await codeOf(other.toJSON())).toBe('unknown-session');
      // A worker that is Ann's alone serves nobody else.
      expect(await codeOf(other.send('Tell me.'))).toBe('invalid-option');
    }
    expect(await mine.messages()).toHaveLength(2);
  });

  test('what only the services say to each other cannot be called through the ingress', async () => {
    await using served = await serveAgent(server, { model: scriptedModel(['Hello.']), name: 'closed' });
    const session = await served.open('s');
    await session.send('Hello?');
    await session.settled();
    const key = encodeURIComponent('s:s');
    for (const path of [`closed.sessions/${key}/settle`, `closed.sessions/${key}/await`, 'closed.effects/run']) {
      expect((await post(server, path, {})).status).toBeGreaterThanOrEqual(400);
    }
    const forged: unknown[] = [
      { sessionId: 'other', id: 'x', command: { type: 'stop' } },
      { sessionId: 's', id: 'x', command: { type: 'reset' } },
      { sessionId: 's', id: 'x', command: { type: 'decide', decision: 'toString', callId: 'c' } },
      { sessionId: 's', id: 'x', command: { type: 'send', mode: 'now', messages: [] } },
      { sessionId: 's', id: 'x'.repeat(1_001), command: { type: 'stop' } },
      null,
      'stop',
    ];
    for (const told of forged) {
      const answer = await post(server, `closed.sessions/${key}/command`, told);
      expect(await answer.json()).toMatchObject({ error: { code: 'invalid-option' } });
    }
    const empty = { sessionId: 's', id: 'x', command: { type: 'send', mode: 'queue', messages: null } };
    expect(await (await post(server, `closed.sessions/${key}/command`, empty)).json()).toMatchObject({
      error: { code: 'invalid-message' },
    });
    expect(await session.messages()).toHaveLength(2);
  });

  test('a tool may take a day, or as long as it says, before the engine thinks that nothing goes on', async () => {
    const week = toolOf('Week', () => 'over', { timeout: 7 * 86_400_000 });
    for (const [name, tools, timeout] of [
      ['slow', [], '1d'],
      ['slower', [week], '8d'],
    ] as const) {
      await using served = await serveAgent(server, { model: scriptedModel([]), name, tools });
      const answer = await fetch(`${server.admin}/services/${served.agent.name}.effects`);
      expect(await answer.json()).toMatchObject({ inactivity_timeout: timeout, abort_timeout: timeout });
    }
  });

  test('an agent with middleware around its turns, or with a name that no service can have, is refused', () => {
    const model = scriptedModel([]);
    const around = createAgent({ model, agentMiddleware: [(next) => next] });
    expect(() => restateWorker({ agents: around })).toThrow(/agentMiddleware/);
    expect(() => restateWorker({ agents: createAgent({ model, name: 'of Ann' }) })).toThrow(/name of 1 to 100/);
    expect(() => restateWorker({ agents: {} as never })).toThrow(/createAgent/);
    const alone = createAgent({ model });
    for (const agents of [[], [alone, alone], [alone, createAgent({ model })]])
      expect(() => restateWorker({ agents })).toThrow(/each with a name of its own/);
    for (const options of [undefined, { agents: alone, recorder: {} }, { agents: alone, identityKeys: ['a'] }])
      expect(() => restateWorker(options as never)).toThrow(/^restateWorker: option/);
    // Written wrong, it would part no tenants.
    expect(() => restateWorker({ agents: alone, keys: 'a'.repeat(32) } as never)).toThrow(/no option "keys"/);
    for (const ingress of ['nowhere', 'localhost:8080', new URL('http://127.0.0.1:1'), undefined])
      expect(() => restateSessions({ ingress } as never)).toThrow(/option "ingress" must be an address/);
    for (const live of ['http://127.0.0.1:1', ['nowhere'], [1]]) {
      const refusal = /option "live" must be an array of addresses/;
      expect(() => restateSessions({ ingress: 'http://127.0.0.1:1', live } as never)).toThrow(refusal);
      expect(() => followWorkers({ live, recorder: createRecorder() } as never)).toThrow(refusal);
    }
    for (const key of ['', 'a', 'a'.repeat(31)]) {
      const refusal = /at least 32 random characters/;
      expect(() => restateWorker({ agents: createAgent({ model }), key })).toThrow(refusal);
      expect(() => restateSessions({ ingress: 'http://127.0.0.1:1', key })).toThrow(refusal);
    }
  });
});
