import type { Inbox, InboxOptions } from './inbox.ts';
import { loadWorkings, workings } from './load-workings.ts';

export type { Inbox } from './inbox.ts';

/** The inbox of a session, whose code is loaded when the session may first have something in it. */
export const createLateInbox = (options: InboxOptions): Inbox => {
  let inbox: Inbox | undefined;
  let isWatched = false;
  const opened = async (): Promise<Inbox> => {
    const { createInbox } = workings() ?? (await loadWorkings());
    if (inbox !== undefined) return inbox;
    inbox = createInbox(options);
    inbox.watch(isWatched);
    return inbox;
  };
  return {
    read: async () => (inbox ?? (await opened())).read(),
    watch: (wanted) => {
      isWatched = wanted;
      if (inbox !== undefined) inbox.watch(wanted);
      // What fails to load is told by the next commit.
      else if (wanted && options.store.watch !== undefined) opened().catch(() => undefined);
    },
  };
};
