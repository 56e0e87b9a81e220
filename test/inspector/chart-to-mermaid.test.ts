import * as fc from 'fast-check';
import { createMachine } from 'xstate';
import { expect, test } from 'vitest';
import { chartToMermaid } from '../../src/inspector/index.ts';
import { anyConfig, corners, loop } from './machines.ts';

test('a nested machine becomes composites with arrows between them', () => {
  expect(chartToMermaid(loop)).toMatchInlineSnapshot(`
    "stateDiagram-v2
      direction TB
      state "idle" as s_loop_idle
      state "thinking" as s_loop_thinking {
        state "asking" as s_loop_thinking_asking
        s_loop_thinking_asking : invoke model
        state "backing-off" as s_loop_thinking_backing_off
        state "any state" as any_s_loop_thinking
        any_s_loop_thinking : message / queue
        [*] --> s_loop_thinking_asking
        s_loop_thinking_asking --> s_loop_thinking_backing_off : error#58; model [mayRetry(3)]
        s_loop_thinking_backing_off --> s_loop_thinking_asking : after 1000
      }
      state "acting" as s_loop_acting
      state "observing" as s_loop_observing
      state "done" as s_loop_done {
        state "answered" as s_loop_done_answered
        state "failed" as s_loop_done_failed
        state "stopped" as s_loop_done_stopped
        [*] --> s_loop_done_answered
      }
      state "closed" as s_loop_closed
      s_loop_closed --> [*]
      state "any state" as any_s_loop
      [*] --> s_loop_idle
      any_s_loop --> s_loop_closed : close
      s_loop_idle --> s_loop_thinking : message
      s_loop_thinking --> s_loop_done : stop<br/>→ stopped
      s_loop_thinking --> s_loop_acting : done#58; model [hasCalls]
      s_loop_thinking --> s_loop_done : done#58; model [else]<br/>→ answered
      s_loop_thinking --> s_loop_done : error#58; model [else]<br/>→ failed
      s_loop_acting --> s_loop_observing : [allSettled]
      s_loop_observing --> s_loop_thinking : [withinLimits]
      s_loop_observing --> s_loop_done : [else]<br/>→ failed
      s_loop_done --> s_loop_thinking : message
    "
  `);
});

test('regions are divided, and what crosses them is told in words', () => {
  expect(chartToMermaid(corners)).toMatchInlineSnapshot(`
    "stateDiagram-v2
      direction TB
      state "corners" as s_corners {
        state "left" as s_corners_left {
          state "a" as s_corners_left_a
          state "b" as s_corners_left_b
          s_corners_left_b : both → y
          state "end" as s_corners_left_end_
          s_corners_left_end_ --> [*]
          state "any state" as any_s_corners_left
          any_s_corners_left : done / log
          [*] --> s_corners_left_a
          any_s_corners_left --> s_corners_left_b : again
          any_s_corners_left --> s_corners_left_a : whole
          s_corners_left_a --> s_corners_left_b : x #60;b#62;#34;q#34;#60;/b#62; #38; #58; #59; #35;1
          s_corners_left_a --> s_corners_left_a : loop
          s_corners_left_b --> s_corners_left_a : up<br/>both
          s_corners_left_b --> s_corners_left_end_ : after 1000
        }
        --
        state "right" as s_corners_right {
          state "deep" as s_corners_right_deep {
            state "x" as s_corners_right_deep_x
            state "y" as s_corners_right_deep_y
            s_corners_right_deep_y : nope / nothing
            state "H#42;" as s_corners_right_deep_h
            state "any state" as any_s_corners_right_deep
            [*] --> s_corners_right_deep_x
            any_s_corners_right_deep --> s_corners_right_deep_y : jump
            s_corners_right_deep_x --> s_corners_right_deep_y : next
          }
          state "note" as s_corners_right_note
          s_corners_right_note : invoke child
          s_corners_right_note : snapshot#58; child / log
          state "any state" as any_s_corners_right
          any_s_corners_right : #42; / log
          [*] --> s_corners_right_deep
          s_corners_right_deep --> s_corners_right_note : [ok]
          s_corners_right_note --> s_corners_right_deep : back<br/>→ H#42;
        }
        --
        state "any state" as any_s_corners
        any_s_corners : ping / log
        any_s_corners : reset → a
      }
    "
  `);
});

test('transitions that go nowhere can be left out, and the direction chosen', () => {
  const text = chartToMermaid(loop, { internal: false, direction: 'LR' });
  expect(text).toContain('direction LR');
  expect(text).not.toContain('queue');
});

test('names that Mermaid keeps for itself or that differ only in signs stay apart', () => {
  const text = chartToMermaid(
    createMachine({ id: 'm', initial: 'end', states: { end: {}, start: {}, 'a-b': {}, 'a.b': {}, a_b: {} } }),
  );
  const names = [...text.matchAll(/as (\S+)/g)].map(([, name]) => name);
  expect(names).toEqual(['s_m_end_', 's_m_start_', 's_m_a_b', 's_m_a_b_2', 's_m_a_b_3']);
});

test('for any machine each arrow stays inside the composite that holds both of its ends', () => {
  fc.assert(
    fc.property(anyConfig, (config) => {
      const open: Set<string>[] = [new Set()];
      const arrows: [string, string, Set<string>][] = [];
      for (const line of chartToMermaid(createMachine(config))
        .split('\n')
        .map((text) => text.trim())) {
        const scope = open.at(-1) ?? new Set();
        const state = /^state ".*" as (\S+)( \{)?$/.exec(line);
        const arrow = /^(\S+) --> (\S+)/.exec(line);
        if (state?.[1] !== undefined) scope.add(state[1]);
        if (state?.[2] !== undefined) open.push(new Set());
        else if (line === '}') open.pop();
        else if (arrow !== null) arrows.push([arrow[1] ?? '', arrow[2] ?? '', scope]);
      }
      expect(open).toHaveLength(1);
      for (const [from, to, scope] of arrows) {
        expect(from === '[*]' || scope.has(from)).toBe(true);
        expect(to === '[*]' || scope.has(to)).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});
