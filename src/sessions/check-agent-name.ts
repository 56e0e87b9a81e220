import type { SessionDocument } from '../documents/document.ts';
import { AgentError } from '../errors.ts';

/** Throws `another-agent` for what an agent of a name wrote that this one does not have and never had. */
export const checkAgentName = (
  { agent, sessionId }: Pick<SessionDocument, 'agent' | 'sessionId'>,
  name: string,
  formerNames: readonly string[],
): void => {
  if (agent === name || formerNames.includes(agent)) return;
  throw new AgentError(
    'another-agent',
    `session ${JSON.stringify(sessionId)} is of agent ${JSON.stringify(agent)}, and this is agent ${JSON.stringify(name)}; open it with an agent of that name, or, if this one had it before, give createAgent formerNames: [${JSON.stringify(agent)}]`,
  );
};
