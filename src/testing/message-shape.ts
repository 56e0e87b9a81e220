import { type Message, partsOf } from '../messages/message.ts';
import { headOf } from '../tools/truncate-text.ts';

type Part = ReturnType<typeof partsOf>[number];

/** What became of a call, as far as it can be told again: a timeout is a failure, an unknown outcome was thought to be none. */
const endOf = (status: unknown): string => {
  if (typeof status !== 'string' || status === 'outcome-unknown') return 'ok';
  return status === 'timed-out' ? 'failed' : status;
};

const resultEnd = (part: Part | undefined): string | undefined =>
  part?.type === 'tool-result' ? endOf(part.providerOptions?.['agentchart']?.['status']) : undefined;

/** Why a call did not go well where another time it ended otherwise: a tool that is gone reads like arguments that do not fit. */
const reasonOf = (part: Part, other: Part | undefined): string => {
  if (part.type !== 'tool-result' || part.output.type !== 'error-text') return '';
  if (other === undefined || resultEnd(part) === resultEnd(other)) return '';
  return ` (${headOf(part.output.value.replace(/^Error: /, ''), 300).replaceAll(/\s*\n/g, ' ')})`;
};

/**
 * A message in words, without ids and without what results say: two that read alike are the same step of a session.
 * With the `other` message in whose place it stands, results that ended otherwise there are given with their reason.
 */
export const shapeOf = (message: Message, other?: Message): string => {
  const others = other === undefined ? [] : partsOf(other);
  const words = partsOf(message).flatMap((part, index): string[] => {
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
        return [`${part.toolName}: ${resultEnd(part)}${reasonOf(part, others[index])}`];
      default:
        return part satisfies never;
    }
  });
  return `${message.role}: ${words.join(', ') || 'nothing'}`;
};
