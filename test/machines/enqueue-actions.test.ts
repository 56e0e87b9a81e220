import { expect, test } from 'vitest';
import { createActor, createMachine, enqueueActions as original } from 'xstate';
import { enqueueActions } from '../../src/machines/enqueue-actions.ts';

const run = (enqueueing: typeof original) => {
  const told: unknown[] = [];
  const inner = enqueueing(({ enqueue }) => {
    enqueue.assign(({ context }) => ({ steps: [...(context['steps'] as string[]), 'inner'] }));
  });
  const machine = createMachine({
    context: { steps: [] as string[] },
    on: {
      go: {
        actions: enqueueing(({ context, event, enqueue, self }) => {
          told.push(context, event.type, self.id);
          enqueue.assign({ steps: ['first'] });
          enqueue(inner as never);
          enqueue.emit({ type: 'said' });
          enqueue.raise({ type: 'again' });
        }),
      },
      again: {
        actions: enqueueing(({ context, enqueue }) => {
          enqueue.assign({ steps: [...context.steps, 'again'] });
        }),
      },
    },
  });
  const actor = createActor(machine, { id: 'one' });
  actor.on('*', (event) => told.push(event));
  actor.start().send({ type: 'go' });
  return { told, steps: actor.getSnapshot().context.steps };
};

test('what is enqueued is done as XState itself does it, also by actions that are enqueued', () => {
  expect(run(enqueueActions)).toEqual(run(original));
  expect(run(enqueueActions).steps).toEqual(['first', 'inner', 'again']);
});

test('XState still asks an action that enqueues others for what it does by "resolve"', () => {
  const collect = () => undefined;
  expect(original(collect)).toHaveProperty('resolve', expect.any(Function));
  expect(Reflect.get(enqueueActions(collect), 'resolve')).not.toBe(Reflect.get(original(collect), 'resolve'));
});
