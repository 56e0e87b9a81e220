import { AgentError } from '../../errors.ts';
import { isPlainObject } from '../../messages/json.ts';
import type { UIMessage } from './ui-types.ts';

const problemOf = (part: unknown): string | undefined => {
  if (!isPlainObject(part) || typeof part['type'] !== 'string') return 'an object with a type';
  const { type, toolCallId, state, approval } = part;
  if (type !== 'dynamic-tool' && !type.startsWith('tool-')) return undefined;
  if (typeof toolCallId !== 'string' || typeof state !== 'string') return 'a tool call with toolCallId and state';
  const needsApproval = approval !== undefined || state === 'approval-responded';
  return needsApproval && !isPlainObject(approval) ? 'a tool call whose approval is an object' : undefined;
};

const refuse = (where: string, needed: string): never => {
  throw new AgentError('invalid-message', `${where}: give ${needed}`);
};

/** What a page sends may be anything. It is checked as far as it is read here: throws `invalid-message` and says where. */
export const checkUIMessages = (messages: readonly UIMessage[]): void => {
  const given: unknown = messages;
  if (!Array.isArray(given)) return refuse('messages', 'the array of messages that the page sent');
  for (const [index, message] of (given as readonly unknown[]).entries()) {
    const where = `messages[${index}]`;
    if (!isPlainObject(message) || !Array.isArray(message['parts'])) refuse(where, 'an object with role and parts');
    else {
      for (const [at, part] of (message['parts'] as readonly unknown[]).entries()) {
        const problem = problemOf(part);
        if (problem !== undefined) refuse(`${where}.parts[${at}]`, problem);
      }
    }
  }
};
