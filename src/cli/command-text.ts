import type { Command, RefusedCommand } from '../stores/store.ts';

const words: Readonly<Record<string, string>> = {
  'approval.granted': 'approve',
  'approval.rejected': 'reject',
  'call.result': 'respond to',
  'call.cancel': 'cancel',
  'user.message': 'a message',
  'message.withdraw': 'take back a message',
  'turn.stop': 'stop',
  'turn.retry': 'retry',
  'session.close': 'close',
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A command in words. What others left in a store may be anything. */
export const commandText = (event: unknown): string => {
  const { type, callId, input, output, content, messages, reason, by } = (event ?? {}) as Record<string, unknown>;
  const said = content ?? messages;
  return [
    typeof type === 'string' && Object.hasOwn(words, type) ? words[type] : textOf(type ?? event),
    callId === undefined ? '' : textOf(callId),
    input === undefined ? '' : `with ${textOf(input)}`,
    output === undefined ? '' : `with ${textOf(output)}`,
    said === undefined ? '' : textOf(said),
    reason === undefined ? '' : `(${textOf(reason)})`,
    by === undefined ? '' : `by ${textOf(by)}`,
  ]
    .filter(Boolean)
    .join(' ');
};

export const refusalText = ({ event, message, code }: Pick<RefusedCommand, 'event' | 'message' | 'code'>): string =>
  `${commandText(event)}: ${message} (${code})`;

/** Of a list; the id is the store's. */
export const numbered = ({ id }: Pick<Command, 'id'>, text: string): string => `  #${id}  ${text}`;
