import { type AnyActorRef, type InspectionEvent, type Snapshot, createActor } from 'xstate';
import type { AgentInput } from '../../machines/agent-context.ts';
import type { AgentMachine } from '../../machines/agent.ts';
import { type Choice, type ChoiceRules, choicesOf, take } from './choices.ts';
import { type Fault, faultsAt, faultsWithin } from './invariants.ts';
import { type Persisted, keyOf } from './state-key.ts';

/** One state of a session, and how it was reached first. */
export interface Place {
  /** The chart's own name of the state, such as `thinking.asking`. */
  state: string;
  tags: ReadonlySet<string>;
  isOver: boolean;
  from: Place | undefined;
  by: string;
  choices: readonly Choice[];
  /** Where each choice leads, by its index; absent where it was not tried. */
  next: Place[];
  /** Steps of work since somebody outside did something. */
  run: number;
}

export interface Walk {
  places: Place[];
  /** Transitions that were taken, of all charts. */
  taken: Set<object>;
  visited: Set<string>;
  faults: (Fault & { at: Place })[];
  isComplete: boolean;
}

export interface WalkRules extends ChoiceRules {
  maxStates: number;
  /** Steps of work in a row after which a turn counts as endless. */
  maxRun: number;
}

interface Todo {
  place: Place;
  index: number;
  saved: Snapshot<unknown>;
}

export const nameOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return Object.entries(value as Record<string, unknown>)
    .map(([key, inner]) => `${key}.${nameOf(inner)}`)
    .join(' & ');
};

/**
 * Goes everywhere that a session can get to: each state once, each thing that may happen in it once. The real actors run, with scripted
 * effects; they are made again from what they persist, so the way goes through a restore at every step.
 *
 * What works is followed first and to its end, what comes from outside afterwards and breadth first: a turn that never ends shows itself
 * at once, and histories stay short.
 */
export const walk = (machine: AgentMachine, inputs: readonly AgentInput[], rules: WalkRules): Walk => {
  const known = new Map<string, Place>();
  const result: Walk = { places: [], taken: new Set(), visited: new Set(), faults: [], isComplete: true };
  const work: Todo[] = [];
  const outside: Todo[] = [];
  let within: Fault[] = [];

  const inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) result.taken.add(transition);
    const { _nodes: nodes } = event.snapshot as unknown as { _nodes: { id: string }[] };
    for (const { id } of nodes) result.visited.add(id);
    within.push(...faultsWithin(event.snapshot));
  };

  const arrive = (actor: AnyActorRef, from: Place | undefined, choice: Choice | undefined): Place => {
    const found = [...within, ...faultsAt(actor)];
    within = [];
    const persisted = actor.getPersistedSnapshot() as unknown as Persisted;
    const key = keyOf(persisted);
    const before = known.get(key);
    if (before !== undefined && found.length === 0) return before;
    const snapshot = actor.getSnapshot() as { status: string; value: unknown; tags: Set<string> };
    const place: Place = {
      state: nameOf(snapshot.value),
      tags: snapshot.tags,
      isOver: snapshot.status !== 'active',
      from,
      by: choice?.label ?? 'the start',
      choices: choicesOf(actor, rules),
      next: [],
      run: choice?.kind === 'work' ? (from?.run ?? 0) + 1 : 0,
    };
    for (const fault of found) result.faults.push({ ...fault, at: place });
    if (before !== undefined) return before;
    known.set(key, place);
    result.places.push(place);
    const saved = JSON.parse(JSON.stringify(persisted)) as Snapshot<unknown>;
    place.choices.forEach(({ kind }, index) => {
      (kind === 'work' ? work : outside).push({ place, index, saved });
    });
    return place;
  };

  const begin = (options: { input: AgentInput | undefined; snapshot?: Snapshot<unknown> }): AnyActorRef => {
    const actor = createActor(machine, { ...options, inspect });
    // What breaks a chart is looked for in its snapshot.
    actor.subscribe({ error: () => undefined });
    return actor.start();
  };

  for (const input of inputs) arrive(begin({ input }), undefined, undefined);
  for (let head = 0; work.length > 0 || head < outside.length;) {
    if (result.faults.length > 0 || result.places.length > rules.maxStates) {
      result.isComplete = false;
      break;
    }
    const todo = work.pop() ?? outside[head++];
    if (todo === undefined) break;
    const { place, index, saved } = todo;
    const choice = place.choices[index];
    if (choice === undefined) continue;
    const actor = begin({ input: undefined, snapshot: saved });
    within = [];
    take(actor, choice);
    const next = arrive(actor, place, choice);
    place.next[index] = next;
    if (next.run > rules.maxRun) {
      result.faults.push({ rule: 'endless', message: `${rules.maxRun} steps without anybody outside`, at: next });
    }
  }
  return result;
};
