import * as fc from 'fast-check';
import { createMachine } from 'xstate';
import { expect, test } from 'vitest';
import { chartOf, chartToMermaid, chartToSvg } from '../../src/inspector/index.ts';
import { drawingOf } from '../../src/inspector/drawing.ts';
import type { Point, Rect } from '../../src/inspector/layers.ts';
import { layoutOf, type Layout } from '../../src/inspector/layout.ts';
import { anyConfig, corners, loop } from './machines.ts';

const overlaps = (a: Rect, b: Rect): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const holds = (outer: Rect, inner: Rect): boolean =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

const touches = ({ x, y }: Point, box: Rect): boolean =>
  x > box.x - 1 && x < box.x + box.width + 1 && y > box.y - 1 && y < box.y + box.height + 1;

const between = (a: Point, b: Point): Rect => ({
  x: Math.min(a.x, b.x),
  y: Math.min(a.y, b.y),
  width: Math.abs(a.x - b.x),
  height: Math.abs(a.y - b.y),
});

/** What is wrong with a picture, in words. */
const faults = ({ boxes, arrows, width, height }: Layout): string[] => {
  const found: string[] = [];
  const byId = new Map(boxes.map((box) => [box.id, box]));
  for (const [index, box] of boxes.entries()) {
    const parent = byId.get(box.parent ?? '') ?? { x: 0, y: 0, width, height };
    if (!holds(parent, box)) found.push(`${box.id} is outside of its parent`);
    for (const other of boxes.slice(index + 1)) {
      if (other.parent === box.parent && overlaps(box, other)) found.push(`${box.id} overlaps ${other.id}`);
      if (other.parent === box.id && overlaps(box.text, other)) found.push(`${other.id} covers the name of ${box.id}`);
    }
  }
  for (const { kind, from, to, points } of arrows) {
    const [start, end] = [points[0], points.at(-1)];
    const source = byId.get(from);
    const target = byId.get(to);
    if (!start || !end || !source || !target) found.push(`${from} → ${to} has no ends`);
    else {
      if (!touches(start, kind === 'between' ? source : source.text))
        found.push(`${from} → ${to} does not start at its source`);
      if (!touches(end, target)) found.push(`${from} → ${to} does not end at its target`);
      const others = boxes.filter(({ id, hasInside }) => id !== from && id !== to && !hasInside);
      for (const [index, point] of points.slice(1).entries()) {
        const part = between(points[index] ?? point, point);
        for (const { id } of others.filter((box) => overlaps(part, box)))
          found.push(`${from} → ${to} goes through ${id}`);
      }
    }
  }
  return found;
};

test.each([loop, corners])('boxes are apart, and arrows end at them and go around the others: $id', (machine) => {
  expect(faults(layoutOf(drawingOf(chartOf(machine))))).toEqual([]);
});

test('for any machine boxes are apart and inside their parents, and arrows end at boxes and go through none', () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      expect(faults(layoutOf(drawingOf(chartOf(createMachine(config)))))).toEqual([]);
    }),
    { numRuns: 80 },
  );
});

test('the picture needs nothing from elsewhere and follows the viewer between light and dark', () => {
  const svg = chartToSvg(loop);
  expect(svg).toContain('@media (prefers-color-scheme:dark)');
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\((?!#)|<script|@import/);
});

test('a screen reader hears the title, and the description of a state', () => {
  const svg = chartToSvg(loop, { title: 'The <loop>' });
  expect(svg).toMatch(/^<svg [^>]*role="img" aria-label="The &lt;loop&gt;"/);
  expect(svg).toContain('<title>The &lt;loop&gt;</title>');
  expect(svg).toContain('<title>Nothing &lt;yet&gt;</title>');
});

test('text of the machine never becomes markup', () => {
  const svg = chartToSvg(createMachine({ id: 'm', on: { 'a<script>"&\u0000': { actions: '</svg>' } } }));
  expect(svg).toContain('a&lt;script&gt;&quot;&amp;\ufffd / &lt;/svg&gt;');
  expect(svg.match(/<\/svg>/g)).toHaveLength(1);
});

test('nothing in a name turns the reading order of what stands there', () => {
  const config = {
    initial: 'a\u202eb',
    states: { 'a\u202eb': { description: 'd\u2067', on: { 'e\u2066f': 'c' } }, c: {} },
  };
  const machine = createMachine({ id: 'm', ...config });
  for (const text of [chartToSvg(machine), chartToMermaid(machine)]) {
    expect(text).not.toMatch(/\p{Bidi_Control}|#8238;|#8294;/u);
    expect(text).toMatch(/a(\ufffd|#65533;)b/);
  }
});

test('each state and each transition with a target is marked with its id', () => {
  const svg = chartToSvg(corners);
  const { nodes, edges } = chartOf(corners);
  expect(nodes.filter(({ id }) => !svg.includes(`data-state="${id}"`))).toEqual([]);
  const marked = [...svg.matchAll(/data-edges="([^"]*)"/g)].flatMap(([, ids]) =>
    JSON.parse((ids ?? '').replaceAll('&quot;', '"')),
  );
  const drawn = edges.filter(({ target }) => target !== null).map(({ id }) => id);
  expect(
    drawn.filter(
      (id) =>
        !marked
          .map((mark) => mark.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
          .includes(id),
    ),
  ).toEqual([]);
});

test('the same machine gives the same text', () => {
  expect(chartToSvg(loop)).toBe(chartToSvg(loop));
});

test('transitions that go nowhere can be left out', () => {
  expect(chartToSvg(loop)).toContain('message / queue');
  expect(chartToSvg(loop, { internal: false })).not.toContain('queue');
});
