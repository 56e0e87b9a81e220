import type { Message } from '../messages/message.ts';
import { type Keep, checkKeep } from './keep.ts';
import type { Strategy } from './strategy.ts';

const cleared = '(the result was cleared to save space; call the tool again if it is needed)';

const clear = (message: Message): Message => {
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) =>
    JSON.stringify(part.output).length <= cleared.length
      ? part
      : { ...part, output: { type: 'text' as const, value: cleared } },
  );
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
};

/** Puts a short note in place of old tool results; the calls stay. `keep` says what is not old yet. */
export const clearToolResults = ({ keep }: { keep: Keep }): Strategy => {
  const known = new WeakMap<Message, Message>();
  return {
    name: 'clear-tool-results',
    keep: checkKeep(keep, 'clearToolResults: option "keep"'),
    replace: (message) => {
      const found = known.get(message) ?? clear(message);
      known.set(message, found);
      return found;
    },
  };
};
