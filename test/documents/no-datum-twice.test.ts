import { expect, test } from 'vitest';
import { z } from 'zod';
import { difference } from '../../src/documents/change.ts';
import { ModelError } from '../../src/models/model-error.ts';
import type { AgentOptions } from '../../src/sessions/agent-options.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Session } from '../../src/sessions/session.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';

/** The markers `m_…_q` that stand more than once in a text. */
const twice = (text: string): string[] => {
  const found: string[] = text.match(/m_[a-z_]+?_q/g) ?? [];
  return [...new Set(found.filter((each, index) => found.indexOf(each) !== index))];
};

const pay = tool({
  name: 'pay',
  inputSchema: z.object({
    to: z.string(),
    amount: z.union([z.number(), z.string()]),
    currency: z.string().default('EUR'),
  }),
  needsApproval: true,
  execute: ({ to }) => (to === 'm_innerarg_q' ? 'paid' : 'paid m_payresult_q'),
});
const broken = toolOf('broken', () => {
  throw new Error('m_toolerror_q');
});
const never = () => new Promise<string>(() => undefined);

const optionsOf = (held: ReturnType<typeof heldTool>, inner: Parameters<typeof scriptedModel>[0]) =>
  ({
    tools: [
      pay,
      createAgent({ model: scriptedModel(inner), tools: [pay] }).asTool({ name: 'clerk' }),
      held.tool,
      broken,
      outsideTool('ask'),
    ],
    output: z.object({ answer: z.string() }),
    approvals: { hold: 'gated', expireAfter: 1e9 },
    limits: { deadline: 1e9 },
    retry: { attempts: 2, initialDelay: 1, maxDelay: 1 },
    detailedErrors: true,
  }) satisfies Partial<AgentOptions>;

const withoutReports = (document: unknown): unknown =>
  JSON.parse(JSON.stringify(document, (key, value: unknown) => (key === 'nested' ? undefined : value)));

/** Looks at the document after every step of every actor of the session: no marker twice, and three trips leave it as it is. */
const watch = (session: Session) => {
  const states = new Set<string>();
  const problems: string[] = [];
  let last = '';
  const look = (): void => {
    const text = JSON.stringify(session);
    if (text === last) return;
    last = text;
    const { state } = JSON.parse(text) as { state: { state: unknown; calls?: Record<string, { state: unknown }> } };
    for (const each of [state.state, ...Object.values(state.calls ?? {}).map((inside) => inside.state)])
      states.add(JSON.stringify(each));
    for (const each of twice(text)) problems.push(`${each} in ${text}`);
    const trips = [text];
    for (let trip = 1; trip <= 3; trip += 1) {
      const other = createAgent({ model: scriptedModel([never]), ...optionsOf(heldTool('held'), [never]) });
      trips.push(JSON.stringify(other.restore(trips[trip - 1] ?? '')));
      void other.close();
    }
    const [first, second, , fourth] = trips.map((each) => JSON.parse(each) as unknown);
    // An agent inside a call says again what it waits for, where the call had not heard it yet.
    const changes = [difference(withoutReports(first), withoutReports(second)), difference(second, fourth)];
    for (const change of changes) if (change !== undefined) problems.push(`${JSON.stringify(change)} in ${text}`);
  };
  session.actor.system.inspect((event) => {
    if (event.type === '@xstate.snapshot' || event.type === '@xstate.microstep') queueMicrotask(look);
  });
  look();
  return { states, problems };
};

test('B134: at every step of a run no datum stands twice in the document, and it is the same after three trips', async () => {
  const held = heldTool('held');
  const inner = [calls(call('pay', { to: 'm_innerarg_q', amount: 1 })), 'm_inneranswer_q'];
  const agent = createAgent({
    model: scriptedModel([
      new ModelError('model-request-failed', 'm_busy_q', { transient: true }),
      {
        text: 'm_text_q',
        ...calls(
          call('pay', { to: 'm_arg_q', amount: 2 }),
          call('pay', { to: 'm_rejected_q', amount: 3 }),
          call('pay', { to: 'm_answered_q', amount: 3 }),
          call('clerk', { prompt: 'm_prompt_q' }),
          call('held', { h: 'm_held_q' }),
          call('broken', { b: 'm_broken_q' }),
          call('ask', { q: 'm_question_q' }),
        ),
      },
      '{"wrong":"m_wrong_q"}',
      '{"answer":"m_output_q"}',
    ]),
    ...optionsOf(held, inner),
  });
  const session = await agent.open('s');
  const { problems, states } = watch(session);
  await session.send('m_user_q');
  await held.whenBegun(1);
  while (session.pending.length < 5) await new Promise((resolve) => setImmediate(resolve));
  await session.approve('call_1_0', { input: { to: 'm_edited_q', amount: 'm_editamount_q' }, by: 'ann' });
  await session.reject('call_1_1', { reason: 'm_reason_q', remember: 'tool', by: 'm_rejectedby_q' });
  await session.respond('call_1_2', { given: 'm_respond_q' }, { by: 'm_answeredby_q' });
  held.end(0, { h: 'm_heldresult_q' });
  await session.settled();
  await session.approve('call_1_3-call_1_0');
  await session.respond('call_1_6', 'm_asked_q', { by: 'm_askedby_q' });
  const { output } = await session.settled();
  expect(output).toEqual({ answer: 'm_output_q' });
  expect(problems).toEqual([]);
  for (const state of [
    'idle',
    'acting',
    'awaiting-approval',
    'awaiting-decision',
    'awaiting-result',
    'delegating',
    'validating',
  ])
    expect(states).toContain(JSON.stringify(state));
  for (const state of [
    { thinking: 'asking' },
    { thinking: 'backing-off' },
    { thinking: 'checking' },
    { done: 'answered' },
    { running: 'executing' },
    { settled: 'failed' },
    { settled: 'rejected' },
  ])
    expect(states).toContain(JSON.stringify(state));
});
