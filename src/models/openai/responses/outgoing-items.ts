import type { JsonObject } from '../../../messages/json.ts';
import {
  partsOf,
  type AssistantMessage,
  type Message,
  type Part,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from '../../../messages/message.ts';
import { wellFormed } from '../../../messages/well-formed.ts';
import { argumentsText } from '../call-arguments.ts';
import { isJsonArray, isJsonObject } from '../json-value.ts';
import { ownFields } from '../user-content.ts';
import { wireName } from '../wire-name.ts';
import { isText } from './incoming-items.ts';
import { callOutput, inputContent } from './input-content.ts';

export interface ItemDialect {
  provider: string;
  /** The server may still have the items of earlier replies, so thoughts that it left out can be named by their id. */
  isKept: boolean;
  echoReasoning: boolean;
}

const itemOf = (part: Part, provider: string): JsonObject | undefined => {
  const { item } = ownFields(part, provider);
  return isJsonObject(item) ? item : undefined;
};

/** Nothing would be left of a thought that was neither sent nor kept. */
const canEcho = (item: JsonObject, { isKept, echoReasoning }: ItemDialect): boolean => {
  if (item.type !== 'reasoning') return true;
  const isWhole = typeof item.encrypted_content === 'string' || (isJsonArray(item.content) && item.content.length > 0);
  return echoReasoning && (isKept || isWhole);
};

const withoutId = ({ id: _id, ...item }: JsonObject): JsonObject => item;

const textEntry = (part: TextPart, provider: string): JsonObject => {
  const { part: extra } = ownFields(part, provider);
  const own = isJsonObject(extra) ? extra : {};
  if (own.type !== undefined && !isText(own)) return own;
  return { annotations: [], ...own, type: 'output_text', text: part.text };
};

const freeText = (input: unknown): string =>
  isJsonObject(input) && typeof input.input === 'string' ? input.input : argumentsText(input);

/** An image that the provider made stands in the result; its item wants it back. */
const withImage = (item: JsonObject, result: ToolResultPart | undefined): JsonObject => {
  if (item.type !== 'image_generation_call' || result?.output.type !== 'content') return item;
  const image = result.output.value.find((part) => part.type === 'image-data');
  return image === undefined ? item : { ...item, result: image.data };
};

/**
 * The `input` of a request: what this provider sent goes back as the items that it was, in their order; what others sent goes as plain
 * messages, calls and outputs, without their thoughts. Where a thought cannot go back, what followed it goes without its
 * id, since the server would miss the thought: as something that it has not seen before. System messages are instructions, not items.
 */
export const outgoingItems = (messages: readonly Message[], dialect: ItemDialect): JsonObject[] => {
  const { provider } = dialect;
  const items: JsonObject[] = [];
  const customCalls = new Set<string>();
  // Ids made for calls without one, in call order: their results take them in the same order.
  let madeIds: string[] = [];

  const addText = (part: TextPart, echo: (item: JsonObject) => JsonObject): void => {
    const own = itemOf(part, provider);
    const last = items.at(-1);
    const isMore = ownFields(part, provider).more === true && last?.type === 'message' && isJsonArray(last.content);
    if (isMore && isJsonArray(last.content)) last.content = [...last.content, textEntry(part, provider)];
    else if (own !== undefined) {
      items.push({ ...echo(own), type: 'message', role: 'assistant', content: [textEntry(part, provider)] });
    } else if (part.text !== '') items.push({ role: 'assistant', content: part.text });
  };

  const addCall = (part: ToolCallPart, echo: (item: JsonObject) => JsonObject): void => {
    const own = echo(itemOf(part, provider) ?? {});
    const id = part.toolCallId || `call_${items.length}`;
    if (part.toolCallId === '') madeIds.push(id);
    const isCustom = own.type === 'custom_tool_call';
    if (isCustom) customCalls.add(id);
    else customCalls.delete(id);
    const call = { ...own, call_id: id, name: wireName(part.toolName) };
    items.push(
      isCustom
        ? { ...call, input: freeText(part.input) }
        : { ...call, type: 'function_call', arguments: argumentsText(part.input) },
    );
  };

  const addResult = (part: ToolResultPart): void => {
    const id = part.toolCallId === '' ? (madeIds.shift() ?? 'call') : part.toolCallId;
    items.push({
      ...ownFields(part, provider),
      type: customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output',
      call_id: id,
      output: callOutput(part.output, provider),
    });
  };

  const addAssistant = (message: AssistantMessage): void => {
    const parts = partsOf(message);
    const results = new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part]] : [])));
    const isCut = parts.some((part) => {
      const item = part.type === 'reasoning' ? itemOf(part, provider) : undefined;
      return item !== undefined && !canEcho(item, dialect);
    });
    const echo = (item: JsonObject): JsonObject => (isCut ? withoutId(item) : item);
    const ran = new Set<string>();
    madeIds = [];
    for (const part of parts) {
      const own = itemOf(part, provider);
      if (part.type === 'text') addText(part, echo);
      else if (part.type === 'reasoning') {
        if (own !== undefined && canEcho(own, dialect)) items.push(own);
      } else if (part.type === 'tool-call' && part.providerExecuted === true && own !== undefined) {
        ran.add(part.toolCallId);
        if (!isCut) items.push(withImage(own, results.get(part.toolCallId)));
      } else if (part.type === 'tool-call') {
        // A call that another provider ran without telling the result would be a call without a result.
        if (part.providerExecuted !== true || results.has(part.toolCallId)) addCall(part, echo);
      } else if (part.type === 'tool-result' && !ran.has(part.toolCallId)) addResult(part);
    }
  };

  for (const message of wellFormed(messages)) {
    switch (message.role) {
      case 'system':
        break;
      case 'user':
        items.push({ role: 'user', content: inputContent(message.content, provider) });
        break;
      case 'assistant':
        addAssistant(message);
        break;
      case 'tool':
        message.content.forEach(addResult);
        break;
      default:
        message satisfies never;
    }
  }
  return items;
};
