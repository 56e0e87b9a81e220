import { type ActorOptions, type ActorRefFrom, type Snapshot, createActor } from 'xstate';
import { checkRestored } from '../documents/document.ts';
import type { AgentSnapshot } from '../documents/read-agent.ts';
import type { AgentMachine } from '../machines/agent.ts';

type Stored = { context?: object; children?: Record<string, { snapshot: Stored }> };

const contextsIn = ({ context, children = {} }: Stored): object[] => [
  ...(context === undefined ? [] : [context]),
  ...Object.values(children).flatMap(({ snapshot }) => contextsIn(snapshot)),
];

const setEnumerable = (context: object, enumerable: boolean): void => {
  for (const key of Object.getOwnPropertyNames(context)) Object.defineProperty(context, key, { enumerable });
};

/**
 * An actor that goes on from a snapshot; not started yet. XState walks through every value of a context that it restores and puts actors
 * in place of what looks like a reference to one. Ours hold none: to look costs as much as to read them, and what a model or a person
 * said could look like one. So they are hidden from it meanwhile.
 */
export const restoreActor = (
  machine: AgentMachine,
  snapshot: AgentSnapshot,
  options: Omit<ActorOptions<AgentMachine>, 'snapshot'> = {},
): ActorRefFrom<AgentMachine> => {
  const contexts = contextsIn(snapshot as Stored);
  for (const context of contexts) setEnumerable(context, false);
  try {
    const actor = createActor(machine, { ...options, snapshot: snapshot as unknown as Snapshot<unknown> });
    checkRestored(actor);
    return actor;
  } finally {
    for (const context of contexts) setEnumerable(context, true);
  }
};
