import { expect, test } from 'vitest';
import { type EventObject, assign, createActor, createMachine, enqueueActions, fromCallback, stopChild } from 'xstate';
import { stopChildren } from '../../src/machines/stop-children.ts';

/** What XState does with an action of its own. */
type Resolve = (scope: unknown, snapshot: { children: object }, ...rest: unknown[]) => unknown;

const ids = Array.from({ length: 50 }, (_, index) => `call ${index}`);

/** A machine with 50 children and one that stays; how many of them stopped, and how long the list was at each stop. */
const stopAll = () => {
  const lengths: number[] = [];
  const stopped: string[] = [];
  const child = fromCallback<EventObject, string>(
    ({ input }) =>
      () =>
        stopped.push(input),
  );
  const machine = createMachine({
    context: {},
    entry: assign(({ spawn }) => {
      for (const id of [...ids, 'stays']) spawn(child, { id, input: id });
      return {};
    }),
    on: {
      stop: {
        actions: enqueueActions(({ enqueue, self }) => {
          for (const stop of stopChildren([...ids, 'never was'], self.getSnapshot())) {
            const action = stop as unknown as { resolve: Resolve };
            const { resolve } = action;
            action.resolve = (scope, snapshot, ...rest) => {
              const next = resolve(scope, snapshot, ...rest) as [{ children: object }];
              lengths.push(Object.keys(next[0].children).length);
              return next;
            };
            enqueue(stop);
          }
        }),
      },
    },
  });
  const actor = createActor(machine).start();
  actor.send({ type: 'stop' });
  return { left: Object.keys(actor.getSnapshot().children), stopped, lengths };
};

test('children are stopped together, each once, and those that are not named stay', () => {
  const { left, stopped } = stopAll();
  expect(left).toEqual(['stays']);
  expect(stopped).toEqual(ids);
});

test('XState still asks an action for what it does by "resolve": the first stop takes all from the list', () => {
  expect(stopChild('call 1')).toHaveProperty('resolve', expect.any(Function));
  expect(stopAll().lengths).toEqual(ids.map(() => 1));
});
