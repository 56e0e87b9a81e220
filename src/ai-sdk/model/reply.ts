import { type AssistantMessage, textOf } from '../../messages/message.ts';
import type { FinishReason, ModelReply } from '../../models/chat-model.ts';
import { ModelError } from '../../models/model-error.ts';
import type { Content, GivenFinishReason, GivenUsage } from './provider-types.ts';
import { messageOf } from './reply-message.ts';
import { readUsage } from './token-usage.ts';

/** The parts of a reply, whole or streamed. */
export interface GivenReply {
  content: readonly Content[];
  /** This and the usage are left out by some providers. */
  finishReason: GivenFinishReason | undefined;
  usage: GivenUsage | undefined;
  model: string | undefined;
  /** The text that is the structured answer, where it is not all of the text. */
  outputText?: string | undefined;
}

/** An error or an interruption is never a short answer (R41). */
const finishReasonOf = ({ unified, raw }: Partial<GivenFinishReason> = {}): FinishReason => {
  const why = raw === undefined ? '' : ` (${raw})`;
  switch (unified) {
    case 'error':
      throw new ModelError('model-request-failed', `the model stopped because of an error${why}`, { transient: true });
    case 'interrupted':
      throw new ModelError('model-stream-broken', `the reply broke off before the model had finished${why}`, {
        transient: true,
      });
    default:
      return unified ?? 'other';
  }
};

/** The message with the structured answer as its only text. */
const withText = (message: AssistantMessage, text: string): AssistantMessage => {
  if (typeof message.content === 'string' || textOf(message) === text) return message;
  return { ...message, content: [...message.content.filter(({ type }) => type !== 'text'), { type: 'text', text }] };
};

/** The reply in our form. Throws `ModelError` for one that is not whole. */
export const replyOf = ({ content, finishReason, usage, model, outputText }: GivenReply): ModelReply => {
  if (!Array.isArray(content)) {
    throw new ModelError('model-request-failed', 'the provider gave a reply without content', { transient: false });
  }
  const reason = finishReasonOf(finishReason);
  const message = messageOf(content);
  const counted = readUsage(usage);
  return {
    message: outputText === undefined ? message : withText(message, outputText),
    finishReason: reason,
    ...(finishReason?.raw === 'refusal' ? { refusal: textOf(message) || 'the model declined to answer' } : {}),
    ...(counted === undefined ? {} : { usage: counted }),
    ...(model === undefined ? {} : { model }),
  };
};
