import type { AnyActorScope, AnyStateMachine } from 'xstate';
import { type Event, type Snapshot, type Taking, given, knowsActions, perform, stop } from './perform.ts';
import { type Choice, type Node, type Place, type Transition, type Way, firstWay, placeOf } from './way.ts';

/** The innermost of the active states: they are a line, from the root down. */
const leafOf = ({ _nodes: nodes }: Snapshot): Node | undefined => nodes[nodes.length - 1];

/** The first that nothing stands in the way of. */
const chosen = (choices: readonly Choice[] | undefined, context: object, event: Event): Choice | undefined => {
  if (choices === undefined) return undefined;
  for (const choice of choices) {
    const { holds, params } = choice;
    if (holds === undefined) return choice;
    const args = { context, event };
    if (holds(args, given(params, args))) return choice;
  }
  return undefined;
};

/** Goes a way: gives the same snapshot where nothing has changed. */
const go = (before: Snapshot, way: Way, event: Event, scope: AnyActorScope, queue: Event[]): Snapshot => {
  const taking: Taking = { now: { ...before }, hasOwnChildren: false, event, scope, queue };
  const { now } = taking;
  perform(taking, way.actions);
  if (way.to === undefined) return now.context === before.context && now.children === before.children ? before : now;
  now._nodes = way.to._nodes;
  now.value = way.to.value;
  now.tags = way.to.tags;
  if (!way.isFinal) return now;
  now.status = 'done';
  const { output } = now.machine.root as { output?: (args: object) => unknown };
  now.output = output?.({ context: now.context, event, self: scope.self });
  return now;
};

/** Tells whoever inspects, and the list. */
const note = (
  steps: Snapshot[],
  snapshot: Snapshot,
  event: Event,
  scope: AnyActorScope,
  transitions: Transition[],
): Snapshot => {
  const { _sendInspectionEvent: tell } = scope.system as unknown as { _sendInspectionEvent(event: object): void };
  tell({ type: '@xstate.microstep', actorRef: scope.self, event, snapshot, _transitions: transitions });
  steps.push(snapshot);
  return snapshot;
};

const nowhere: Place = { always: [], on: new Map() };

const stopAll = ({ children }: Snapshot, scope: AnyActorScope): void => {
  for (const child of Object.values(children)) stop(scope, child);
};

/**
 * The machine, whose steps are taken as XState takes them, at a fraction of the price: what a transition leaves and enters is worked out once and not
 * each time, and a step makes one snapshot and not one for each state entered and each assignment. For charts as ours are: see `placeOf`.
 * The machine itself where XState has come to be another.
 */
export const stepped = <T extends AnyStateMachine>(machine: T): T => {
  if (!knowsActions || !(machine.root.transitions instanceof Map)) return machine;
  const first = firstWay(machine);
  const blank = machine.resolveState({ value: {}, context: {} } as never) as unknown as Snapshot;
  const places = new Map<Node | undefined, Place>();
  const placeNow = (snapshot: Snapshot): Place => {
    const leaf = leafOf(snapshot);
    let place = places.get(leaf);
    if (place === undefined) {
      place = leaf === undefined ? nowhere : placeOf(machine, leaf);
      places.set(leaf, place);
    }
    return place;
  };
  /** All that follows by itself, from events that are heard and from the states that are come to. */
  const settle = (
    begun: Snapshot,
    queue: Event[],
    scope: AnyActorScope,
    { heard, steps }: { heard?: Event; steps: Snapshot[] },
  ): Snapshot => {
    let now = begun;
    let event = heard;
    // What is heard is taken first.
    let mayFollow = heard !== undefined;
    while (now.status === 'active') {
      const { always, on }: Place = placeNow(now);
      const following: Choice | undefined =
        mayFollow && event !== undefined ? chosen(always, now.context, event) : undefined;
      if (following === undefined) event = queue.shift();
      if (event === undefined) break;
      const choice: Choice | undefined = following ?? chosen(on.get(event.type), now.context, event);
      const next: Snapshot = choice === undefined ? now : go(now, choice.way(), event, scope, queue);
      mayFollow = following === undefined || next !== now;
      now = note(steps, next, event, scope, choice === undefined ? [] : [choice.transition]);
    }
    if (now.status !== 'active') stopAll(now, scope);
    return now;
  };
  const microstep = (begun: Snapshot, event: Event, scope: AnyActorScope): Snapshot[] => {
    const steps: Snapshot[] = [];
    const isError = event.type.startsWith('xstate.error.actor');
    if (isError || event.type === 'xstate.stop') {
      stopAll(begun, scope);
      const { error } = event as { error?: unknown };
      note(steps, { ...begun, children: {}, status: isError ? 'error' : 'stopped', error }, event, scope, []);
    } else settle(begun, [event], scope, { steps });
    return steps;
  };
  const getInitialSnapshot = (scope: AnyActorScope, input: unknown): Snapshot => {
    const begun = { ...blank, children: {} };
    try {
      const { context } = machine.config as { context: (given: object) => object };
      const event = { type: 'xstate.init', input };
      const queue: Event[] = [];
      begun.context = context({ input, self: scope.self });
      return settle(go(begun, first, event, scope, queue), queue, scope, { heard: event, steps: [] });
    } catch (error) {
      return { ...begun, status: 'error', error };
    }
  };
  return Object.create(machine, {
    getInitialSnapshot: { value: getInitialSnapshot },
    microstep: { value: microstep },
    transition: {
      value: (snapshot: Snapshot, event: Event, scope: AnyActorScope) =>
        microstep(snapshot, event, scope).at(-1) ?? snapshot,
    },
  }) as T;
};
