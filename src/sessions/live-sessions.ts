import type { RunnableSession } from './runnable-session.ts';

/** The sessions that live in this process, by id. One that nobody holds any more may go; the store has it. */
export interface LiveSessions {
  keep(session: RunnableSession): RunnableSession;
  /** The live session, once one of its id that is just being closed is saved. */
  find(id: string): RunnableSession | undefined | Promise<undefined>;
  /** The session object that was made last for this id, whether it is closed or not. */
  current(id: string): RunnableSession | undefined;
  closeAll(): Promise<void>;
}

export const createLiveSessions = (): LiveSessions => {
  const live = new Map<string, WeakRef<RunnableSession>>();
  const gone = new FinalizationRegistry<string>((id) => {
    if (live.get(id)?.deref() === undefined) live.delete(id);
  });
  return {
    keep: (session) => {
      live.set(session.id, new WeakRef(session));
      gone.register(session, session.id);
      return session;
    },
    find: (id) => {
      const session = live.get(id)?.deref();
      if (session === undefined || session.status !== 'closed') return session;
      return session.disposed?.then(
        () => undefined,
        () => undefined,
      );
    },
    current: (id) => live.get(id)?.deref(),
    closeAll: async () => {
      const sessions = [...live.values()].flatMap((reference) => reference.deref() ?? []);
      live.clear();
      // Each is saved, or has failed, before anybody hears of a failure.
      const ends = await Promise.allSettled(sessions.map((session) => session[Symbol.asyncDispose]()));
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed !== undefined) throw failed.reason as Error;
    },
  };
};
