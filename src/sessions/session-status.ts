import type { StateValue } from 'xstate';
import type { SessionStatus } from '../stores/store.ts';

const statuses: Readonly<Record<string, SessionStatus>> = {
  idle: 'idle',
  'awaiting-approval': 'waiting',
  done: 'settled',
  closed: 'closed',
};

/** How a session stands, going by the state of its chart. */
export const statusOf = (state: StateValue): SessionStatus =>
  statuses[typeof state === 'string' ? state : (Object.keys(state)[0] ?? '')] ?? 'busy';
