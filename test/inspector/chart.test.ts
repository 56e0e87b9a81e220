import { type AnyStateMachine, and, createActor, createMachine, not, stateIn } from 'xstate';
import { expect, test } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { chartOf, chartToMermaid, chartToSvg, type Chart, type ChartEdge } from '../../src/inspector/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { corners, loop } from './machines.ts';

const told = ({ edges }: Chart): string[] =>
  edges.map(({ source, target, kind, label, guard }) =>
    [source, kind, label, guard === null ? '' : `[${guard}]`, target ?? '-'].join(' '),
  );

const edge = (chart: Chart, label: string): ChartEdge | undefined => chart.edges.find((item) => item.label === label);

test('every transition of a nested machine is an edge', () => {
  expect(told(chartOf(loop))).toMatchInlineSnapshot(`
    [
      "loop on close  loop.closed",
      "loop.idle on message  loop.thinking",
      "loop.thinking on stop  loop.done.stopped",
      "loop.thinking on message  -",
      "loop.thinking.asking done done: model [hasCalls] loop.acting",
      "loop.thinking.asking done done: model  loop.done.answered",
      "loop.thinking.asking error error: model [mayRetry(3)] loop.thinking.backing-off",
      "loop.thinking.asking error error: model  loop.done.failed",
      "loop.thinking.backing-off after after 1000  loop.thinking.asking",
      "loop.acting always  [allSettled] loop.observing",
      "loop.observing always  [withinLimits] loop.thinking",
      "loop.observing always   loop.done.failed",
      "loop.done on message  loop.thinking",
    ]
  `);
});

test('regions, history, self-transitions and transitions to nowhere are told as they are', () => {
  expect(told(chartOf(corners))).toMatchInlineSnapshot(`
    [
      "corners on reset  corners.left.a",
      "corners on ping  -",
      "corners.left on again  corners.left.b",
      "corners.left on whole  corners.left",
      "corners.left done done  -",
      "corners.left.a on x <b>"q"</b> & : ; #1  corners.left.b",
      "corners.left.a on loop  corners.left.a",
      "corners.left.b on up  corners.left",
      "corners.left.b on both  corners.left.a",
      "corners.left.b on both  corners.right.deep.y",
      "corners.left.b after after 1000  corners.left.end",
      "corners.right on *  -",
      "corners.right.deep on jump  corners.right.deep.y",
      "corners.right.deep.x on next  corners.right.deep.y",
      "corners.right.deep.y always  [ok] corners.right.note",
      "corners.right.deep.y forbidden nope  -",
      "corners.right.note on back  corners.right.deep.h",
      "corners.right.note snapshot snapshot: child  -",
    ]
  `);
});

test('nodes tell type, parent, first child, actors, tags and description', () => {
  const { nodes } = chartOf(loop);
  const find = (id: string): unknown => nodes.find((node) => node.id === id);
  expect(find('loop.thinking')).toEqual({
    id: 'loop.thinking',
    key: 'thinking',
    type: 'compound',
    parent: 'loop',
    initial: 'loop.thinking.asking',
    invokes: [],
    tags: ['busy'],
    description: null,
  });
  expect(find('loop.thinking.asking')).toMatchObject({ type: 'atomic', invokes: [{ id: 'model', src: 'model' }] });
  expect(find('loop.closed')).toMatchObject({ type: 'final', initial: null });
  expect(find('loop.idle')).toMatchObject({ description: 'Nothing <yet>' });
  const history = chartOf(corners).nodes.find(({ key }) => key === 'h');
  expect(history).toMatchObject({ type: 'deep-history', initial: 'corners.right.deep.y' });
});

test('a transition with two targets is two edges with different ids', () => {
  const both = chartOf(corners).edges.filter(({ label }) => label === 'both');
  expect(both.map(({ target }) => target)).toEqual(['corners.left.a', 'corners.right.deep.y']);
  expect(new Set(both.map(({ id }) => id)).size).toBe(2);
});

test('edge ids are unique in a chart', () => {
  for (const machine of [loop, corners]) {
    const ids = chartOf(machine).edges.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  }
});

test('internal says that the source is neither left nor entered again', () => {
  const chart = chartOf(corners);
  const internal = (label: string): boolean | undefined => edge(chart, label)?.internal;
  expect({
    again: internal('again'),
    jump: internal('jump'),
    loop: internal('loop'),
    up: internal('up'),
    ping: internal('ping'),
  }).toEqual({
    again: false,
    jump: true,
    loop: false,
    up: false,
    ping: true,
  });
});

test('guards and actions are told by name, inline ones as inline', () => {
  const chart = chartOf(
    createMachine({
      id: 'm',
      on: {
        a: { guard: 'named', actions: ['one', { type: 'two' }] },
        b: { guard: and(['named', not('other'), stateIn('x')]), actions: () => {} },
        c: { guard: () => true, actions: 'one' },
        d: { guard: { type: 'above', params: { limit: 3 } }, actions: 'one' },
      },
    }),
  );
  expect(chart.edges.map(({ guard, actions }) => [guard, actions])).toEqual([
    ['named', ['one', 'two']],
    ['and(named, not(other), in x)', ['inline']],
    ['inline', ['one']],
    ['above(3)', ['one']],
  ]);
});

test('states with ids of their own and actors without ids or names are told', () => {
  const chart = chartOf(
    createMachine({
      id: 'm',
      initial: 'a',
      states: {
        a: { id: 'first', invoke: { src: createMachine({}), onDone: 'b' }, after: { 0.5: 'b', later: 'b' } },
        b: { invoke: { src: 'named', onError: '#first' } },
      },
    }),
  );
  expect(told(chart)).toEqual([
    'first done done: child  m.b',
    'first after after 0.5  m.b',
    'first after after later  m.b',
    'm.b error error: named  first',
  ]);
});

test('a chart is plain JSON', () => {
  const chart = chartOf(corners);
  expect(JSON.parse(JSON.stringify(chart))).toEqual(chart);
});

test('a machine without states is a chart of one node', () => {
  expect(chartOf(createMachine({ id: 'm' }))).toMatchObject({
    id: 'm',
    nodes: [{ id: 'm', type: 'atomic' }],
    edges: [],
  });
});

test.each<[string, unknown, string]>([
  ['a chart', chartOf(loop), 'the chart that chartOf gave of it'],
  ['an agent', createAgent({ model: scriptedModel([]) }), 'the agent around it'],
  ['an actor', createActor(loop), 'an actor of it'],
  ['nothing', null, 'null'],
  ['a text', 'agent', 'string'],
])('%s in the place of the machine is told, with what to give', (_, given, what) => {
  for (const [name, draw] of Object.entries({ chartOf, chartToSvg, chartToMermaid }))
    expect(() => draw(given as AnyStateMachine)).toThrow(
      expect.objectContaining({
        code: 'invalid-option',
        message: `${name}: needs the machine itself, such as agent.machine, and got ${what}`,
      }),
    );
});
