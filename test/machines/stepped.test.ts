import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyActorScope,
  type AnyStateMachine,
  type EventObject,
  StateMachine,
  assign,
  createActor,
  createMachine,
  emit,
  enqueueActions,
  initialTransition,
  sendTo,
  spawnChild,
  stopChild,
  transition,
  waitFor,
} from 'xstate';
import type { AgentMachine } from '../../src/machines/agent.ts';
import { stepped } from '../../src/machines/stepped.ts';
import type { Node } from '../../src/machines/way.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptMachine } from '../../src/testing/explore/scripted-machine.ts';
import { walk } from '../../src/testing/explore/walk.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { tool } from '../../src/tools/tool.ts';
import { exploredAgents } from '../testing/explored-agents.ts';

interface Seen {
  status: string;
  value?: unknown;
  context?: object;
  children?: Record<string, unknown>;
  tags?: Set<string>;
  error?: Error;
  output?: unknown;
}

/** The machine in all but that everything it does is written down; times and random ids are left out. */
const traced = <T extends AnyStateMachine>(machine: T, trace: string[]): T => {
  const write = (what: string, about: unknown): void => {
    trace.push(
      `${machine.id} ${what} ${JSON.stringify(about, (name, item: unknown) =>
        name === 'ms' || (typeof item === 'number' && item > 1e9) || (name === 'id' && item !== 'input') ? 0 : item,
      )}`,
    );
  };
  const look = (given: unknown): Seen => {
    const { status, value, context, children = {}, tags = new Set(), error, output } = given as Seen;
    return { status, value, context, children: Object.keys(children), tags: [...tags], error, output } as never;
  };
  const heard = (scope: AnyActorScope): AnyActorScope => ({
    ...scope,
    emit: (event: EventObject) => {
      write('says', event);
      scope.emit(event);
    },
  });
  return Object.create(machine, {
    getInitialSnapshot: {
      value: (scope: AnyActorScope, input: unknown) => {
        const first: unknown = machine.getInitialSnapshot(scope, input as never);
        write('begins', look(first));
        return first;
      },
    },
    transition: {
      value: (snapshot: never, event: EventObject, scope: AnyActorScope) => {
        const next: unknown = machine.transition(snapshot, event as never, heard(scope));
        write(event.type, next === snapshot ? 'the same' : look(next));
        return next;
      },
    },
  }) as T;
};

/** Everywhere that a session can get to, with what the charts did on the way. */
const walked = (name: string, how: <T extends AnyStateMachine>(machine: T) => T) => {
  const [agent, options] = exploredAgents[name] ?? [undefined, {}];
  const { calls = [['anything']], limits = {}, singleTurn = false } = options;
  const scripted = scriptMachine(agent?.machine as AgentMachine);
  const trace: string[] = [];
  const toolCall = traced(how(scripted.toolCall), trace) as never;
  const machine = traced(how(scripted.agent.provide({ actors: { toolCall } })), trace);
  const input = { sessionId: 'walked', singleTurn };
  const found = walk(machine, [input], { calls, maxStates: 20_000, maxRun: 200, options: { limits } });
  const names = [...found.taken].map((each) => JSON.stringify(each));
  const places = found.places.map(({ state, by, run, isOver, tags }) => [state, by, run, isOver, ...tags].join(' '));
  const rest = [...found.faults, ...names.sort(), ...[...found.visited].sort()];
  return [...trace, ...places, ...rest.map((each) => JSON.stringify(each))];
};

test.each([
  'limits that fail',
  'agents inside calls',
  'a deadline, and an expiry of approvals',
  'manual mode',
  'one turn, a question after its round',
])('with %s every step is what XState makes of it: states, contexts, actors, events, in the same order', (name) => {
  const ours = walked(name, stepped);
  const theirs = walked(name, (machine) => machine);
  expect(ours.length).toBeGreaterThan(500);
  const differs = ours.findIndex((line, index) => line !== theirs[index]);
  expect(ours[differs]).toBe(theirs[differs]);
  expect(ours).toHaveLength(theirs.length);
});

test('what is enqueued is done as XState itself does it, also by actions that are enqueued and in steps within steps', () => {
  const run = (how: <T extends AnyStateMachine>(machine: T) => T) => {
    const told: unknown[] = [];
    const inner = enqueueActions(({ enqueue }) => {
      enqueue.assign(({ context }) => ({ steps: [...(context['steps'] as string[]), 'inner'] }));
    });
    const other = createActor(
      how(
        createMachine({
          context: () => ({}),
          on: { go: { actions: enqueueActions(({ enqueue }) => enqueue.emit({ type: 'heard' })) } },
        }),
      ),
    ).start();
    other.on('*', (event) => told.push(event));
    const machine = createMachine({
      context: () => ({ steps: [] as string[] }),
      on: {
        go: {
          actions: enqueueActions(({ context, event, enqueue, self }) => {
            told.push(context, event.type, self.id);
            enqueue.assign({ steps: ['first'] });
            other.send({ type: 'go' });
            enqueue(inner as never);
            enqueue.emit({ type: 'said' });
            enqueue.raise({ type: 'again' });
          }),
        },
        again: {
          actions: enqueueActions(({ context, enqueue }) => {
            enqueue.assign({ steps: [...context.steps, 'again'] });
          }),
        },
      },
    });
    const actor = createActor(how(machine), { id: 'one' });
    actor.on('*', (event) => told.push(event));
    actor.start().send({ type: 'go' });
    return { told, steps: actor.getSnapshot().context.steps };
  };
  expect(run(stepped)).toEqual(run((machine) => machine));
  expect(run(stepped).steps).toEqual(['first', 'inner', 'again']);
});

const nodesOf = (node: Node & { states?: Record<string, Node> }): Node[] => [
  node,
  ...Object.values(node.states ?? {}).flatMap(nodesOf),
];

test('the charts have nothing that is not known where their steps are taken', () => {
  const { machine } = createAgent({ model: scriptedModel([]) });
  const { toolCall } = machine.implementations.actors as unknown as { toolCall: AnyStateMachine };
  for (const chart of [machine as AnyStateMachine, toolCall]) {
    expect(chart).toBeInstanceOf(StateMachine);
    // Steps are not counted.
    expect(chart.config).not.toHaveProperty('options');
    const nodes = nodesOf(chart.root as unknown as Node);
    expect(nodes.length).toBeGreaterThan(15);
    for (const node of nodes) {
      expect(['atomic', 'compound', 'final']).toContain(node.type);
      // Whoever enters a final state is done.
      if (node.type === 'final') expect(node.parent).toBe(chart.root);
      if (node.type === 'final' || node.parent === undefined) expect(node.exit).toEqual([]);
      if (node.type === 'compound') expect(node.initial).toMatchObject({ actions: [] });
      for (const each of node.invoke) expect(each).not.toHaveProperty('onSnapshot');
      for (const each of node.invoke) expect(each).toMatchObject({ systemId: undefined });
      const transitions = [...node.transitions].flatMap(([event, all]) => {
        expect(event).not.toMatch(/\*|^xstate\.(error|after|done\.state)/);
        return all;
      });
      for (const each of [...transitions, ...(node.always ?? [])]) {
        expect(each).toMatchObject({ reenter: false });
        expect(each.target?.length ?? 1).toBe(1);
      }
    }
  }
});

/** Of a function. */
const fieldsOf = (action: unknown): object => ({ ...(action as object) });

test('XState still has its own actions say what they do in the way that is known where steps are taken', () => {
  expect(fieldsOf(spawnChild('some' as never, { id: 'one', input: 1 } as never))).toMatchObject({
    type: 'xstate.spawnChild',
    src: 'some',
    id: 'one',
    input: 1,
    execute: expect.any(Function) as unknown,
  });
  expect(fieldsOf(stopChild('one'))).toMatchObject({ type: 'xstate.stopChild', actorRef: 'one' });
  const assignment = () => ({});
  expect(fieldsOf(assign(assignment))).toMatchObject({ type: 'xstate.assign', assignment });
  const collect = () => undefined;
  expect(fieldsOf(enqueueActions(collect))).toMatchObject({ type: 'xstate.enqueueActions', collect });
  const event = { type: 'said' };
  expect(fieldsOf(emit(event))).toMatchObject({ type: 'xstate.emit', event, execute: expect.any(Function) as unknown });
  expect(fieldsOf(sendTo('one', { type: 'go' }))).toMatchObject({ resolve: expect.any(Function) as unknown });
});

test('who takes the steps of an agent himself gets its actions', () => {
  const { machine } = createAgent({ model: scriptedModel(['Hello.']) });
  const [idle] = initialTransition(machine, { sessionId: 'one' });
  const [next, actions] = transition(machine, idle, { type: 'user.message', content: 'Hello?' });
  expect(next.value).toEqual({ thinking: 'asking' });
  expect(actions.map(({ type }) => type)).toContain('xstate.spawnChild');
});

test('a machine that is given other actors, guards or actions takes its steps by XState, as any other does', () => {
  const { machine } = createAgent({ model: scriptedModel(['Hello.']) });
  const actor = createActor(machine.provide({ guards: { hasUnread: () => false } }), { input: { message: 'Hello?' } });
  expect(actor.start().getSnapshot().value).toBe('idle');
});

test('a machine may be copied and wrapped, as logic of XState is', async () => {
  const { machine } = createAgent({ model: scriptedModel(['Hello.']) });
  const heard: string[] = [];
  const hearing: AgentMachine['transition'] = (snapshot, event, scope) => {
    heard.push(event.type);
    return machine.transition(snapshot, event, scope);
  };
  const logic = Object.assign({}, machine, { transition: hearing });
  const actor = createActor(logic, { input: { message: 'Hello?' } }).start();
  await waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
  expect(heard).toEqual(['xstate.done.actor.model']);
  expect(actor.getSnapshot().machine).toBe(machine);
});

test('a saved snapshot reads as XState writes it, idle, at work and with calls that wait', async () => {
  const saved = async (how: (machine: AgentMachine) => AgentMachine) => {
    const pay = tool({ name: 'Pay', inputSchema: z.object({}), needsApproval: true, execute: () => 'paid' });
    const model = scriptedModel([{ toolCalls: [{ name: 'Pay' }] }]);
    const actor = createActor(how(createAgent({ model, tools: [pay] }).machine), { input: { sessionId: 'one' } });
    const texts: string[] = [];
    const save = () =>
      texts.push(JSON.stringify(actor.getPersistedSnapshot(), (key, item: unknown) => (key === 'ms' ? 0 : item)));
    actor.start();
    save();
    actor.send({ type: 'user.message', id: 'm', content: 'Pay.' });
    save();
    await waitFor(actor, (snapshot) => snapshot.hasTag('waiting'));
    save();
    actor.stop();
    return texts;
  };
  expect(await saved((machine) => machine)).toEqual(await saved((machine) => machine.provide({})));
});
