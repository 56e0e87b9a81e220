import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type AnyStateMachine,
  assign,
  createActor,
  emit,
  enqueueActions,
  raise,
  sendTo,
  spawnChild,
  stopChild,
} from 'xstate';
import { type Action, type Node, type Ready, readyOf } from './way.ts';

export interface Event {
  type: string;
}

/** A machine's snapshot, as XState makes it. */
export interface Snapshot {
  status: string;
  output?: unknown;
  error?: unknown;
  machine: AnyStateMachine;
  context: object;
  children: Record<string, AnyActorRef>;
  _nodes: readonly Node[];
  value: unknown;
  tags: ReadonlySet<string>;
}

/** A step of a machine while it is taken: `now` is nobody else's yet. */
export interface Taking {
  now: Snapshot;
  /** `now` has a list of children of its own. */
  hasOwnChildren: boolean;
  event: Event;
  scope: AnyActorScope;
  /** Events that were raised. */
  queue: Event[];
}

type Execute = (scope: AnyActorScope, params: unknown) => void;

/** An action of XState's own. How it works out what it does is no part of its documentation: a test tells when that changes. */
interface OwnAction {
  type: string;
  assignment?: unknown;
  collect?: unknown;
  event?: unknown;
  actorRef?: unknown;
  src?: unknown;
  id?: unknown;
  input?: unknown;
  resolve(...args: unknown[]): [unknown, unknown, Action[] | undefined];
  execute?: Execute;
}

const ownOf = (action: unknown): OwnAction => action as OwnAction;
const { execute: executeStart } = ownOf(spawnChild('' as never));
const { execute: executeStop } = ownOf(stopChild(''));
const { execute: executeEmit } = ownOf(emit({ type: '' }));

const nothing = () => ({});

/** They hold what is read here. */
export const knowsActions =
  executeStart !== undefined &&
  executeStop !== undefined &&
  executeEmit !== undefined &&
  ownOf(assign(nothing)).assignment === nothing &&
  ownOf(enqueueActions(nothing)).collect === nothing;

type Asked = (args: object, params?: unknown) => unknown;

export const given = (value: unknown, args: object, params?: unknown): unknown =>
  typeof value === 'function' ? (value as Asked)(args, params) : value;

const execute = (scope: AnyActorScope, type: string, run: Execute | undefined, params: unknown, info: object): void => {
  if (run !== undefined) scope.actionExecutor({ type, info, params, exec: () => run(scope, params) } as never);
};

const childrenOf = (taking: Taking): Snapshot['children'] => {
  const { now } = taking;
  if (!taking.hasOwnChildren) now.children = { ...now.children };
  taking.hasOwnChildren = true;
  return now.children;
};

const without = (children: Snapshot['children'], id: string): Snapshot['children'] => {
  const rest: Snapshot['children'] = {};
  for (const key of Object.keys(children)) if (key !== id) rest[key] = children[key] as AnyActorRef;
  return rest;
};

interface Given {
  id: string;
  input: unknown;
  /** Stands in a saved snapshot. */
  syncSnapshot?: boolean;
}

const spawn = (taking: Taking, src: string, { id, input, syncSnapshot }: Given): AnyActorRef => {
  const { now, scope } = taking;
  const logic = now.machine.implementations.actors[src] as AnyActorLogic;
  const options = { id, src, input, syncSnapshot, parent: scope.self };
  const actorRef: AnyActorRef = createActor(logic, options);
  childrenOf(taking)[id] = actorRef;
  return actorRef;
};

export const stop = (scope: AnyActorScope, child: AnyActorRef | undefined, info: object): void =>
  execute(scope, 'xstate.stopChild', executeStop, child, info);

let list: unknown[] = [];

const into =
  (make: (...args: never[]) => unknown) =>
  (...args: unknown[]): void => {
    list.push(make(...(args as never[])));
  };

/**
 * What `enqueueActions` gives, but `check`; one for all. XState makes one each time, of functions that are assigned to properties: V8 makes such a function
 * among the old objects, and all that it leads to, the whole state, stays until the whole heap is collected.
 */
const enqueue = Object.assign(
  into((action) => action),
  {
    assign: into((assignment: unknown) => ({ type: 'xstate.assign', assignment })),
    emit: into((event: unknown) => ({ type: 'xstate.emit', event })),
    raise: into(raise),
    sendTo: into(sendTo),
    spawnChild: into(spawnChild),
    stopChild: into((actorRef: unknown) => ({ type: 'xstate.stopChild', actorRef })),
  },
);

const collected = (collect: unknown, { now: { context }, event, scope }: Taking, params: unknown): Action[] => {
  const outer = list;
  const own: Action[] = [];
  list = own;
  try {
    given(collect, { context, event, self: scope.self, system: scope.system, enqueue }, params);
  } finally {
    list = outer;
  }
  return own;
};

/** Does what XState does with an action, without a copy of the whole snapshot for each that changes it. */
const performOne = (taking: Taking, own: OwnAction, params: unknown): void => {
  const { now, event, scope, queue } = taking;
  const { self, system } = scope;
  const { context } = now;
  switch (own.type) {
    case 'xstate.assign': {
      const start = (src: string, options: { id: string; input: unknown }): AnyActorRef => {
        const actorRef = spawn(taking, src, options);
        // For XState this is part of the assignment, and no action of its own.
        executeStart?.(scope, { actorRef });
        return actorRef;
      };
      const change = given(own.assignment, { context, event, self, system, spawn: start }, params) as object;
      now.context = { ...context, ...change };
      break;
    }
    case 'xstate.spawnChild': {
      const { id, src } = own as { id: string; src: string };
      const args = { context, event, self, system };
      const input = given(own.input, args);
      const actorRef = spawn(taking, src, { id, input, syncSnapshot: false });
      execute(scope, own.type, executeStart, { id, systemId: undefined, actorRef, src, input }, args);
      break;
    }
    case 'xstate.stopChild': {
      const id = own.actorRef as string;
      const child = now.children[id];
      if (taking.hasOwnChildren) delete now.children[id];
      else {
        now.children = without(now.children, id);
        taking.hasOwnChildren = true;
      }
      stop(scope, child, { context, event, self, system });
      break;
    }
    case 'xstate.emit': {
      const args = { context, event, self, system };
      execute(scope, own.type, executeEmit, { event: given(own.event, args, params) }, args);
      break;
    }
    case 'xstate.enqueueActions':
      performEach(taking, collected(own.collect, taking, params));
      break;
    default: {
      const args = { context, event, self, system };
      const [, resolved, more] = own.resolve(scope, now, args, params, own, { internalQueue: queue });
      execute(scope, own.type, own.execute, resolved, args);
      if (more !== undefined) performEach(taking, more);
    }
  }
};

const performEach = (taking: Taking, actions: readonly Action[]): void =>
  perform(
    taking,
    actions.map((action) => readyOf(action, taking.now.machine)),
  );

export const perform = (taking: Taking, actions: readonly Ready[]): void => {
  for (const { does, params } of actions)
    performOne(taking, ownOf(does), given(params, { context: taking.now.context, event: taking.event }));
};
