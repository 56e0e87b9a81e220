import type { SnapshotFrom } from 'xstate';
import type { AgentMachine } from '../machines/agent.ts';
import type { SessionStatus } from '../stores/store.ts';

export const statusOf = (
  snapshot: Pick<SnapshotFrom<AgentMachine>, 'matches' | 'hasTag' | 'status'>,
): SessionStatus => {
  if (snapshot.matches('closed')) return 'closed';
  if (snapshot.matches('idle')) return 'idle';
  if (snapshot.hasTag('waiting')) return 'waiting';
  return snapshot.hasTag('settled') ? 'settled' : 'busy';
};
