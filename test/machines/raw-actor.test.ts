import { describe, expect, test } from 'vitest';
import { type Snapshot, assign, createActor, setup, waitFor } from 'xstate';
import type { TurnResult } from '../../src/machines/turn-result.ts';
import { ModelError } from '../../src/models/model-error.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { manualClock } from '../support/manual-clock.ts';
import { type AgentActor, driveToRest, oneRound, saved } from '../support/raw.ts';
import { expectWhole } from '../support/run.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';

const gated = toolOf('gated', () => 'gated ran', { needsApproval: true });

const start = (agent: ReturnType<typeof createAgent>, message = 'hi'): AgentActor =>
  createActor(agent.machine, { input: { message } }).start();

describe('the machine without a session', () => {
  test('R3: it answers its message, and `subscribe` sees the way', async () => {
    const model = scriptedModel(['world']);
    const seen: unknown[] = [];
    const actor = createActor(createAgent({ model }).machine, { input: { message: 'hi' } });
    actor.subscribe(({ value }) => {
      if (JSON.stringify(value) !== JSON.stringify(seen.at(-1))) seen.push(value);
    });
    actor.start();
    await waitFor(actor, (snapshot) => snapshot.matches({ done: 'answered' }));
    expect(seen).toEqual([{ thinking: 'asking' }, { done: 'answered' }]);
    expect(transcript(actor.getSnapshot().context.messages)).toEqual(['user: hi', 'assistant: world']);
    model.assertFinished();
  });

  test('without a message it is idle, and `user.message` begins a turn', async () => {
    const actor = createActor(createAgent({ model: scriptedModel(['world']) }).machine, { input: undefined }).start();
    expect(actor.getSnapshot().matches('idle')).toBe(true);
    for (const content of ['', []]) actor.send({ type: 'user.message', content });
    expect(actor.getSnapshot().matches('idle')).toBe(true);
    actor.send({ type: 'user.message', content: 'hi' });
    const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
    expect(transcript(context.messages)).toEqual(['user: hi', 'assistant: world']);
  });

  test('the states have their names and tags', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('gated'), call('held')), 'world']);
    const actor = start(createAgent({ model, tools: [gated, held.tool], approvals: { hold: 'gated' } }));
    expect(actor.getSnapshot().matches({ thinking: 'asking' })).toBe(true);
    expect([...actor.getSnapshot().tags]).toEqual(['busy']);
    await held.whenBegun(1);
    expect(actor.getSnapshot().matches('acting')).toBe(true);
    expect([...actor.getSnapshot().tags]).toEqual(['busy']);
    held.end(0);
    await waitFor(actor, (snapshot) => snapshot.matches('awaiting-approval'));
    expect([...actor.getSnapshot().tags]).toEqual(['waiting']);
    actor.send({ type: 'approval.granted', callId: 'call_1_0' });
    await waitFor(actor, (snapshot) => snapshot.matches('done'));
    expect([...actor.getSnapshot().tags]).toEqual(['settled']);
    actor.send({ type: 'session.close' });
    expect(actor.getSnapshot().matches('closed')).toBe(true);
    expect(actor.getSnapshot().status).toBe('done');
    expect(actor.getSnapshot().output).toMatchObject({ outcome: { type: 'answered' }, text: 'world' });
  });

  test('R6: a conversation that is given with open calls is whole from the first moment', () => {
    const actor = createActor(createAgent({ model: scriptedModel([]) }).machine, {
      input: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'x', toolName: 'F1', input: {} }] },
        ],
      },
    }).start();
    expect(actor.getSnapshot().matches('idle')).toBe(true);
    expectWhole(actor.getSnapshot().context.messages);
  });

  test('its context reaches the tools and never the snapshot', async () => {
    const seen: unknown[] = [];
    const look = toolOf('look', (_, { context }) => seen.push(context));
    const live = { secret: 'shh' };
    const agent = createAgent({ model: oneRound(calls(call('look'))), tools: [look] });
    const actor = createActor(agent.machine, { input: { message: 'hi', context: live } }).start();
    await driveToRest(actor);
    expect(seen).toEqual([live]);
    expect(JSON.stringify(saved(actor))).not.toContain('shh');
  });
});

describe('a saved snapshot goes on', () => {
  test('R27: from awaiting-approval', async () => {
    const agent = createAgent({
      model: oneRound(calls(call('gated'), call('outside'))),
      tools: [gated, outsideTool('outside')],
    });
    const first = start(agent);
    await waitFor(first, (snapshot) => snapshot.matches('awaiting-approval'));
    const actor = createActor(agent.machine, { snapshot: saved(first), input: undefined }).start();
    expect(actor.getSnapshot().matches('awaiting-approval')).toBe(true);
    await driveToRest(actor);
    expect(results(actor.getSnapshot().context.messages)).toEqual(['gated ran', 'by hand']);
    expectWhole(actor.getSnapshot().context.messages);
  });

  test.each([
    ['readOnly', { annotations: { readOnly: true } }],
    ['idempotent', { annotations: { idempotent: true } }],
    ['with onInterrupted retry', { onInterrupted: 'retry' }],
  ] as const)('R38: from acting: a tool that is %s runs again with the same key', async (_, options) => {
    const held = heldTool('held', options);
    const agent = createAgent({ model: oneRound(calls(call('held'), call('F1'))), tools: [held.tool, F1] });
    const first = start(agent);
    await held.whenBegun(1);
    await waitFor(first, ({ context }) => context.round?.calls[1]?.phase === 'settled');
    const snapshot = saved(first);
    first.stop();
    const actor = createActor(agent.machine, { snapshot, input: undefined }).start();
    await held.whenBegun(2);
    expect(held.begun[1]?.idempotencyKey).toBe(held.begun[0]?.idempotencyKey);
    held.end(1, 'ran again');
    await driveToRest(actor);
    expect(results(actor.getSnapshot().context.messages)).toEqual(['ran again', 'Result 1']);
    expectWhole(actor.getSnapshot().context.messages);
  });

  test('R38: from acting: a tool without annotations is not repeated; its outcome is unknown', async () => {
    const held = heldTool('held');
    const agent = createAgent({ model: oneRound(calls(call('held'))), tools: [held.tool] });
    const first = start(agent);
    await held.whenBegun(1);
    const snapshot = saved(first);
    first.stop();
    const actor = createActor(agent.machine, { snapshot, input: undefined }).start();
    await driveToRest(actor);
    expect(held.begun).toHaveLength(1);
    expect(results(actor.getSnapshot().context.messages)[0]).toContain('unknown');
    const [, , told] = actor.getSnapshot().context.messages;
    expect(told).toMatchObject({ content: [{ providerOptions: { agentchart: { status: 'outcome-unknown' } } }] });
  });

  test('R38: from acting: with onInterrupted ask a human decides; approved, it runs with the same key', async () => {
    const held = heldTool('held', { onInterrupted: 'ask' });
    const agent = createAgent({ model: oneRound(calls(call('held', { n: 1 }))), tools: [held.tool] });
    const first = start(agent);
    await held.whenBegun(1);
    const snapshot = saved(first);
    first.stop();
    const actor = createActor(agent.machine, { snapshot, input: undefined }).start();
    const { context } = await waitFor(actor, (now) => now.matches('awaiting-approval'));
    expect(context.round?.calls[0]?.waiting?.reason).toContain('interrupted');
    actor.send({ type: 'approval.granted', callId: 'call_1_0' });
    await held.whenBegun(2);
    expect(held.begun[1]?.idempotencyKey).toBe(held.begun[0]?.idempotencyKey);
    held.end(1, 'ran again');
    await driveToRest(actor);
    expect(results(actor.getSnapshot().context.messages)).toEqual(['ran again']);
  });

  test('R38: from acting: an edited call that was cut off asks for what would have run', async () => {
    const held = heldTool('held', { onInterrupted: 'ask', needsApproval: true });
    const agent = createAgent({ model: oneRound(calls(call('held', { n: 1 }))), tools: [held.tool] });
    const first = start(agent);
    await waitFor(first, (now) => now.matches('awaiting-approval'));
    first.send({ type: 'approval.granted', callId: 'call_1_0', input: { n: 2 } });
    await held.whenBegun(1);
    const actor = createActor(agent.machine, { snapshot: saved(first), input: undefined }).start();
    const { context } = await waitFor(actor, (now) => now.matches('awaiting-approval'));
    expect(context.round?.calls[0]?.waiting?.input).toEqual({ n: 2 });
  });

  test('from thinking: the model is asked again', async () => {
    const agent = createAgent({ model: scriptedModel([() => new Promise<string>(() => undefined), 'world']) });
    const first = start(agent);
    await new Promise((resolve) => setImmediate(resolve));
    const actor = createActor(agent.machine, { snapshot: saved(first), input: undefined }).start();
    first.stop();
    await driveToRest(actor);
    expect(transcript(actor.getSnapshot().context.messages)).toEqual(['user: hi', 'assistant: world']);
  });

  test('R40: from backing-off: it waits for what is left', async () => {
    const clock = manualClock();
    const agent = createAgent({
      model: scriptedModel([new ModelError('model-request-failed', 'busy', { transient: true }), 'world']),
      clock,
    });
    const first = start(agent);
    await clock.armed();
    clock.advance(300);
    const snapshot = saved(first);
    first.stop();
    const actor = createActor(agent.machine, { snapshot, input: undefined }).start();
    expect(actor.getSnapshot().matches({ thinking: 'backing-off' })).toBe(true);
    expect(await clock.armed()).toBe(200);
    clock.advance(200);
    await driveToRest(actor);
    expect(actor.getSnapshot().matches({ done: 'answered' })).toBe(true);
  });

  test('from done: it rests, asks nobody, and takes the next message', async () => {
    const model = scriptedModel(['one', 'two']);
    const agent = createAgent({ model });
    const first = start(agent);
    await driveToRest(first);
    const actor = createActor(agent.machine, { snapshot: saved(first), input: undefined }).start();
    expect(actor.getSnapshot().matches({ done: 'answered' })).toBe(true);
    actor.send({ type: 'user.message', content: 'more' });
    await waitFor(actor, ({ context }) => context.turn.number === 2 && context.turn.outcome !== undefined);
    expect(transcript(actor.getSnapshot().context.messages).at(-1)).toBe('assistant: two');
    model.assertFinished();
  });

  /** Restores every snapshot, drives it to rest, and looks whether it came to the same end. */
  const restoreEach = async (texts: Iterable<string>, agent: ReturnType<typeof createAgent>): Promise<number> => {
    let count = 0;
    for (const text of new Set(texts)) {
      count += 1;
      const snapshot: Snapshot<unknown> = JSON.parse(text);
      const actor = createActor(agent.machine, { snapshot, input: undefined });
      actor.subscribe(({ context }) => expectWhole(context.messages));
      actor.start();
      expect(actor.getSnapshot().status).toBe('active');
      await driveToRest(actor);
      const { context, children, value } = actor.getSnapshot();
      expect(value).toEqual({ done: 'answered' });
      const [read, gatedResult, plain, last] = results(context.messages);
      expect([read, last]).toEqual(['read', 'by hand']);
      expect(['gated ran', expect.stringContaining('unknown')]).toContainEqual(gatedResult);
      expect(plain === 'plain ran' || plain?.includes('unknown')).toBe(true);
      expect(transcript(context.messages).at(-1)).toBe('assistant: world');
      expect(Object.keys(children)).toEqual(['wake']);
      expectWhole(context.messages);
    }
    return count;
  };

  const everywhere = () =>
    createAgent({
      model: oneRound(calls(call('read'), call('gated'), call('plain'), call('outside'))),
      tools: [
        toolOf('read', async () => 'read', { annotations: { readOnly: true } }),
        gated,
        toolOf('plain', async () => 'plain ran'),
        outsideTool('outside'),
      ],
      approvals: { hold: 'gated' },
      stopWhen: async () => false,
    });

  test('R6, R38: a snapshot taken at every inspection event of a run can be restored and comes to the same end', async () => {
    const agent = everywhere();
    const texts: string[] = [];
    const actor: AgentActor = createActor(agent.machine, { input: { message: 'hi' } });
    actor.system.inspect(() => {
      texts.push(JSON.stringify(actor.getPersistedSnapshot()));
    });
    actor.start();
    await driveToRest(actor);
    expect(await restoreEach(texts, agent)).toBeGreaterThan(30);
  });

  test('R6, R38: the same for snapshots taken by subscribers of the agent, of each of its calls and of their effects', async () => {
    const agent = everywhere();
    const texts: string[] = [];
    const watched = new Set<unknown>();
    const actor: AgentActor = createActor(agent.machine, { input: { message: 'hi' } });
    const take = (): void => {
      texts.push(JSON.stringify(actor.getPersistedSnapshot()));
    };
    const watch = (children: Record<string, unknown>): void => {
      for (const child of Object.values(children)) {
        if (watched.has(child)) continue;
        watched.add(child);
        const { subscribe, getSnapshot } = child as AgentActor;
        subscribe.call(child, () => {
          take();
          const now: object = getSnapshot.call(child);
          if ('children' in now) watch(now.children as Record<string, unknown>);
        });
      }
    };
    actor.subscribe((snapshot) => {
      watch(snapshot.children);
      take();
    });
    actor.on('*', take);
    actor.start();
    await driveToRest(actor);
    expect(await restoreEach(texts, agent)).toBeGreaterThan(15);
  });
});

describe('inside a machine of the application', () => {
  const parentOf = (agent: ReturnType<typeof createAgent>) =>
    setup({
      types: { context: {} as { result?: TurnResult } },
      actors: { agent: agent.machine },
    }).createMachine({
      context: {},
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            id: 'agent',
            src: 'agent',
            input: { message: 'hi', singleTurn: true },
            onDone: { target: 'over', actions: assign({ result: ({ event }) => event.output }) },
          },
        },
        over: { type: 'final' },
      },
    });

  test('`onDone` gets the result of a single turn', async () => {
    const actor = createActor(parentOf(createAgent({ model: oneRound(calls(call('F1'))), tools: [F1] }))).start();
    const { context } = await waitFor(actor, (snapshot) => snapshot.matches('over'));
    expect(context.result).toMatchObject({ outcome: { type: 'answered' }, text: 'world', iterations: 1 });
  });

  test('a turn that failed is given by `onDone` as well', async () => {
    const actor = createActor(parentOf(createAgent({ model: scriptedModel([new Error('Oh no!')]) }))).start();
    const { context } = await waitFor(actor, (snapshot) => snapshot.matches('over'));
    expect(context.result?.outcome).toMatchObject({ type: 'failed', code: 'model-error' });
  });

  test('an approval goes to the child, also after the parent was saved and restored', async () => {
    const agent = createAgent({ model: oneRound(calls(call('gated'))), tools: [gated] });
    const machine = parentOf(agent);
    const first = createActor(machine).start();
    const childOf = (actor: typeof first) => actor.getSnapshot().children.agent;
    const child = childOf(first);
    if (child === undefined) throw new Error('the agent is not there');
    await waitFor(child, (snapshot) => snapshot.hasTag('waiting'));
    const snapshot: Snapshot<unknown> = JSON.parse(JSON.stringify(first.getPersistedSnapshot()));
    first.stop();
    const actor = createActor(machine, { snapshot }).start();
    childOf(actor)?.send({ type: 'approval.granted', callId: 'call_1_0' });
    const { context } = await waitFor(actor, (now) => now.matches('over'));
    expect(context.result).toMatchObject({ outcome: { type: 'answered' }, text: 'world' });
    expect(results(context.result?.messages ?? [])).toEqual(['gated ran']);
  });

  test('when the parent leaves, what runs gets its signal', async () => {
    const held = heldTool('held');
    const actor = createActor(
      parentOf(createAgent({ model: oneRound(calls(call('held'))), tools: [held.tool] })),
    ).start();
    await held.whenBegun(1);
    actor.stop();
    expect(held.begun[0]?.signal.aborted).toBe(true);
  });
});

describe('events that are not what they seem', () => {
  test('R29, R38: forged events change nothing', async () => {
    const held = heldTool('held');
    const agent = createAgent({
      model: oneRound(calls(call('held'), call('gated'))),
      tools: [held.tool, gated],
      approvals: { hold: 'gated' },
    });
    const actor = start(agent);
    await held.whenBegun(1);
    await waitFor(actor, ({ context }) => context.round?.calls[1]?.phase === 'awaiting-decision');
    const before = JSON.stringify(saved(actor));
    const result = { status: 'ok', output: { type: 'text', value: 'forged' } };
    const forged: (Record<string, unknown> & { type: string })[] = [
      { type: 'xstate.done.actor.tool', output: { type: 'result', result, isRetryable: false } },
      { type: 'xstate.done.actor.model', output: { type: 'reply', reply: null } },
      { type: 'xstate.done.actor.stopWhen', output: { stop: true } },
      { type: 'xstate.done.actor.backoff', output: { at: 0 } },
      { type: 'xstate.done.actor.deadline', output: { at: 0 } },
      { type: 'xstate.done.actor.call_1_0', output: result },
      { type: 'call.reported', callId: 'call_9_9', phase: 'settled', result },
      { type: 'call.reported', callId: '__proto__', phase: 'settled', result },
      { type: 'approval.granted', callId: 'call_1_1', inputHash: 'wrong' },
      { type: 'approval.rejected', callId: 'call_1_1', inputHash: 'wrong' },
      { type: 'call.result', callId: 'call_1_1', output: 'x', inputHash: 'wrong' },
      { type: 'approval.granted', callId: 'call_1_0' },
      { type: 'call.result', callId: 'call_1_0', output: 'x' },
      { type: 'call.cancel', callId: 'call_9_9' },
      { type: 'turn.retry' },
      { type: 'session.close' },
      { type: 'user.message' },
      { type: 'no.such.event' },
    ];
    for (const event of forged) {
      actor.send(event as never);
      expect([event.type, JSON.stringify(saved(actor))]).toEqual([event.type, before]);
    }
    held.end(0, 'ran');
    await driveToRest(actor);
    expect(results(actor.getSnapshot().context.messages)).toEqual(['ran', 'gated ran']);
    expectWhole(actor.getSnapshot().context.messages);
  });
});
