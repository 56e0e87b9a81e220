import type { OutsideEvent } from '../../machines/agent-context.ts';
import type { DecisionEvent } from '../../machines/tool-call-context.ts';
import { checkDecision } from '../../sessions/check-decision.ts';
import { newId } from '../../sessions/new-id.ts';
import { contextIn, exportSession, importSession } from '../../sessions/transfer.ts';
import type { SessionStore } from '../../stores/store.ts';
import type { EventLog } from '../event-log.ts';
import type { HistorySource } from '../history-source.ts';
import { revisionOf } from './revision-of.ts';
import type { StoredSessions } from './run-command.ts';

const isDecision = (event: OutsideEvent): event is DecisionEvent =>
  event.type === 'approval.granted' || event.type === 'approval.rejected' || event.type === 'call.result';

/** A store's sessions, for whoever decides and forks. Nothing of them runs here. */
export const storedSessions = (store: SessionStore, source: HistorySource, log: EventLog): StoredSessions => ({
  agentOf: async (id) => (await store.read(id))?.summary.agent,
  leave: async (id, event) => {
    // What does not apply to what the store has is told at once, as the session itself would tell it.
    if (isDecision(event) && !checkDecision(contextIn(await exportSession(store, id)), event)) return;
    await store.post(id, event);
  },
  fork: async ({ session, run, seq }) => {
    const at = await revisionOf({ session, run, seq }, { log, source, steps: (id) => store.history(id) });
    return importSession(store, await exportSession(store, session, { at }), { id: newId() });
  },
});
