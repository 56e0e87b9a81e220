import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { F1, call, calls, toolOf } from '../support/tools.ts';

/** What the types forbid and a program in JavaScript, or a request from elsewhere, gives all the same. */
const wrong = (value: unknown): never => value as never;

const waiting = async (options: Partial<AgentOptions> = {}) => {
  const ran: unknown[] = [];
  const pay = toolOf('pay', (input) => ran.push(input), { needsApproval: true });
  const model = scriptedModel([calls(call('pay', { n: 1 })), 'world', 'more']);
  const agent = createAgent({ model, tools: [pay], ...options });
  const session = await agent.open('s');
  await session.send('hi');
  await session.settled();
  return { agent, session, ran };
};

const refusal = (message: RegExp, code = 'invalid-option') =>
  expect.objectContaining({ name: 'AgentError', code, message: expect.stringMatching(message) });

test.each([
  [{ at: '1' }, /^fork: option "at" must be a number, got "1"$/],
  [{ at: null }, /^fork: option "at" must be a number, got null$/],
  [{ revision: 1 }, /^fork: there is no option "revision"; known here: at, id$/],
  [{ id: '' }, /^fork: option "id" must be a string of 1 to 1,000 characters/],
  [null, /^fork: options must be an object, got null$/],
  [5, /^fork: options must be an object, got 5$/],
])('a fork by %j is refused, of a session that lives and of one of the past', async (given, message) => {
  const agent = createAgent({ model: scriptedModel(['world']) });
  await agent.run('hi', { session: 's' });
  for (const session of [await agent.open('s'), await agent.open('s', { at: 1 })])
    await expect(session.fork(wrong(given))).rejects.toEqual(refusal(message));
});

test.each(['a\0b', '\ud800'])('an agent named %j is refused: no database would keep it', (name) => {
  expect(() => createAgent({ name, model: scriptedModel([]) })).toThrow(
    refusal(/option "name" must be a string without NUL and without half a surrogate pair/),
  );
});

describe('a decision is made of known fields', () => {
  type Decide = (session: Session) => Promise<unknown>;
  const id = 'call_1_0';
  test.each<[string, Decide, RegExp]>([
    [
      'type',
      (s) => s.reject(id, wrong({ type: 'approval.granted' })),
      /^reject: there is no option "type"; known here: /,
    ],
    ['callId', (s) => s.approve('nope', wrong({ callId: id })), /^approve: there is no option "callId"/],
    ['output', (s) => s.respond(id, 1, wrong({ output: 2 })), /^respond: there is no option "output"/],
    ['reason 42', (s) => s.reject(id, wrong({ reason: 42 })), /^reject: option "reason" must be a string, got 42$/],
    ['reason of an answer', (s) => s.approve(id, wrong({ reason: 'x' })), /^approve: there is no option "reason"/],
    ['by 5n', (s) => s.approve(id, wrong({ by: 5n })), /^approve: option "by" must be a string, got 5$/],
    ['hash null', (s) => s.approve(id, wrong({ inputHash: null })), /"inputHash" must be a string, got null/],
    ['remember', (s) => s.approve(id, wrong({ remember: 'all' })), /"remember" must be "tool" or "input", got "all"/],
    ['options null', (s) => s.approve(id, wrong(null)), /^approve: options must be an object, got null$/],
    ['no call', (s) => s.approve(wrong(undefined)), /^approve: the call id must be a string, got undefined$/],
    ['cancel', (s) => s.cancel(wrong({})), /^cancel: the call id must be a string, got {}$/],
    ['stop', (s) => s.stop(wrong(() => 1)), /^stop: the reason must be a string/],
  ])('%s is refused and changes nothing', async (_, decide, message) => {
    const { agent, session, ran } = await waiting();
    const before = JSON.stringify(session);
    const code = message.source.includes('call id') ? 'unknown-call' : 'invalid-option';
    await expect(decide(session)).rejects.toEqual(refusal(message, code));
    expect(JSON.stringify(session)).toBe(before);
    await session.approve(id);
    expect((await session.settled()).text).toBe('world');
    expect(ran).toEqual([{ n: 1 }]);
    await agent.close();
  });

  test.each(['no', 1, {}, undefined])('authorize that answers %j allows nothing', async (answer) => {
    const { session, ran } = await waiting({ approvals: { authorize: () => wrong(answer) } });
    await expect(session.approve(id)).rejects.toEqual(refusal(/may not decide/, 'not-authorized'));
    expect([session.status, ran]).toEqual(['waiting', []]);
  });
});

describe('calls of agents and sessions', () => {
  const agent = createAgent({ model: scriptedModel([]), tools: [F1] });
  test.each<[string, () => unknown, RegExp]>([
    ['open options', () => agent.open('z', wrong(null)), /^open: options must be an object, got null$/],
    [
      'open unknown',
      () => agent.open('z', wrong({ contxt: 1 })),
      /^open: there is no option "contxt"; known here: context/,
    ],
    [
      'open 42',
      () => agent.open(wrong(42)),
      /^open: the session id must be a string of 1 to 1,000 characters, without NUL .*, got 42$/,
    ],
    ['open {}', () => agent.open(wrong({})), /^open: the session id must be a string/],
    ['open empty', () => agent.open(''), /^open: the session id must be a string of 1 to 1,000 characters.*, got ""$/],
    ['open long', () => agent.open('x'.repeat(1001)), /^open: the session id .{1,300}$/],
    ['open NUL', () => agent.open('a\0b'), /^open: the session id must be .* without NUL/],
    ['open half a pair', () => agent.open('a\ud83d'), /^open: .* without half a surrogate pair/],
    ['run in empty', () => agent.run('x', { session: '' }), /^run: option "session" must be a string of 1/],
    ['restore', () => agent.restore('{}', wrong(null)), /^restore: options must be an object, got null$/],
    ['asTool', () => agent.asTool(wrong(undefined)), /^asTool: options must be an object, got undefined$/],
    [
      'asTool message',
      () => agent.asTool({ name: 'a', message: wrong('x') }),
      /^asTool: option "message" must be a function/,
    ],
    ['asTool timeout', () => agent.asTool(wrong({ name: 'a', timeout: 50 })), /^asTool: there is no option "timeout"/],
    ['run', () => agent.run('x', wrong(null)), /^run: options must be an object, got null$/],
    ['run choice', () => agent.run('x', { toolChoice: { tool: 'zzz' } }), /names "zzz", .*its tools: F1$/],
    ['run settings', () => agent.run('x', { settings: wrong({ topP: '1' }) }), /"settings.topP" must be a number/],
    ['run limits', () => agent.run('x', { limits: { deadline: Infinity } }), /"limits.deadline" must be a number > 0/],
    ['stream', () => agent.stream('x', wrong(null)).result, /^run: options must be an object, got null$/],
    ['send', async () => (await agent.open()).send('x', wrong(null)), /^send: options must be an object, got null$/],
    [
      'mode',
      async () => (await agent.open()).send('x', { mode: wrong('now') }),
      /"mode" must be "queue" or "steer", got "now"/,
    ],
  ])('%s is refused with what was given and what is allowed', async (_, give, message) => {
    await expect((async () => give())()).rejects.toEqual(refusal(message));
  });

  test.each(['../../x', '🎉', 'a\\0b', '__proto__', 'x'.repeat(1000)])('the id %j is data', async (id) => {
    const own = createAgent({ model: scriptedModel(['one', 'two']) });
    await own.run('hi', { session: id });
    await using session = await own.open(id);
    expect(session.id).toBe(id);
    expect(session.messages).toHaveLength(2);
  });

  test.each([42, undefined, null])('instructions that give %j fail the turn with the reason', async (given) => {
    const own = createAgent({ model: scriptedModel([]), instructions: () => wrong(given) });
    await expect(own.run('hi')).rejects.toMatchObject({
      code: 'context-provider-error',
      message: `option "instructions" must give a string, gave ${given}`,
    });
  });

  test.each([
    () => '',
    () => wrong(5),
    () => {
      throw new Error('no');
    },
  ])('an agent that is asked nothing fails its call, not the session', async (message) => {
    const inner = createAgent({ model: scriptedModel([]) }).asTool({ name: 'inner', message });
    const outer = createAgent({
      model: scriptedModel([calls(call('inner', { prompt: 'x' })), 'world']),
      tools: [inner],
    });
    const result = await outer.run('hi');
    expect(result.text).toBe('world');
    expect(JSON.stringify(result.messages)).toContain('the agent could not be asked');
  });
});

describe('what nobody awaits', () => {
  test('a message that is refused by a closed session ends no process', async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', listen);
    const { agent, session } = await waiting();
    await agent.close();
    void session.send('late');
    void session.send(wrong(null));
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
    await expect(session.send('late')).rejects.toEqual(refusal(/is closed/, 'session-closed'));
  });

  test('a reader that leaves before it reads stops its turn', async () => {
    const model = scriptedModel([() => new Promise(() => undefined)]);
    const stream = createAgent({ model }).stream('hi');
    expect(await stream[Symbol.asyncIterator]().return?.()).toEqual({ done: true, value: undefined });
    expect((await stream.result).outcome).toEqual({ type: 'stopped', reason: 'the reader left' });
  });
});
