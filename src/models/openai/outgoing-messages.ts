import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { JsonObject } from '../../messages/json.ts';
import {
  partsOf,
  textOf,
  type AssistantMessage,
  type Part,
  type ReasoningPart,
  type ToolCallPart,
  type ToolResultPart,
} from '../../messages/message.ts';
import type { ModelRequest } from '../chat-model.ts';
import { wellFormed } from '../../messages/well-formed.ts';
import { argumentsText } from './call-arguments.ts';
import { instructionsOf } from './instructions.ts';
import { hasKeys, isJsonObject } from './json-value.ts';
import { toolOutputFiles, toolOutputText } from './tool-output.ts';
import { contentParts, ownFields, userContent } from './user-content.ts';
import { wireName } from './wire-name.ts';

export interface MessageDialect {
  provider: string;
  echoReasoning: boolean;
  mergeConsecutive: boolean;
}

const systemMessages = (request: ModelRequest): ChatCompletionMessageParam[] => {
  const content = instructionsOf(request);
  return content === '' ? [] : [{ role: 'system', content }];
};

const isReasoning = (part: Part): part is ReasoningPart => part.type === 'reasoning';

/** Thoughts go back to the provider that sent them, under the key that they came in. */
const reasoningFields = (message: AssistantMessage, text: string, dialect: MessageDialect): JsonObject => {
  const fields: JsonObject = {};
  for (const part of partsOf(message).filter(isReasoning)) {
    const { field } = ownFields(part, dialect.provider);
    if (typeof field !== 'string' || !dialect.echoReasoning) continue;
    const before = fields[field];
    fields[field] = (typeof before === 'string' ? before : '') + part.text;
  }
  if (typeof fields.content !== 'string') return fields;
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: fields.content }] };
  return { ...fields, content: [thinking, ...(text === '' ? [] : [{ type: 'text', text }])] };
};

const unknownFields = (message: AssistantMessage, dialect: MessageDialect): JsonObject => {
  const own = Object.entries(ownFields(message, dialect.provider));
  return Object.fromEntries(own.filter(([key]) => dialect.echoReasoning || !key.startsWith('reasoning')));
};

const callParam = (part: ToolCallPart, id: string, provider: string): ChatCompletionMessageFunctionToolCall => {
  const { function: inFunction, ...own } = ownFields(part, provider);
  return {
    ...own,
    id,
    type: 'function',
    function: {
      ...(isJsonObject(inFunction) ? inFunction : {}),
      name: wireName(part.toolName),
      arguments: argumentsText(part.input),
    },
  };
};

/** Calls that the provider ran without telling the result would be calls without a result: they stay out. */
const answerableCalls = (parts: readonly Part[]): ToolCallPart[] => {
  const answered = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])));
  return parts.filter(
    (part): part is ToolCallPart =>
      part.type === 'tool-call' && (part.providerExecuted !== true || answered.has(part.toolCallId)),
  );
};

/** Two plain texts become one; anything else becomes a list of parts. */
const joinContent = (
  before: string | ChatCompletionContentPart[],
  next: string | ChatCompletionContentPart[],
): string | ChatCompletionContentPart[] => {
  if (typeof before === 'string' && typeof next === 'string') return `${before}\n\n${next}`;
  const list = (content: string | ChatCompletionContentPart[]): ChatCompletionContentPart[] =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return [...list(before), ...list(next)];
};

/**
 * The `messages` of a request. One system message, first. Content is never null. Arguments are always the text of an object. Results
 * are text; images and files of results follow in a user message, right after the results of the round.
 */
export const outgoingMessages = (request: ModelRequest, dialect: MessageDialect): ChatCompletionMessageParam[] => {
  const { provider, mergeConsecutive } = dialect;
  const sent = systemMessages(request);
  let attached: ChatCompletionContentPart[] = [];
  // Ids made for calls without one, in call order: their results take them in the same order.
  let madeIds: string[] = [];

  const addUser = (content: string | ChatCompletionContentPart[]): void => {
    const last = sent.at(-1);
    if (mergeConsecutive && last?.role === 'user') last.content = joinContent(last.content, content);
    else sent.push({ role: 'user', content });
  };

  const addResult = (part: ToolResultPart): void => {
    const id = part.toolCallId === '' ? (madeIds.shift() ?? 'call') : part.toolCallId;
    sent.push({
      ...ownFields(part, provider),
      role: 'tool',
      tool_call_id: id,
      content: toolOutputText(part.output),
    });
    const files = toolOutputFiles(part.output);
    if (files.length === 0) return;
    attached.push({ type: 'text', text: `From the result of ${wireName(part.toolName)} (${id}):` });
    attached.push(...contentParts(files, provider));
  };

  const addAssistant = (message: AssistantMessage): void => {
    const text = textOf(message);
    const parts = partsOf(message);
    madeIds = [];
    const calls = answerableCalls(parts).map((part, index) => {
      const id = part.toolCallId || `call_${sent.length}_${index}`;
      if (part.toolCallId === '') madeIds.push(id);
      return callParam(part, id, provider);
    });
    const echo = { ...unknownFields(message, dialect), ...reasoningFields(message, text, dialect) };
    if (text === '' && calls.length === 0 && !hasKeys(echo)) return;
    const param: ChatCompletionAssistantMessageParam = {
      role: 'assistant',
      content: text,
      ...echo,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const last = sent.at(-1);
    const before = last?.role === 'assistant' && last.tool_calls === undefined ? last.content : undefined;
    if (mergeConsecutive && typeof before === 'string' && typeof param.content === 'string') {
      const content = [before, param.content].filter(Boolean).join('\n\n');
      sent[sent.length - 1] = { ...last, ...param, content };
    } else {
      sent.push(param);
    }
    for (const part of parts) if (part.type === 'tool-result') addResult(part);
  };

  const addAttached = (): void => {
    if (attached.length > 0) addUser(attached);
    attached = [];
  };

  for (const message of wellFormed(request.messages)) {
    if (message.role !== 'tool') addAttached();
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        addUser(userContent(message.content, provider));
        break;
      case 'assistant':
        addAssistant(message);
        break;
      case 'tool':
        for (const part of message.content) addResult(part);
        break;
      default:
        message satisfies never;
    }
  }
  addAttached();
  return sent;
};
