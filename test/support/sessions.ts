import type { Agent } from '../../src/sessions/agent.ts';
import type { SessionDocument } from '../../src/documents/document.ts';
import type { Session } from '../../src/sessions/session.ts';

/** The document as a store or a network would hold it: text, and an object again. */
export const saved = (session: Session): SessionDocument => JSON.parse(JSON.stringify(session)) as SessionDocument;

/** The session as another process would open it. */
export const reopened = (agent: Agent, session: Session): Session => agent.restore(saved(session));

/** What a promise rejects with; fails where it resolves. */
export const rejection = async (promise: Promise<unknown>): Promise<Error & { code?: string }> => {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error('it did not reject with an error');
};

/** Each call of the function is noted; `calls` are the arguments. */
export const counter = <T>(give: (input: T) => unknown) => {
  const calls: T[] = [];
  return {
    calls,
    run: (input: T): unknown => {
      calls.push(input);
      return give(input);
    },
  };
};
