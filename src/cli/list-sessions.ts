import type { ListOptions, SessionStatus, SessionStore } from '../stores/store.ts';
import { escapeLine } from './escape-text.ts';
import { type Output, table, timeText } from './output.ts';
import { UsageError } from './usage-error.ts';

const statuses = ['idle', 'busy', 'waiting', 'settled', 'closed'] as const satisfies readonly SessionStatus[];

const isStatus = (given: string): given is SessionStatus => statuses.some((status) => status === given);

export const listSessions = async (
  store: SessionStore,
  { status, ...given }: Omit<ListOptions, 'status'> & { status?: string },
): Promise<Output> => {
  if (status !== undefined && !isStatus(status))
    throw new UsageError(`--status ${status} is none of ${statuses.join(', ')}.`);
  const found = await store.list({ ...given, ...(status === undefined ? {} : { status }) });
  const rows = found.map(({ sessionId, agent, status: is, pending, messages, revision, updatedAt }) => [
    escapeLine(sessionId),
    escapeLine(agent),
    is,
    String(pending),
    String(messages),
    String(revision),
    timeText(updatedAt),
  ]);
  const heads = ['SESSION', 'AGENT', 'STATUS', 'PENDING', 'MESSAGES', 'REVISION', 'CHANGED (UTC)'];
  return { json: found, text: rows.length === 0 ? 'No sessions.' : table(heads, rows) };
};
