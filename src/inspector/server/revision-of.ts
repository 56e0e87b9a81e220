import { AgentError } from '../../errors.ts';
import type { EventLog } from '../event-log.ts';
import type { HistorySource } from '../history-source.ts';
import { pathOf } from '../timeline.ts';

interface Moment {
  session: string;
  /** The log that the number is of. */
  run: string;
  seq: number;
}

interface Step {
  revision: number;
  to: string;
}

/** The state paths that a session's root came to after an event, without those where it stayed; and the one it was in. */
const pathsAfter = (log: EventLog, { session, seq }: Moment): { at: string; then: string[] } => {
  let root: string | undefined;
  let at = '';
  const then: string[] = [];
  for (const event of log.after(0, Infinity)) {
    if (event.type === 'session' && event.session === session) root = event.root;
    const isStep = event.type === 'step' || event.type === 'actor';
    if (!isStep || event.actor !== root) continue;
    const path = pathOf(event.states);
    if (event.seq <= seq) at = path;
    else if (path !== (then.at(-1) ?? at)) then.push(path);
  }
  return { at, then };
};

const notStored = (): AgentError =>
  new AgentError('unknown-revision', 'the store does not have this moment: fork when the session rests');

/**
 * The revision of a store that holds a moment. That of a session that was recorded here is found by what came after it: those steps are
 * the store's newest. Throws `unknown-revision` where the store has no such moment.
 */
export const revisionOf = async (
  moment: Moment,
  { log, source, steps }: { log: EventLog; source: HistorySource; steps(id: string): Promise<readonly Step[]> },
): Promise<number> => {
  if (moment.run !== log.run) {
    const found = await source.history(moment.session);
    const revision = found?.run === moment.run ? found.revisions[moment.seq - 1] : undefined;
    if (revision === undefined) throw notStored();
    // Before the first commit there is nothing to copy.
    return Math.max(1, revision);
  }
  const { at, then } = pathsAfter(log, moment);
  const stored = await steps(moment.session);
  const index = stored.length - then.length;
  const isSame = index > 0 && then.every((path, after) => stored[index + after]?.to === path);
  const found = stored[index - 1];
  if (!isSame || found === undefined || found.to !== at) throw notStored();
  return found.revision;
};
