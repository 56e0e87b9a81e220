import { snapshotOf } from '../documents/document.ts';
import type { AgentSnapshot } from '../documents/read-agent.ts';
import { type Asleep, snapshotOfIdle } from './asleep.ts';
import { checkTools, isWaiting } from './check-tools.ts';
import type { SessionSource } from './own-session.ts';

/** What a session's actor goes on from; undefined where it begins. Throws where a document does not fit the machine or its tools. */
export const firstSnapshot = (
  { machine, document, isStored, mayLack }: SessionSource,
  asleep: Asleep | undefined,
): AgentSnapshot | undefined => {
  if (asleep !== undefined) return snapshotOfIdle(asleep.seen);
  if (document === undefined) return undefined;
  const snapshot = snapshotOf(machine, document, isStored === true ? 'messages' : 'nothing');
  checkTools(machine, snapshot, mayLack ?? isWaiting);
  return snapshot;
};
