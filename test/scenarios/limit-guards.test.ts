import { describe, expect, test } from 'vitest';
import { type AnyStateMachine, type AnyStateNode, createMachine } from 'xstate';
import { shippedMachines } from '../../scripts/shipped-machines.ts';

/** Events that somebody outside sends; a cycle that needs one of them does not run by itself. */
const outside = new Set([
  'user.message',
  'approval.granted',
  'approval.rejected',
  'call.result',
  'call.cancel',
  'call.stop',
  'message.withdraw',
  'turn.stop',
  'turn.retry',
  'session.close',
]);

/** Guards that let a thing happen only so many times, each with what it counts. */
const limitGuards: Record<string, string> = {
  isWithinIterations: 'rounds of the turn',
  finalizes: 'the last call, once in a turn',
  mayRetry: 'tries',
  mayFallBack: 'fallback models',
  mayAskAgain: 'empty replies, once for each model call',
  hasQueued: 'messages that somebody sent',
  hasUnread: 'messages that somebody sent',
  someoneWorks: 'decisions of people, or their expiry: without one nothing changes while people are waited for',
};

const guardOf = (guard: unknown): string => {
  if (typeof guard === 'string') return guard;
  return typeof guard === 'object' && guard !== null && 'type' in guard ? String(guard.type) : '';
};

const firstLeaf = (node: AnyStateNode): AnyStateNode => {
  const [initial] = node.initial?.target ?? [];
  return initial === undefined ? node : firstLeaf(initial);
};

const leavesOf = (node: AnyStateNode): AnyStateNode[] => {
  const children: AnyStateNode[] = Object.values(node.states);
  return children.length === 0 ? [node] : children.flatMap(leavesOf);
};

/** Where the chart may go from each state without anybody outside and without a limit. */
const freeSteps = (machine: AnyStateMachine, limits: readonly string[]): Map<string, string[]> => {
  const steps = new Map<string, string[]>();
  for (const leaf of leavesOf(machine.root)) {
    const targets: string[] = [];
    for (let node: AnyStateNode | undefined = leaf; node !== undefined; node = node.parent) {
      for (const { eventType, guard, target } of [...node.transitions.values()].flat().concat(node.always ?? [])) {
        if (outside.has(eventType) || limits.includes(guardOf(guard))) continue;
        for (const reached of target ?? []) targets.push(firstLeaf(reached).id);
      }
    }
    steps.set(leaf.id, targets);
  }
  return steps;
};

/** A way round that crosses no limit, or undefined. */
const freeCycle = (machine: AnyStateMachine, limits: readonly string[]): string[] | undefined => {
  const steps = freeSteps(machine, limits);
  const over = new Set<string>();
  const walk = (state: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(state)) return [...path.slice(path.indexOf(state)), state];
    if (over.has(state)) return undefined;
    for (const next of steps.get(state) ?? []) {
      const found = walk(next, [...path, state]);
      if (found !== undefined) return found;
    }
    over.add(state);
    return undefined;
  };
  for (const state of steps.keys()) {
    const found = walk(state, []);
    if (found !== undefined) return found;
  }
  return undefined;
};

describe('every cycle of a chart crosses a limit', () => {
  test.each(Object.entries(shippedMachines))('R24: %s', (_, machine) => {
    expect(freeCycle(machine, Object.keys(limitGuards))).toBeUndefined();
  });

  test.each(Object.keys(limitGuards).filter((name) => name !== 'hasUnread'))(
    'R24: without the guard %s one of the charts has a cycle, so each of them is needed',
    (name) => {
      const others = Object.keys(limitGuards).filter((other) => other !== name);
      const cycles = Object.values(shippedMachines).map((machine) => freeCycle(machine, others));
      expect(cycles.some((cycle) => cycle !== undefined)).toBe(true);
    },
  );

  test('R24: an edit that opens a cycle is found', () => {
    const open = createMachine({
      initial: 'a',
      states: {
        a: { on: { 'xstate.done.actor.x': 'b' } },
        b: { initial: 'c', states: { c: { always: { guard: 'isFine', target: '#top.a' } } } },
      },
      id: 'top',
    });
    expect(freeCycle(open, [])).toEqual(['top.a', 'top.b.c', 'top.a']);
    expect(freeCycle(open, ['isFine'])).toBeUndefined();
  });
});
