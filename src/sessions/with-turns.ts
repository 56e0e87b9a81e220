import type { Around } from './around-turns.ts';
import { createSession } from './create-session.ts';
import { pipeline } from './later.ts';
import type { SessionSource } from './own-session.ts';
import { type RunnableSession, withRun } from './runnable-session.ts';

const asked = 'run send approve reject respond cancel stop retry settled setContext'.split(' ');

/**
 * A session with the middleware around its turns. Where that has yet to be loaded the session starts later, and what it is asked waits until
 * then, in the order in which it was asked: no turn goes past the middleware.
 */
export const withTurns = (source: SessionSource, given: Partial<SessionSource>, about: Around): RunnableSession => {
  const parts = pipeline();
  if (!(parts instanceof Promise)) return parts.aroundTurns(createSession(source, given), about);
  let begun = Promise.resolve();
  const session = createSession(source, {
    ...given,
    start: ({ actor, fail }) => {
      begun = parts.then(({ aroundTurns }) => {
        for (const name of asked) Reflect.deleteProperty(session, name);
        // Closed before it has begun: it says so itself.
        if (session.disposed !== undefined) return void withRun(session, about.wrapModel);
        actor.start();
        aroundTurns(session, about);
      });
      begun.catch(fail);
    },
  });
  const methods = session as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const name of asked) {
    methods[name] = (...given) => {
      const answer = begun.then(() => methods[name]?.(...given));
      // A rejection that nobody asks for ends no process.
      answer.catch(() => undefined);
      return answer;
    };
  }
  return session as RunnableSession;
};
