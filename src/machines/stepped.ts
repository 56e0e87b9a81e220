import type { AnyActorScope, AnyStateMachine } from 'xstate';
import { type Event, type Snapshot, type Taking, given, knowsActions, perform, stop } from './perform.ts';
import { type Choice, type Node, type Place, type Transition, type Way, firstWay, placeOf, valueOf } from './way.ts';

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

/** XState has its own words for a guard that throws while it looks for who takes an event. */
const takes = (choices: readonly Choice[] | undefined, snapshot: Snapshot, event: Event): Choice | undefined => {
  try {
    return chosen(choices, snapshot.context, event);
  } catch (error) {
    snapshot.machine.getTransitionData(snapshot as never, event);
    throw error;
  }
};

/** What XState does with the others is not to look for a transition, or not at first. */
const isUsual = (event: Event | null): boolean =>
  typeof event?.type === 'string' &&
  event.type !== '*' &&
  event.type !== 'xstate.init' &&
  !event.type.startsWith('xstate.error.actor');

/** Goes a way: gives the same snapshot where nothing has changed. */
const go = (before: Snapshot, way: Way, event: Event, scope: AnyActorScope, queue: Event[]): Snapshot => {
  const taking: Taking = { now: { ...before }, hasOwnChildren: false, event, scope, queue };
  const { now } = taking;
  perform(taking, way.actions);
  if (way.to === undefined) return now.context === before.context && now.children === before.children ? before : now;
  now._nodes = way.to._nodes;
  // Of its own, as each of XState's has them: what is done to one of them is done to no other.
  now.value = valueOf(way.to._nodes);
  now.tags = new Set(way.to.tags);
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

const stopAll = ({ children, context }: Snapshot, event: Event, scope: AnyActorScope): void => {
  const { self, system } = scope;
  for (const child of Object.values(children)) stop(scope, child, { context, event, self, system });
};

/**
 * The same machine, whose steps are now taken as XState takes them, at a fraction of the price: what a transition leaves and enters is worked out once and not
 * each time, and a step makes one snapshot and not one for each state entered and each assignment. For charts as ours are: see `placeOf`.
 * Nothing changes where XState has come to be another. XState itself takes what is no usual step: see `isUsual`.
 */
export const stepped = <T extends AnyStateMachine>(machine: T): T => {
  if (!knowsActions || !(machine.root.transitions instanceof Map)) return machine;
  const first = firstWay(machine);
  const blank = machine.resolveState({ value: {}, context: {} } as never) as unknown as Snapshot;
  const own = { microstep: machine.microstep.bind(machine), transition: machine.transition };
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
      const choice: Choice | undefined = following ?? takes(on.get(event.type), now, event);
      const next: Snapshot = choice === undefined ? now : go(now, choice.way(), event, scope, queue);
      mayFollow = following === undefined || next !== now;
      now = note(steps, next, event, scope, choice === undefined ? [] : [choice.transition]);
    }
    if (event !== undefined && now.status !== 'active') stopAll(now, event, scope);
    return now;
  };
  const isOurs = (begun: Snapshot | undefined, event: Event): boolean =>
    begun?.status === 'active' && begun.machine === machine && isUsual(event);
  const steps = (begun: Snapshot, event: Event, scope: AnyActorScope): Snapshot[] => {
    const taken: Snapshot[] = [];
    // Every call is stopped once.
    if (event.type === 'xstate.stop') {
      stopAll(begun, event, scope);
      note(taken, { ...begun, children: {}, status: 'stopped' }, event, scope, []);
    } else settle(begun, [event], scope, { steps: taken });
    return taken;
  };
  const getInitialSnapshot = (scope: AnyActorScope, input: unknown): Snapshot => {
    const begun: Snapshot = { ...blank, children: {} };
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
  return Object.defineProperties(machine, {
    getInitialSnapshot: { value: getInitialSnapshot },
    microstep: {
      value: (begun: Snapshot, event: Event, scope: AnyActorScope) =>
        isOurs(begun, event) ? steps(begun, event, scope) : own.microstep(begun as never, event, scope),
    },
    transition: {
      value: (begun: Snapshot, event: Event, scope: AnyActorScope) =>
        isOurs(begun, event) ? steps(begun, event, scope).at(-1) : own.transition(begun as never, event, scope),
    },
  });
};
