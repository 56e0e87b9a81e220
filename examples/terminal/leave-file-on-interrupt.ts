import { waitFor } from 'xstate';
import type { Session } from 'agentchart';
import { saveSession } from './save-session.ts';

/**
 * The first Ctrl-C writes the session to the file, as soon as no tool runs, and leaves; the second leaves at once. npm passes
 * on a signal that the terminal has sent already: one that comes right after the first is the same key. Gives back what ends it.
 */
export const leaveFileOnInterrupt = (session: Session, file: string): (() => void) => {
  let interruptedAt: number | undefined;
  const interrupt = (): void => {
    if (interruptedAt !== undefined) {
      if (performance.now() - interruptedAt > 300) process.exit(130);
      return;
    }
    interruptedAt = performance.now();
    saveSession(file, session);
    console.log(`\n\nThe session is in ${file}; go on with it:\n\n  npm start -- --resume ${file}\n`);
    void leave();
  };

  const leave = async (): Promise<void> => {
    if (session.actor.getSnapshot().matches('acting'))
      console.log('Waiting for the tools that run; Ctrl-C again quits.');
    await waitFor(session.actor, (snapshot) => !snapshot.matches('acting'));
    saveSession(file, session);
    process.exit(130);
  };
  process.on('SIGINT', interrupt);
  return () => process.off('SIGINT', interrupt);
};
