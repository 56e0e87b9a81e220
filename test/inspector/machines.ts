import * as fc from 'fast-check';
import { createMachine } from 'xstate';

/** What a loop with nested states, guards, retries and a limit looks like. */
export const loop = createMachine({
  id: 'loop',
  initial: 'idle',
  on: { close: '.closed' },
  states: {
    idle: { description: 'Nothing <yet>', on: { message: { target: 'thinking', actions: 'add' } } },
    thinking: {
      tags: ['busy'],
      initial: 'asking',
      on: { stop: 'done.stopped', message: { actions: 'queue' } },
      states: {
        asking: {
          invoke: {
            id: 'model',
            src: 'model',
            onDone: [{ guard: 'hasCalls', target: '#loop.acting' }, { target: '#loop.done.answered' }],
            onError: [
              { guard: { type: 'mayRetry', params: { tries: 3 } }, target: 'backing-off' },
              '#loop.done.failed',
            ],
          },
        },
        'backing-off': { after: { 1000: 'asking' } },
      },
    },
    acting: { always: { guard: 'allSettled', target: 'observing' } },
    observing: { always: [{ guard: 'withinLimits', target: 'thinking' }, { target: 'done.failed' }] },
    done: { initial: 'answered', states: { answered: {}, failed: {}, stopped: {} }, on: { message: 'thinking' } },
    closed: { type: 'final' },
  },
});

/** The corners of XState: regions, history, transitions to itself, to an ancestor, to two places, to nowhere. */
export const corners = createMachine({
  id: 'corners',
  type: 'parallel',
  on: { reset: '.left.a', ping: { actions: 'log' } },
  states: {
    left: {
      initial: 'a',
      on: { again: { target: '.b', reenter: true }, whole: 'left' },
      onDone: { actions: 'log' },
      states: {
        a: { on: { 'x <b>"q"</b> & : ; #1': 'b', loop: { target: 'a', reenter: true } } },
        b: { on: { up: '#corners.left', both: ['#corners.left.a', '#corners.right.deep.y'] }, after: { 1000: 'end' } },
        end: { type: 'final' },
      },
    },
    right: {
      initial: 'deep',
      on: { '*': { actions: 'log' } },
      states: {
        deep: {
          initial: 'x',
          on: { jump: '.y' },
          states: {
            x: { on: { next: 'y' } },
            y: { always: { guard: 'ok', target: '#corners.right.note' }, on: { nope: undefined } },
            h: { type: 'history', history: 'deep', target: 'y' },
          },
        },
        note: { on: { back: 'deep.h' }, invoke: { src: 'child', onSnapshot: { actions: 'log' } } },
      },
    },
  },
});

interface Shape {
  children: Shape[];
  parallel: boolean;
}

const shapes = (depth: number): fc.Arbitrary<Shape[]> => {
  const none = fc.constant<Shape[]>([]);
  const children = depth === 0 ? none : fc.oneof({ weight: 2, arbitrary: none }, shapes(depth - 1));
  return fc.array(fc.record({ parallel: fc.boolean(), children }), { minLength: 1, maxLength: 4 });
};

const idsOf = (path: string, children: Shape[]): string[] => [
  path,
  ...children.flatMap((child, index) => idsOf(`${path}.n${index}`, child.children)),
];

/** The config of any nesting with arrows from any state to any other: down, up and across. */
export const anyConfig: fc.Arbitrary<{ id: string }> = fc
  .tuple(shapes(2), fc.array(fc.tuple(fc.nat(), fc.nat(), fc.boolean()), { maxLength: 24 }))
  .map(([roots, links]) => {
    const ids = idsOf('s', roots);
    const config = (path: string, { children, parallel }: Shape): object => {
      const own = links.filter(([from]) => ids[from % ids.length] === path);
      const on = Object.fromEntries(
        own.map(([, to, reenter], index) => [`event.${index}`, { target: `#${ids[to % ids.length]}`, reenter }]),
      );
      if (children.length === 0) return { on };
      const states = Object.fromEntries(
        children.map((child, index) => [`n${index}`, config(`${path}.n${index}`, child)]),
      );
      return parallel ? { type: 'parallel', on, states } : { initial: 'n0', on, states };
    };
    return { id: 's', ...config('s', { children: roots, parallel: false }) };
  });
