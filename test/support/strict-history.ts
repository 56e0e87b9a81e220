import { isPlainObject } from '../../src/messages/json.ts';
import type { Message } from '../../src/messages/message.ts';
import { partsOf } from '../../src/messages/message.ts';
import { violations } from '../../src/messages/violations.ts';

/** What a strict provider would refuse in a request: what is wrong with the history, and with what a view must have cleaned. */
export const strictRefusals = (messages: readonly Message[]): string[] => {
  const found = violations(messages);
  messages.forEach((message, index) => {
    for (const part of partsOf(message)) {
      if (part.type === 'text' && part.text === '' && part.providerOptions === undefined)
        found.push(`messages[${index}]: empty text`);
      if (part.type === 'tool-call' && !isPlainObject(part.input))
        found.push(`messages[${index}]: the input of call "${part.toolCallId}" is no object`);
    }
    for (const item of [message, ...partsOf(message)])
      if (item.providerOptions !== undefined && 'agentchart' in item.providerOptions)
        found.push(`messages[${index}]: holds our own key`);
    // `JSON.stringify` writes a lone surrogate as an escape, whole pairs as they are.
    if (/\\ud[89a-f][0-9a-f]{2}/.test(JSON.stringify(message).replaceAll('\\\\', '')))
      found.push(`messages[${index}]: holds a lone surrogate`);
  });
  return found;
};
