import { checkMessages } from '../../messages/check-message.ts';
import { type JsonValue, isJson, isPlainObject } from '../../messages/json.ts';
import type { Message } from '../../messages/message.ts';
import type { PendingCall } from '../../tools/call.ts';
import { checkUIMessages } from './check-ui-messages.ts';
import { type UIMessage, type UIToolPart, isToolPart, lastAnswer } from './ui-types.ts';

/** For `session.approve` or `session.reject`. `inputHash` is of the arguments that the person saw. */
export interface UIApproval {
  callId: string;
  approved: boolean;
  reason?: string;
  inputHash?: string;
}

/** For `session.respond`: what the page gave as the result of a call. */
export interface UIResult {
  callId: string;
  output: JsonValue;
}

export interface UIInput {
  /** The new message of the user; absent where the page only answers. */
  message?: Message;
  approvals: UIApproval[];
  results: UIResult[];
}

export interface UIInputOptions {
  /**
   * `session.pending`: only what is still waited for is taken. Without it `results` is empty, since a message does not tell the
   * results of the page from those of the session.
   */
  pending?: readonly PendingCall[];
}

const approvalOf = (part: UIToolPart): UIApproval[] => {
  if (part.state !== 'approval-responded') return [];
  const { id, approved, reason, descriptor } = part.approval;
  if (typeof id !== 'string' || typeof approved !== 'boolean') return [];
  const inputHash = isPlainObject(descriptor) ? descriptor['inputHash'] : undefined;
  return [
    {
      callId: id,
      approved,
      ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
      ...(typeof inputHash === 'string' ? { inputHash } : {}),
    },
  ];
};

const resultOf = (part: UIToolPart): UIResult[] => {
  const { toolCallId: callId, state } = part;
  if (state === 'output-error') return [{ callId, output: `Error: ${part.errorText}` }];
  if (state !== 'output-available' || part.preliminary === true) return [];
  const output: unknown = part.output ?? null;
  return isJson(output) ? [{ callId, output }] : [];
};

const fieldOf = (metadata: unknown): object => (metadata === undefined ? {} : { providerOptions: metadata });

/** The last message, where it is the user's. Throws `invalid-message` for one that no session would take. */
const newMessage = (messages: readonly UIMessage[]): Message | undefined => {
  const last = messages.at(-1);
  if (last?.role !== 'user') return undefined;
  const content = last.parts.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text, ...fieldOf(part.providerMetadata) }];
    if (part.type !== 'file') return [];
    const { url, mediaType, filename, providerMetadata } = part;
    const name = filename === undefined ? {} : { filename };
    return [{ type: 'file', data: url, mediaType, ...name, ...fieldOf(providerMetadata) }];
  });
  return checkMessages([{ role: 'user', content }])[0];
};

/**
 * What a page that uses `useChat` asks of a session: the history of the session itself is kept by the session, so of all the messages only
 * the new one is read, and the answers that people gave to calls. `answerUIMessages` does all that follows from it. Throws `invalid-message`
 * for what is no list of messages.
 *
 * @example
 * const { message, approvals, results } = fromUIMessages(messages, { pending: session.pending });
 */
export const fromUIMessages = (messages: readonly UIMessage[], { pending }: UIInputOptions = {}): UIInput => {
  checkUIMessages(messages);
  const message = newMessage(messages);
  // Where it is known what is waited for, an answer may stand in any message: the user may have gone on before it was given.
  const answers = pending === undefined ? [lastAnswer(messages)] : messages.filter(({ role }) => role === 'assistant');
  const parts = answers.flatMap((answer) => answer?.parts.filter(isToolPart) ?? []);
  const waits = (needs: PendingCall['needs'], id: string): boolean =>
    pending?.some((call) => call.callId === id && call.needs === needs) === true;
  return {
    ...(message === undefined ? {} : { message }),
    approvals: parts.flatMap(approvalOf).filter(({ callId }) => pending === undefined || waits('approval', callId)),
    results: parts.flatMap(resultOf).filter(({ callId }) => waits('result', callId)),
  };
};
