import { expect, test } from 'vitest';
import { type AnyMachineSnapshot, createActor, setup, transition, waitFor } from 'xstate';
import type { AgentMachine } from '../../src/machines/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { byXState } from '../support/by-xstate.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const machineOf = (): AgentMachine =>
  createAgent({
    model: scriptedModel([calls(call('look'), call('look')), 'Done.', 'Again.']),
    tools: [toolOf('look', () => 'seen')],
  }).machine;

/** What is seen with the chart as it is shipped, and with XState's own steps. */
const both = <T>(see: (machine: AgentMachine) => T): [ours: T, theirs: T] => [
  see(machineOf()),
  see(byXState(machineOf())),
];

const errorOf = (act: () => unknown): string => {
  try {
    act();
    return 'none';
  } catch (error) {
    return String(error);
  }
};

const idle = (machine: AgentMachine) =>
  createActor(machine, { input: { sessionId: 's' } })
    .start()
    .getSnapshot();

test.each([
  { type: '*' },
  { type: 'xstate.init' },
  { type: 'xstate.stop', error: 'none of its own' },
  { type: 'xstate.error.actor.nobody', error: 'Oh no!' },
  { type: undefined },
  { type: 7 },
  null,
])('an event of XState itself, or none at all, does what it does by XState: %j', (event) => {
  const [ours, theirs] = both((machine) => {
    const told: unknown[] = [];
    const error = errorOf(() => {
      const [next, actions] = transition(machine, idle(machine), event as never);
      told.push(
        next.status,
        next.value,
        next.error,
        Object.keys(next.children),
        actions.map(({ type }) => type),
      );
    });
    return [...told, error];
  });
  expect(ours).toEqual(theirs);
});

test('a guard that throws says in which state and for which event', () => {
  const [ours, theirs] = both((machine) => {
    const actor = createActor(machine, { input: { sessionId: 's', message: 'Hello?' } });
    let failure: unknown;
    actor.subscribe({ error: (error) => (failure = error) });
    actor.start().send({ type: 'xstate.done.actor.model' } as never);
    return String(failure);
  });
  expect(theirs).toMatch('thinking');
  expect(ours).toBe(theirs);
});

test('a snapshot that is over takes what XState lets it take', () => {
  const [ours, theirs] = both((machine) => {
    const [closed] = transition(machine, idle(machine), { type: 'session.close' });
    const [next] = transition(machine, closed, { type: 'user.message', content: 'Hello?', id: 'm' });
    return [closed.status, next.status, next.value, next.context.inbox];
  });
  expect(ours[0]).toBe('done');
  expect(ours).toEqual(theirs);
});

test('the actions of a step come with all that XState gives them, for whoever carries them out', () => {
  const [ours, theirs] = both((machine) => {
    const [, actions] = transition(machine, idle(machine), { type: 'user.message', content: 'Hello?', id: 'm' });
    return actions.map((action) => {
      const { actorRef, ...params } = action.params as { actorRef?: { id: string } };
      return [action.type, Object.keys(action.info).sort(), { ...params, actor: actorRef?.id }];
    });
  });
  expect(ours.length).toBeGreaterThan(2);
  expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
  expect(ours).toContainEqual([
    'xstate.spawnChild',
    expect.anything() as unknown,
    { id: 'model', src: 'model', input: expect.anything() as unknown, actor: 'model' },
  ]);
});

test('an inspector hears of the same actions as with the steps of XState', async () => {
  const heard = async (machine: AgentMachine) => {
    const types: string[] = [];
    const actor = createActor(machine, {
      input: { message: 'Hello?' },
      inspect: (told) => types.push(told.type === '@xstate.action' ? told.action.type : told.type),
    });
    await waitFor(actor.start(), (snapshot) => snapshot.hasTag('settled'));
    return types;
  };
  expect(await heard(machineOf())).toEqual(await heard(byXState(machineOf())));
});

test('a snapshot names the machine that made it, also after a restore, and the machine is one in all its parts', () => {
  const machine = machineOf();
  expect(machine.root.machine).toBe(machine);
  const actor = createActor(machine).start();
  expect(actor.getSnapshot().machine).toBe(machine);
  const restored = createActor(machine, { snapshot: actor.getPersistedSnapshot() });
  expect(restored.getSnapshot().machine).toBe(machine);
});

test('what is written into one snapshot is in no other', () => {
  const machine = machineOf();
  const first = createActor(machine, { input: { message: 'Hello?' } })
    .start()
    .getSnapshot();
  Object.assign(first.value as object, { thinking: 'checking' });
  first.tags.add('settled');
  const second = createActor(machine, { input: { message: 'Hello?' } })
    .start()
    .getSnapshot();
  expect(second.value).toEqual({ thinking: 'asking' });
  expect([...second.tags]).toEqual(['busy']);
});

test('a snapshot of another machine is taken on by the guards and actions of that one', () => {
  const machine = machineOf();
  const other = machine.provide({ guards: { hasUnread: () => false } });
  const event = { type: 'user.message' as const, content: 'Hello?', id: 'm' };
  expect(transition(machine, idle(other), event)[0].value).toBe('idle');
});

test.each([{ syncSnapshot: false }, { syncSnapshot: true }])(
  'inside a machine of the user it tells and is told what it is with the steps of XState: %j',
  async ({ syncSnapshot }) => {
    const lived = async (agent: AgentMachine) => {
      const told: unknown[] = [];
      const parent = setup({ actors: { agent } }).createMachine({
        initial: 'at work',
        states: {
          'at work': {
            invoke: {
              id: 'agent',
              src: 'agent',
              systemId: 'the agent',
              input: { message: 'Hello?', singleTurn: true },
              onDone: { target: 'over', actions: ({ event }) => told.push(event.output.text) },
              onError: 'broken',
              ...(syncSnapshot
                ? {
                    onSnapshot: {
                      actions: ({ event }: { event: { snapshot: AnyMachineSnapshot } }) =>
                        told.push(event.snapshot.value, event.snapshot.status),
                    },
                  }
                : {}),
            },
            on: { break: { actions: ({ system }) => system.get('the agent')?.send({ type: '*' }) } },
          },
          over: { type: 'final' },
          broken: { type: 'final' },
        },
      });
      const actor = createActor(parent, { inspect: ({ type }) => told.push(type) }).start();
      told.push(actor.system.get('the agent')?.id);
      const last = await waitFor(actor, ({ status }) => status === 'done');
      const broken = createActor(parent).start();
      broken.send({ type: 'break' });
      return [...told, last.value, broken.getSnapshot().value];
    };
    const ours = await lived(machineOf());
    expect(ours.slice(-2)).toEqual(['over', 'broken']);
    expect(ours).toEqual(await lived(byXState(machineOf())));
  },
);
