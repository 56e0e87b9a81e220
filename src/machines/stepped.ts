import type { AnyActorScope, AnyStateMachine } from 'xstate';
import { type Event, type Snapshot, type Taking, perform, stop } from './perform.ts';
import { type Node, type Transition, type Way, firstWay, wayOf } from './way.ts';

const leafOf = ({ _nodes: nodes }: Snapshot): Node | undefined =>
  nodes.find(({ type }) => type === 'atomic' || type === 'final');

const isFree = ({ machine, context }: Snapshot, event: Event, { guard }: Transition): boolean => {
  if (guard === undefined) return true;
  const args = { context, event };
  const [name, params] = typeof guard === 'string' ? [guard] : [guard.type, guard.params];
  const holds = machine.implementations.guards[name] as (given: typeof args, params: unknown) => boolean;
  return holds(args, typeof params === 'function' ? (params as (given: typeof args) => unknown)(args) : params);
};

const chosen = (
  snapshot: Snapshot,
  event: Event,
  listOf: (node: Node) => readonly Transition[] | undefined,
): Transition | undefined => {
  for (let node = leafOf(snapshot); node !== undefined; node = node.parent)
    for (const transition of listOf(node) ?? []) if (isFree(snapshot, event, transition)) return transition;
  return undefined;
};

const always = (node: Node): readonly Transition[] | undefined => node.always;

/** Goes a way: gives the same snapshot where nothing has changed. */
const go = (before: Snapshot, way: Way, event: Event, scope: AnyActorScope, queue: Event[]): Snapshot => {
  const taking: Taking = { now: { ...before }, hasOwnChildren: false, event, scope, queue };
  const { now } = taking;
  perform(taking, way.actions);
  if (way.to === undefined) return now.context === before.context && now.children === before.children ? before : now;
  Object.assign(now, way.to);
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

const stopAll = ({ children }: Snapshot, scope: AnyActorScope): void => {
  for (const child of Object.values(children)) stop(scope, child);
};

/**
 * The machine, whose steps are taken as XState takes them, at a fraction of the price: what a transition leaves and enters is worked out once and not
 * each time, and a step makes one snapshot and not one for each state entered and each assignment. For charts as ours are: see `wayOf`.
 */
export const stepped = <T extends AnyStateMachine>(machine: T): T => {
  const first = firstWay(machine);
  const blank = machine.resolveState({ value: {}, context: {} } as never) as unknown as Snapshot;
  const ways = new Map<Transition, Map<Node | undefined, Way>>();
  const wayFrom = (leaf: Node | undefined, transition: Transition): Way => {
    let known = ways.get(transition);
    if (known === undefined) ways.set(transition, (known = new Map<Node | undefined, Way>()));
    let way = known.get(leaf);
    if (way === undefined && leaf !== undefined) known.set(leaf, (way = wayOf(leaf, transition)));
    return way ?? { actions: [], isFinal: false };
  };
  /** All that follows from an event by itself, from where the event itself has led. */
  const settle = (begun: Snapshot, heard: Event, scope: AnyActorScope, queue: Event[], steps: Snapshot[]): Snapshot => {
    let now = begun;
    let event = heard;
    let mayFollow = true;
    while (now.status === 'active') {
      const following: Transition | undefined = mayFollow ? chosen(now, event, always) : undefined;
      const raised = following === undefined ? queue.shift() : undefined;
      if (following === undefined && raised === undefined) break;
      event = raised ?? event;
      const transition: Transition | undefined =
        following ?? chosen(now, event, ({ transitions }) => transitions.get(event.type));
      const next: Snapshot =
        transition === undefined ? now : go(now, wayFrom(leafOf(now), transition), event, scope, queue);
      mayFollow = following === undefined || next !== now;
      now = note(steps, next, event, scope, transition === undefined ? [] : [transition]);
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
      return steps;
    }
    const queue: Event[] = [];
    const transition = chosen(begun, event, ({ transitions }) => transitions.get(event.type));
    const now = transition === undefined ? begun : go(begun, wayFrom(leafOf(begun), transition), event, scope, queue);
    note(steps, now, event, scope, transition === undefined ? [] : [transition]);
    settle(now, event, scope, queue, steps);
    return steps;
  };
  const getInitialSnapshot = (scope: AnyActorScope, input: unknown): Snapshot => {
    const begun = { ...blank, children: {} };
    try {
      const { context } = machine.config as { context: (given: object) => object };
      const event = { type: 'xstate.init', input };
      const queue: Event[] = [];
      begun.context = context({ input, self: scope.self });
      return settle(go(begun, first, event, scope, queue), event, scope, queue, []);
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
