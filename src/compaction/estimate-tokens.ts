import { type Message, type Part, partsOf } from '../messages/message.ts';

/** What a picture or document costs at least, whatever its size. */
const tokensPerFile = 1000;
const charsPerToken = 4;

const charsOf = (part: Part): number => {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length;
    case 'file':
      return tokensPerFile * charsPerToken;
    case 'tool-call':
      return part.toolName.length + (JSON.stringify(part.input) ?? '').length;
    case 'tool-result':
      return part.output.type === 'content'
        ? part.output.value.reduce(
            (sum, piece) => sum + (piece.type === 'text' ? piece.text.length : tokensPerFile * charsPerToken),
            0,
          )
        : JSON.stringify(part.output).length;
    default:
      return part satisfies never;
  }
};

const known = new WeakMap<Message, number>();

const tokensOf = (message: Message): number => {
  const counted = known.get(message);
  if (counted !== undefined) return counted;
  const chars = partsOf(message).reduce((sum, part) => sum + charsOf(part), 0);
  // Roles and separators cost as well.
  const tokens = Math.ceil(chars / charsPerToken) + 4;
  known.set(message, tokens);
  return tokens;
};

/** About four characters a token, 1,000 tokens a file: a guess, for where nobody has counted. Too low for Chinese, Japanese and Korean. */
export const estimateTokens = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + tokensOf(message), 0);
