import type { AgentContext } from '../machines/agent-context.ts';
import type { Message } from '../messages/message.ts';

/** The whole conversation: what is kept elsewhere, then what the session has besides. */
export const conversationOf = (
  { messages, elsewhere }: AgentContext,
  loaded: readonly Message[] | undefined,
): readonly Message[] => (loaded === undefined ? messages : [...loaded, ...messages.slice(elsewhere?.handed ?? 0)]);
