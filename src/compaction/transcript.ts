import { type Message, type Part, partsOf } from '../messages/message.ts';

/** Of one part: what a summary has to know of a long result stands at its beginning. */
const longest = 4000;

const cut = (text: string): string =>
  text.length <= longest ? text : `${text.slice(0, longest)} … (${text.length - longest} characters more)`;

const textOfPart = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return cut(part.text);
    case 'reasoning':
      return '';
    case 'file':
      return `[file: ${part.filename ?? part.mediaType}]`;
    case 'tool-call':
      return cut(`[calls ${part.toolName}: ${JSON.stringify(part.input) ?? ''}]`);
    case 'tool-result': {
      const { output } = part;
      const value =
        output.type === 'content'
          ? output.value.map((piece) => (piece.type === 'text' ? piece.text : `[${piece.mediaType}]`)).join('\n')
          : 'value' in output && typeof output.value === 'string'
            ? output.value
            : JSON.stringify(output);
      return cut(`[${part.toolName} gave: ${value}]`);
    }
    default:
      return part satisfies never;
  }
};

/** A conversation as text, for a model that is to sum it up: no calls and ids that a provider could refuse. */
export const transcriptOf = (messages: readonly Message[]): string =>
  messages
    .map((message) => {
      const texts = partsOf(message)
        .map(textOfPart)
        .filter((text) => text !== '');
      return `${message.role}: ${texts.join('\n')}`;
    })
    .join('\n\n');
