import { expect, test } from 'vitest';
import { createActor, createMachine, initialTransition, transition } from 'xstate';
import { takeStep } from '../../src/machines/step-scope.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const stepping = (machine: ReturnType<typeof createMachine>): typeof machine =>
  Object.create(machine, {
    transition: {
      value: (...[snapshot, event, scope]: Parameters<typeof machine.transition>) =>
        takeStep(scope, (own) => machine.transition(snapshot, event, own)),
    },
  }) as typeof machine;

test('an action that makes another actor take a step goes on in its own afterwards', () => {
  const done: string[] = [];
  const act = (name: string, run?: () => void) => [
    () => {
      done.push(`${name} begins`);
      run?.();
    },
    ({ self }: { self: { id: string } }) => done.push(`${name} ends in ${self.id}`),
  ];
  const inner = createActor(stepping(createMachine({ on: { go: { actions: act('inner') } } })), { id: 'two' }).start();
  const outer = createActor(
    stepping(createMachine({ on: { go: { actions: act('outer', () => inner.send({ type: 'go' })) } } })),
    { id: 'one' },
  ).start();
  outer.send({ type: 'go' });
  expect(done).toEqual(['outer begins', 'inner begins', 'inner ends in two', 'outer ends in one']);
});

test('who takes the steps of an agent himself gets its actions', () => {
  const { machine } = createAgent({ model: scriptedModel(['Hello.']) });
  const [idle] = initialTransition(machine, { sessionId: 'one' });
  const [next, actions] = transition(machine, idle, { type: 'user.message', content: 'Hello?' });
  expect(next.value).toEqual({ thinking: 'asking' });
  expect(actions.map(({ type }) => type)).toContain('xstate.spawnChild');
});
