import type { StateValue } from 'xstate';
import { statePath } from '../machines/state-path.ts';
import type { SessionStatus } from '../stores/store.ts';

const statuses: Readonly<Record<string, SessionStatus>> = {
  idle: 'idle',
  'awaiting-approval': 'waiting',
  done: 'settled',
  closed: 'closed',
};

/** How a session stands, going by the state of its chart. */
export const statusOf = (state: StateValue): SessionStatus => statuses[statePath(state).split('.')[0] ?? ''] ?? 'busy';
