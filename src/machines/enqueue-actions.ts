import * as xstate from 'xstate';

interface Args {
  context: unknown;
  event: unknown;
  self: unknown;
  system: unknown;
}

/** What XState asks an action of its own for: the next state, what to execute, and further actions. See `stopChildren`. */
type Resolve = (scope: unknown, snapshot: unknown, args: Args, params: unknown) => [unknown, undefined, unknown[]];

let list: unknown[] = [];

const into =
  (make: (...args: never[]) => unknown) =>
  (...args: unknown[]): void => {
    list.push(make(...(args as never[])));
  };

/** One for all: what is enqueued goes to the action that is being worked out. */
const enqueue = Object.assign(
  into((action) => action),
  {
    assign: into(xstate.assign),
    emit: into(xstate.emit),
    raise: into(xstate.raise),
    sendTo: into(xstate.sendTo),
    spawnChild: into(xstate.spawnChild),
    stopChild: into(xstate.stopChild),
  },
);

type Collect = (args: Args & { enqueue: typeof enqueue }, params: unknown) => void;

const collected = (collect: Collect, args: Args, params: unknown): unknown[] => {
  const outer = list;
  const own: unknown[] = [];
  list = own;
  try {
    collect({ ...args, enqueue }, params);
  } finally {
    list = outer;
  }
  return own;
};

/**
 * XState's `enqueueActions`, without `check`, for actions that are taken often. For each time XState assigns a function to a property for
 * every kind of action; such a function is made among the old objects by V8, and what it leads to, the whole state, stays until all of the heap
 * is collected (see `takeStep`).
 */
export const enqueueActions: typeof xstate.enqueueActions = (collect) => {
  const action = xstate.enqueueActions(collect);
  const own = action as { resolve?: unknown };
  const resolve: Resolve = (_scope, snapshot, args, params) => [
    snapshot,
    undefined,
    collected(collect as unknown as Collect, args, params),
  ];
  // Where XState asks in another way its own works as well.
  if (typeof own.resolve === 'function') own.resolve = resolve;
  return action;
};
