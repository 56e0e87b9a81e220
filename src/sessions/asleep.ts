import { asleep } from '../actors/wake.ts';
import type { AgentSnapshot, Persisted } from '../documents/read-agent.ts';
import { type Seen, isSameSeen } from '../documents/write-agent.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import type { KeptObjects } from './live-objects.ts';
import type { CommittedSource } from './next-commit.ts';

/** What is kept of a session that waits for somebody, in place of its actors: all that they are made from again. */
export interface Asleep {
  seen: Seen;
  committed: CommittedSource;
  revision: number | undefined;
  createdAt: number;
  objects: KeptObjects;
}

const isIdleAlarm = ({ src, input, known }: Seen): boolean =>
  src === 'alarm' && known === undefined && (input as { at: unknown }).at === null;

const isIdleCall = ({ src, children }: Seen): boolean =>
  src === 'toolCall' && Object.values(children).every(isIdleAlarm);

/** None of its actors is at work, nor waits for a time: nothing happens to it but what comes from outside. */
export const isIdle = ({ value, children }: Seen): boolean =>
  value === 'awaiting-approval' && Object.values(children).every((child) => child.src === 'wake' || isIdleCall(child));

/** The one of the two that is held anyway, where they are the same. */
export const sameSeen = (seen: Seen, committed: CommittedSource): Seen => {
  const held = typeof committed === 'object' ? committed.seen : undefined;
  return held !== undefined && isSameSeen(held, seen) ? held : seen;
};

const persisted = (seen: Seen): Persisted => {
  const { src, value, context, children, input } = seen;
  const snapshot =
    src === 'wake'
      ? asleep
      : value === undefined
        ? { status: 'active', input }
        : { status: 'active', value, context, children: persistedAll(children), historyValue: {} };
  return { src, snapshot, syncSnapshot: false };
};

const persistedAll = (children: Seen['children']): Record<string, Persisted> =>
  Object.fromEntries(Object.entries(children).map(([id, child]) => [id, persisted(child)]));

/** What XState restores such a session from. */
export const snapshotOfIdle = ({ value, context, children }: Seen): AgentSnapshot => ({
  status: 'active',
  value,
  context: context as AgentContext,
  children: persistedAll(children),
  historyValue: {},
});
