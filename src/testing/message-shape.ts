import { type Message, partsOf } from '../messages/message.ts';

/** What became of a call, as far as it can be told again: a timeout is a failure, an unknown outcome was thought to be none. */
const endOf = (status: unknown): string => {
  if (typeof status !== 'string' || status === 'outcome-unknown') return 'ok';
  return status === 'timed-out' ? 'failed' : status;
};

/** A message in words, without ids and without what results say: two that read alike are the same step of a session. */
export const shapeOf = (message: Message): string => {
  const words = partsOf(message).flatMap((part): string[] => {
    switch (part.type) {
      case 'text':
        return [JSON.stringify(part.text)];
      case 'reasoning':
        return [];
      case 'file':
        return [`a file of type ${part.mediaType}`];
      case 'tool-call':
        return [`calls ${part.toolName} with ${JSON.stringify(part.input)}`];
      case 'tool-result':
        return [`${part.toolName}: ${endOf(part.providerOptions?.['agentchart']?.['status'])}`];
      default:
        return part satisfies never;
    }
  });
  return `${message.role}: ${words.join(', ') || 'nothing'}`;
};
