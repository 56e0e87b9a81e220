import type { RunnableSession } from './runnable-session.ts';

/** The sessions that live in this process, by id. One that nobody holds any more may go; the store has it. */
export interface LiveSessions {
  keep(session: RunnableSession): RunnableSession;
  /** As `keep`, of a session that only the caller has, until `letGo`. A weak reference makes work for the collector: most runs need none. */
  hold(session: RunnableSession): RunnableSession;
  /** Forgets a session that was held, unless somebody else has got it meanwhile, or may want to go on with it. */
  letGo(session: RunnableSession, mayBeWanted: boolean): void;
  /** The live session, once one of its id that is just being closed is saved. */
  find(id: string): RunnableSession | undefined | Promise<undefined>;
  /** The session object that was made last for this id, whether it is closed or not. */
  current(id: string): RunnableSession | undefined;
  closeAll(): Promise<void>;
}

export const createLiveSessions = (): LiveSessions => {
  const live = new Map<string, WeakRef<RunnableSession> | RunnableSession>();
  const gone = new FinalizationRegistry<string>((id) => {
    const entry = live.get(id);
    if (entry instanceof WeakRef && entry.deref() === undefined) live.delete(id);
  });
  const keep = (session: RunnableSession): RunnableSession => {
    live.set(session.id, new WeakRef(session));
    gone.register(session, session.id);
    return session;
  };
  const current = (id: string): RunnableSession | undefined => {
    const entry = live.get(id);
    return entry === undefined || entry instanceof WeakRef ? entry?.deref() : keep(entry);
  };
  return {
    keep,
    hold: (session) => {
      live.set(session.id, session);
      return session;
    },
    letGo: (session, mayBeWanted) => {
      if (live.get(session.id) !== session) return;
      if (mayBeWanted) keep(session);
      else live.delete(session.id);
    },
    find: (id) => {
      const session = current(id);
      if (session === undefined || session.status !== 'closed') return session;
      return session.disposed?.then(
        () => undefined,
        () => undefined,
      );
    },
    current,
    closeAll: async () => {
      const sessions = [...live.keys()].flatMap((id) => current(id) ?? []);
      live.clear();
      // Each is saved, or has failed, before anybody hears of a failure.
      const ends = await Promise.allSettled(sessions.map((session) => session[Symbol.asyncDispose]()));
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed !== undefined) throw failed.reason as Error;
    },
  };
};
