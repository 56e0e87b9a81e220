import { expect, test } from 'vitest';
import { createHandler, sessionIdOf } from '../../src/server/index.ts';
import type { PendingCall } from '../../src/tools/call.ts';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { told } from '../streams/told.ts';
import { call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { transcript } from '../support/transcript.ts';
import { allEvents, clientOf, eventsOf, refusal } from './client.ts';

const pay = toolOf('pay', (input) => ({ paid: input }), { needsApproval: true });

const serve = (answers: Parameters<typeof scriptedModel>[0], options: Partial<AgentOptions> = {}) => {
  const model = scriptedModel(answers);
  const agent = createAgent({ model, tools: [pay], ...options });
  const handle = createHandler({
    agent,
    authorize: ({ request }) => {
      const user = request.headers.get('authorization') ?? '';
      return user === '' ? { refuse: 401 } : { owner: user, by: `${user}@example.com`, context: { user } };
    },
  });
  return { agent, model, handle, client: clientOf(handle), other: clientOf(handle, 'ben') };
};

const pendingOf = async (asked: Promise<Response>): Promise<PendingCall[]> =>
  ((await (await asked).json()) as { pending: PendingCall[] }).pending;

test('a message is answered by the events of its turn, and the session can be read', async () => {
  const { client } = serve(['Hello there.', 'And again.']);
  const response = await client.post('/sessions/s/messages', { message: 'hi' });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(told(await allEvents(response))).toEqual([
    'step-start 1',
    'text: Hello there.',
    'step-finish 1',
    'finish 1 answered',
  ]);
  const parts = [
    { type: 'text', text: 'and?' },
    { type: 'file', data: 'aGk=', mediaType: 'text/plain' },
  ];
  await allEvents(await client.post('/sessions/s/messages', { message: parts }));
  const session = await (await client.get('/sessions/s')).json();
  expect(session).toMatchObject({ id: 's', status: 'settled', turn: 2, pending: [] });
  expect(transcript(session.messages)).toEqual([
    'user: hi',
    'assistant: Hello there.',
    'user: and? | [text/plain]',
    'assistant: And again.',
  ]);
});

test('R27, R29: an approval is listed, bound to what was shown, edited, and its turn can be joined', async () => {
  const { client, agent } = serve([calls(call('pay', { sum: 5 })), 'Paid.']);
  const events = await allEvents(await client.post('/sessions/s/messages', { message: 'pay' }));
  expect(events.at(-1)).toMatchObject({ type: 'finish', result: { outcome: { type: 'pending' }, sessionId: 's' } });
  const [waiting] = await pendingOf(client.get('/sessions/s/approvals'));
  const { callId, inputHash } = waiting as PendingCall;
  const path = `/sessions/s/approvals/${callId}`;
  const decision = { decision: 'approve', inputHash, input: { sum: 4 } };
  expect(await refusal(client.post(path, { decision: 'approve' }))).toEqual([400, 'invalid-body']);
  expect(await refusal(client.post(path, { ...decision, by: 'boss' }))).toEqual([400, 'invalid-body']);
  expect(await refusal(client.post(path, { ...decision, inputHash: 'other' }))).toEqual([409, 'call-changed']);
  expect(await refusal(client.post(path, { ...decision, input: 'text' }))).toEqual([400, 'invalid-input']);
  expect(await refusal(client.post('/sessions/s/approvals/call_9_9', decision))).toEqual([404, 'unknown-call']);
  expect(await pendingOf(client.post(path, decision))).toEqual([]);
  const joined = await allEvents(await client.get('/sessions/s/events'));
  expect(joined[0]).toMatchObject({ type: 'joined', turn: 1 });
  expect(joined).toContainEqual(
    expect.objectContaining({ type: 'tool-result', callId, result: expect.objectContaining({ edited: { sum: 4 } }) }),
  );
  expect(told(joined).at(-1)).toBe('finish 1 answered');
  expect(await refusal(client.post(path, { decision: 'reject', inputHash }))).toEqual([409, 'decision-conflict']);
  const session = await agent.open(sessionIdOf('ann', 's'));
  expect(session.actor.getSnapshot().context.decisions).toMatchObject([
    { callId, by: 'ann@example.com', edited: true },
  ]);
});

test('a call is rejected with a reason, and another is answered in the place of its tool', async () => {
  const ask = outsideTool('ask');
  const { client } = serve([calls(call('pay'), call('ask')), 'Then not.'], {
    tools: [pay, ask],
    approvals: { hold: 'gated' },
  });
  await allEvents(await client.post('/sessions/s/messages', { message: 'go' }));
  const [first, second] = await pendingOf(client.get('/sessions/s/approvals'));
  await client.post('/sessions/s/approvals/call_1_0', {
    decision: 'reject',
    inputHash: first?.inputHash,
    reason: 'too much',
  });
  await client.post('/sessions/s/approvals/call_1_1', {
    decision: 'respond',
    inputHash: second?.inputHash,
    output: { yes: 1 },
  });
  await allEvents(await client.get('/sessions/s/events'));
  const { messages } = await (await client.get('/sessions/s')).json();
  expect(transcript(messages)).toEqual([
    'user: go',
    'assistant: pay{} | ask{}',
    'tool: Tool call invocation rejected. too much | {"yes":1}',
    'assistant: Then not.',
  ]);
});

test('one user does not reach the session of another, whatever ids they choose', async () => {
  const { client, other, handle } = serve([calls(call('pay')), 'Hello Ben.', 'Hello.']);
  await allEvents(await client.post('/sessions/s/messages', { message: 'secret' }));
  const [waiting] = await pendingOf(client.get('/sessions/s/approvals'));
  const path = '/sessions/s/approvals/call_1_0';
  const decision = { decision: 'approve', inputHash: waiting?.inputHash };
  expect(await refusal(other.get('/sessions/s'))).toEqual([404, 'unknown-session']);
  expect(await refusal(other.get('/sessions/s/events'))).toEqual([404, 'unknown-session']);
  expect(await refusal(other.post(path, decision))).toEqual([404, 'unknown-session']);
  for (const id of ['ann/s', '../ann/s', 'ann%2Fs', '%2E%2E%2Fann%2Fs']) {
    expect(await refusal(other.get(`/sessions/${encodeURIComponent(id)}`))).toEqual([404, 'unknown-session']);
  }
  expect(told(await allEvents(await other.post('/sessions/s/messages', { message: 'hi' })))).toContain(
    'text: Hello Ben.',
  );
  expect((await (await client.get('/sessions/s')).json()).pending).toHaveLength(1);
  expect(sessionIdOf('a', 'b/c')).not.toBe(sessionIdOf('a/b', 'c'));
  expect(sessionIdOf('a%2Fb', 'c')).not.toBe(sessionIdOf('a/b', 'c'));
  const long = clientOf(handle, 'x'.repeat(900));
  expect(await refusal(long.get(`/sessions/${'y'.repeat(100)}`))).toEqual([400, 'invalid-session-id']);
});

test('a client that goes away stops nothing, and joins again in the midst of a reply', async () => {
  const held = heldTool('held');
  const more = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const reply = { message: { role: 'assistant' as const, content: 'one two' }, finishReason: 'stop' as const };
  const script = scriptedModel([calls(call('held'))]);
  const model: typeof script = {
    ...script,
    stream: async function* (request, options) {
      if (script.requests.length === 0) {
        yield* script.stream(request, options);
        return;
      }
      yield { type: 'text-delta', text: 'one ' };
      begun.resolve();
      await more.promise;
      yield { type: 'text-delta', text: 'two' };
      yield { type: 'finish', reply };
    },
  };
  const { client } = serve([], { model, tools: [held.tool] });
  for await (const event of eventsOf(await client.post('/sessions/s/messages', { message: 'go' }))) {
    if (event.type === 'tool-call') break;
  }
  await held.whenBegun(1);
  expect((await (await client.get('/sessions/s')).json()).status).toBe('busy');
  held.end(0);
  await begun.promise;
  const seen: AgentEvent[] = [];
  for await (const event of eventsOf(await client.get('/sessions/s/events'))) {
    seen.push(event);
    if (event.type === 'text-delta') more.resolve();
  }
  expect(seen.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))).toEqual(['one ', 'two']);
  expect(told(seen).at(-1)).toBe('finish 1 answered');
});

test('a turn is stopped, and the session takes the next message', async () => {
  const held = heldTool('held');
  const { client } = serve([calls(call('held')), 'again'], { tools: [held.tool], stopGrace: 0 });
  const response = await client.post('/sessions/s/messages', { message: 'go' });
  await held.whenBegun(1);
  expect(await (await client.post('/sessions/s/stop', { reason: 'changed my mind' })).json()).toEqual({
    status: 'settled',
    pending: [],
  });
  expect((await allEvents(response)).at(-1)).toMatchObject({
    result: { outcome: { type: 'stopped', reason: 'changed my mind' } },
  });
  expect(told(await allEvents(await client.post('/sessions/s/messages', { message: 'more' })))).toContain(
    'text: again',
  );
});

test('R33, R34: a message beside a turn under way is queued or steers, and one that the agent refuses is 409', async () => {
  const held = heldTool('held');
  const { client, model } = serve([calls(call('held')), 'one', 'two'], { tools: [held.tool] });
  const first = await client.post('/sessions/s/messages', { message: 'go' });
  await held.whenBegun(1);
  const queued = await client.post('/sessions/s/messages', { message: 'later' });
  const steered = await client.post('/sessions/s/messages', { message: 'now', mode: 'steer' });
  held.end(0);
  expect(told(await allEvents(first)).at(-1)).toBe('finish 1 answered');
  expect(told(await allEvents(steered)).at(-1)).toBe('finish 1 answered');
  expect(told(await allEvents(queued)).at(-1)).toBe('finish 2 answered');
  expect(transcript(model.requests[1]?.messages ?? []).at(-1)).toBe('user: now');
  expect(transcript(model.requests[2]?.messages ?? []).at(-1)).toBe('user: later');

  const strict = serve([calls(call('pay'))], { approvals: { onMessage: 'refuse' } });
  await allEvents(await strict.client.post('/sessions/s/messages', { message: 'go' }));
  for (const mode of ['queue', 'steer']) {
    expect(await refusal(strict.client.post('/sessions/s/messages', { message: 'and?', mode }))).toEqual([
      409,
      'session-busy',
    ]);
  }
  const patient = serve([calls(call('pay'))]);
  await allEvents(await patient.client.post('/sessions/s/messages', { message: 'go' }));
  const behind = await patient.client.post('/sessions/s/messages', { message: 'and?' });
  expect(behind.status).toBe(200);
  await allEvents(behind);
});

test('R16: the words of errors do not leave the server, their codes do', async () => {
  const fails = toolOf('fails', () => {
    throw Object.assign(new Error('host db.internal refused'), { code: 'ECONNREFUSED' });
  });
  const { client } = serve([calls(call('fails')), new Error('key sk-123 is wrong')], {
    tools: [fails],
    retry: { attempts: 1 },
  });
  const response = await client.post('/sessions/s/messages', { message: 'go' });
  const text = await response.text();
  expect(text).toContain('"type":"finish"');
  expect(text).toContain('ECONNREFUSED');
  expect(text).toContain('model-error');
  expect(text).not.toContain('db.internal');
  expect(text).not.toContain('sk-123');
  const joined = await (await client.get('/sessions/s/events')).text();
  expect(joined).not.toContain('sk-123');
});

test('tools get what authorize gave', async () => {
  const users: unknown[] = [];
  const who = toolOf('who', (_, { context }) => {
    users.push(context);
    return 'ok';
  });
  const { client, other } = serve([calls(call('who')), 'a', calls(call('who')), 'b'], { tools: [who] });
  await allEvents(await client.post('/sessions/s/messages', { message: 'go' }));
  await allEvents(await other.post('/sessions/s/messages', { message: 'go' }));
  expect(users).toEqual([{ user: 'ann' }, { user: 'ben' }]);
});
