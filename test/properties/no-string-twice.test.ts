import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ChatModel, ModelReply, ModelRequest } from '../../src/models/chat-model.ts';
import { ModelError } from '../../src/models/model-error.ts';
import type { JsonValue } from '../../src/messages/json.ts';
import type { Agent } from '../../src/sessions/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { type Tool, tool } from '../../src/tools/tool.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { call, calls, outsideTool, toolOf } from '../support/tools.ts';

/** Texts of 40 characters and more, of which no two are equal. */
const createTexts = (): ((what: string) => string) => {
  let count = 0;
  return (what) => {
    count += 1;
    return `<${what} ${count} ${'.'.repeat(40)}>`;
  };
};
const marked = /<[a-z]+ \d+ \.{40}>/g;

const hops = async (count: number): Promise<void> => {
  for (let done = 0; done < count; done += 1) await Promise.resolve();
};
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Each long text with where it stands. What is given from outside is counted by what it says; what is made here, such as hashes, whole. */
const longTexts = (value: unknown, path = ''): [text: string, path: string][] => {
  if (typeof value === 'string')
    return (value.match(marked) ?? (/^[0-9a-f]{40,}$/.test(value) ? [value] : [])).map((text) => [text, path]);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => longTexts(item, `${path}/${key}`));
};
const twice = (document: unknown): string[] => {
  const found = new Map<string, string[]>();
  for (const [text, path] of longTexts(document)) found.set(text, [...(found.get(text) ?? []), path]);
  return [...found].flatMap(([text, paths]) => (paths.length > 1 ? [`${text} at ${paths.join(' and ')}`] : []));
};

const names = ['plain', 'gated', 'broken', 'flaky', 'outside', 'hanging', 'clerk', 'nope'];
const toolCall = fc.record({ name: fc.constantFrom(...names), isWrong: fc.boolean() });
type Called = typeof toolCall extends fc.Arbitrary<infer T> ? T : never;
const answer = fc.oneof(
  { weight: 6, arbitrary: fc.array(toolCall, { minLength: 1, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.constant('text' as const) },
  fc.constantFrom('passing' as const, 'final' as const, 'refusal' as const, 'cut' as const, 'filtered' as const),
);
const at = fc.nat(4);
const remember = fc.constantFrom(undefined, 'tool' as const, 'input' as const);
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), hops: fc.nat(60) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(60, 2000, 90_000) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('approve' as const), at, remember }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), at, remember, isWrong: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reject' as const), at, remember }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('respond' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      mode: fc.constantFrom('queue' as const, 'steer' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('run' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retry' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('restore' as const) }) },
);
const plan = fc.record({
  answers: fc.array(answer, { maxLength: 10 }),
  inner: fc.array(answer, { maxLength: 6 }),
  commands: fc.array(command, { minLength: 4, maxLength: 25 }),
  hold: fc.constantFrom('all' as const, 'gated' as const),
  onMessage: fc.constantFrom('queue' as const, 'supersede' as const, 'refuse' as const),
  maxConsecutiveErrors: fc.nat(2),
  onLimit: fc.constantFrom('finalize' as const, 'pause' as const, 'fail' as const),
  hasOutput: fc.boolean(),
  autopilot: fc.constantFrom(true, true, true, false),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** Gives the answers, each in words of its own, then texts for ever. */
const talker = (answers: Plan['answers'], text: (what: string) => string, isStructured: boolean): ChatModel => {
  let next = 0;
  const called = ({ name, isWrong }: Called) =>
    call(name, isWrong ? { wrong: text('wrong') } : { prompt: text('input') }, text('id'));
  const ask = async (_request: ModelRequest, signal: AbortSignal): Promise<ModelReply> => {
    const said = answers[next] ?? 'text';
    next += 1;
    await hops(3);
    const reply = (given: object): Promise<ModelReply> =>
      scriptedModel([{ reasoning: text('reasoning'), ...given }]).generate({ messages: [] }, { signal });
    if (said === 'passing') throw new ModelError('model-request-failed', text('busy'), { transient: true });
    if (said === 'final') throw new ModelError('model-request-failed', text('bad'), { transient: false });
    if (said === 'refusal') return reply({ refusal: text('refusal') });
    if (said === 'cut') return reply({ text: text('half'), finishReason: 'length' });
    if (said === 'filtered') return reply({ text: text('filtered'), finishReason: 'content-filter' });
    if (said === 'text') return reply({ text: isStructured ? `{"answer":"${text('answer')}"}` : text('answer') });
    return reply({ text: text('says'), ...calls(...said.map(called)) });
  };
  return { name: 'talker', generate: (request, { signal }) => ask(request, signal) };
};

const toolsOf = (text: (what: string) => string): Tool[] => {
  const inputSchema = z.object({ prompt: z.string(), kind: z.string().default('usual') });
  return [
    toolOf('plain', () => ({ result: text('result') })),
    tool({ name: 'gated', inputSchema, needsApproval: true, execute: () => text('result') }),
    toolOf('broken', () => {
      throw new Error(text('error'), { cause: new Error(text('cause')) });
    }),
    toolOf('flaky', (_, { attempt }) => (attempt < 2 ? new Error(text('error')) : text('result')), {
      retry: { attempts: 2 },
    }),
    toolOf('hanging', () => new Promise(() => undefined), { onInterrupted: 'ask' }),
    outsideTool('outside', { needsApproval: true }),
  ];
};

const ignore = (promise: Promise<unknown>): void => {
  promise.catch(() => undefined);
};

const agentOf = (given: Plan, text: (what: string) => string, clock: ManualClock): Agent => {
  const tools = toolsOf(text);
  const options = { tools, clock, detailedErrors: true, retry: { attempts: 2 } };
  const clerk = createAgent({ ...options, model: talker(given.inner, text, false) });
  const { hold, onMessage, maxConsecutiveErrors, onLimit, hasOutput, autopilot } = given;
  return createAgent({
    ...options,
    model: talker(given.answers, text, hasOutput),
    tools: [...tools, clerk.asTool({ name: 'clerk' })],
    approvals: { hold, onMessage, expireAfter: 80_000 },
    limits: { maxConsecutiveErrors, maxIterations: 4, onLimit },
    autopilot,
    ...(hasOutput ? { output: z.object({ answer: z.string() }) } : {}),
  }) as Agent;
};

const follow = async (given: Plan): Promise<void> => {
  const text = createTexts();
  const clock = manualClock();
  const agent = agentOf(given, text, clock);
  const found: string[] = [];
  let last = '';
  const watch = (session: Session): void => {
    const look = (): void => {
      if (session.status === 'closed') return;
      const now = JSON.stringify(session);
      if (now === last) return;
      last = now;
      for (const each of twice(JSON.parse(now))) found.push(each);
    };
    session.actor.system.inspect((event) => {
      if (event.type === '@xstate.snapshot') queueMicrotask(look);
    });
    look();
  };
  let session = await agent.open();
  watch(session);
  ignore(session.send(text('hello')));
  const input = (isWrong: boolean): JsonValue => (isWrong ? { wrong: text('wrong') } : { prompt: text('edit') });

  const obey = async (order: Plan['commands'][number]): Promise<void> => {
    const callId = 'at' in order ? (session.pending[order.at]?.callId ?? 'call_9_9') : '';
    const kept = 'remember' in order && order.remember !== undefined ? { remember: order.remember } : {};
    switch (order.do) {
      case 'wait':
        await breath();
        return hops(order.hops);
      case 'advance':
        return clock.advance(order.ms);
      case 'approve':
        return ignore(session.approve(callId, { ...kept, by: text('by') }));
      case 'edit':
        return ignore(session.approve(callId, { ...kept, input: input(order.isWrong) }));
      case 'reject':
        return ignore(session.reject(callId, { ...kept, reason: text('reason'), by: text('by') }));
      case 'respond':
        return ignore(session.respond(callId, { given: text('response') }, { by: text('by') }));
      case 'cancel':
        return ignore(session.cancel(callId));
      case 'stop':
        return ignore(session.stop(text('stop')));
      case 'send':
        return ignore(session.send(text('more'), { mode: order.mode }));
      case 'run':
        return ignore(agent.run(text('run'), { session, metadata: { tenant: text('tenant') } }));
      case 'retry':
        return ignore(session.retry());
      case 'restore': {
        const document = JSON.stringify(session);
        await session[Symbol.asyncDispose]();
        session = agent.restore(document);
        return watch(session);
      }
      default:
        return order satisfies never;
    }
  };
  for (const order of given.commands) await obey(order);
  await breath();
  await agent.close();
  expect(found).toEqual([]);
};

test('B134: whatever comes in whatever order, no text of 40 characters or more stands twice in the document', async () => {
  await fc.assert(fc.asyncProperty(plan, follow), { numRuns: Number(process.env['RUNS'] ?? 60) });
}, 600_000);
