import { plainCopy } from '../messages/plain-copy.ts';
import type { AssistantMessage } from '../messages/message.ts';
import { type Usage, usageKinds } from '../messages/usage.ts';
import { type FinishReason, type ModelReply, finishReasons } from './chat-model.ts';

type Fields = Record<string, unknown>;
type Part = Exclude<AssistantMessage['content'], string>[number];

const isOwnObject = (value: unknown): value is Fields => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !Object.hasOwn(value, 'toJSON');
};

const isOptionalText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';

const copyPart = (part: unknown): Part | undefined => {
  if (!isOwnObject(part)) return undefined;
  const { type, providerOptions } = part;
  if (providerOptions !== undefined) return undefined;
  if (type === 'text' || type === 'reasoning') {
    const { text } = part;
    return typeof text === 'string' ? { type, text: text.toWellFormed() } : undefined;
  }
  const { toolCallId, toolName, input, providerExecuted } = part;
  if (type !== 'tool-call' || providerExecuted !== undefined) return undefined;
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string' || toolName === '') return undefined;
  const copy = input === undefined ? {} : plainCopy(input);
  if (copy === undefined) return undefined;
  return { type, toolCallId: toolCallId.toWellFormed(), toolName: toolName.toWellFormed(), input: copy };
};

const copyContent = (content: unknown): AssistantMessage['content'] | undefined => {
  if (typeof content === 'string') return content.toWellFormed();
  if (!Array.isArray(content) || Object.hasOwn(content, 'toJSON')) return undefined;
  const parts: Part[] = [];
  for (const given of content as readonly unknown[]) {
    const part = copyPart(given);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts;
};

const copyUsage = (given: Fields): Usage | undefined => {
  const usage: Usage = {};
  for (const kind of usageKinds) {
    const count = given[kind];
    if (count === undefined) continue;
    if (typeof count !== 'number' || !(count >= 0 && count <= Number.MAX_SAFE_INTEGER)) return undefined;
    usage[kind] = count + 0;
  }
  return usage;
};

/**
 * A reply as plain JSON of our own, where it is one already and nothing in it has to be mended: nearly all are so, and to look at them in one
 * walk costs a fraction of what it takes to mend them. Undefined for all else.
 */
export const copyReply = (reply: unknown): ModelReply | undefined => {
  if (!isOwnObject(reply) || !isOwnObject(reply['message'])) return undefined;
  const { finishReason, refusal, model, usage: counts } = reply;
  const { role, content: said, providerOptions } = reply['message'];
  if (role !== 'assistant' || providerOptions !== undefined) return undefined;
  if (!isOptionalText(refusal) || !isOptionalText(model)) return undefined;
  const reason: FinishReason | undefined = finishReasons.find((name) => name === finishReason);
  const content = copyContent(said);
  if (reason === undefined || content === undefined) return undefined;
  const usage = counts === undefined ? undefined : isOwnObject(counts) ? copyUsage(counts) : undefined;
  if (counts !== undefined && usage === undefined) return undefined;
  return {
    message: { role, content },
    finishReason: reason,
    ...(refusal === undefined ? {} : { refusal: refusal.toWellFormed() }),
    ...(usage === undefined ? {} : { usage }),
    ...(model === undefined ? {} : { model: model.toWellFormed() }),
  };
};
