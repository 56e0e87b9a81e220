import { wellFormed } from '../../messages/well-formed.ts';
import type { ModelRequest } from '../chat-model.ts';

/** The one system text of a request: the current instructions, or what the history says where there are none. */
export const instructionsOf = ({ instructions, messages }: ModelRequest): string => {
  const stored = messages.flatMap((message) => (message.role === 'system' ? [message.content] : []));
  return wellFormed(instructions ?? stored.join('\n\n'));
};
