import type { JsonObject, JsonValue } from '../../../messages/json.ts';
import type { AssistantMessage, ToolOutput } from '../../../messages/message.ts';
import { parseArguments } from '../call-arguments.ts';
import { extraFields } from '../extra-fields.ts';
import { hasKeys, isJsonArray, isJsonObject } from '../json-value.ts';
import { brokenReply } from '../provider-error.ts';

export type AssistantPart = Exclude<AssistantMessage['content'], string>[number];

export const textIn = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

export const objectsIn = (value: JsonValue | undefined): JsonObject[] =>
  isJsonArray(value) ? value.filter(isJsonObject) : [];

const withoutNulls = (item: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null && value !== undefined));

export const isText = ({ type }: JsonObject): boolean => type === 'output_text' || type === 'text';

/** What a reasoning item says: its summary, or the thoughts themselves where there is none. */
export const thoughtsOf = (item: JsonObject): { kind: 'summary' | 'thought'; texts: string[] } => {
  const read = (list: JsonValue | undefined): string[] => objectsIn(list).map((part) => textIn(part.text));
  const summary = read(item.summary);
  const isSummed = summary.some((text) => text !== '');
  return isSummed ? { kind: 'summary', texts: summary } : { kind: 'thought', texts: read(item.content) };
};

/** Paragraphs of one reasoning item. */
export const thoughtSeparator = '\n\n';

/**
 * A message: one text part for each text. The first carries the item's own fields (id, phase), the others say that they go on with it. What
 * is no text, such as a refusal, rides along on an empty text. Log probabilities are not kept: they are long, and no server wants them.
 */
const messageParts = (item: JsonObject, provider: string): AssistantPart[] => {
  const entries = objectsIn(item.content);
  const own = extraFields(item, ['type', 'role', 'content']);
  if (entries.length === 0) return [carrier(item, provider)];
  return entries.map((entry, index) => {
    const extra = isText(entry) ? extraFields(entry, ['type', 'text', 'logprobs']) : entry;
    const fields = {
      ...(index === 0 ? { item: own } : { more: true }),
      ...(hasKeys(extra) ? { part: extra } : {}),
    };
    return {
      type: 'text',
      text: isText(entry) ? textIn(entry.text) : '',
      providerOptions: { [provider]: fields },
    };
  });
};

/** An item that says nothing to us, kept in its place. */
const carrier = (item: JsonObject, provider: string, text = ''): AssistantPart => ({
  type: 'reasoning',
  text,
  providerOptions: { [provider]: { item: withoutNulls(item) } },
});

/** A call for us to run. A custom tool's call is free text: it is shown as `{ input: text }`, since a tool takes an object. */
const callPart = (item: JsonObject, provider: string): AssistantPart => {
  const toolName = textIn(item.name);
  if (toolName === '') throw brokenReply('the model sent a tool call without a name');
  const isCustom = item.type === 'custom_tool_call';
  return {
    type: 'tool-call',
    toolCallId: textIn(item.call_id),
    toolName,
    input: isCustom ? { input: textIn(item.input) } : parseArguments(textIn(item.arguments)),
    providerOptions: {
      [provider]: { item: extraFields(item, ['call_id', 'name', isCustom ? 'input' : 'arguments']) },
    },
  };
};

const inputFields = ['action', 'queries', 'code', 'container_id', 'arguments', 'name', 'server_label'];

const providerInput = (item: JsonObject): unknown =>
  item.type === 'mcp_call'
    ? parseArguments(textIn(item.arguments))
    : Object.fromEntries(
        Object.entries(withoutNulls(item)).filter(([key]) => key !== 'name' && inputFields.includes(key)),
      );

const providerOutput = (item: JsonObject): ToolOutput => {
  const { error } = item;
  if (typeof error === 'string' && error !== '') return { type: 'error-text', value: error };
  if (isJsonObject(error)) return { type: 'error-json', value: error };
  if (item.type === 'mcp_call' && typeof item.output === 'string') return { type: 'text', value: item.output };
  const value = extraFields(item, ['id', 'type', 'result', ...inputFields]);
  if (item.type === 'image_generation_call' && typeof item.result === 'string') {
    const mediaType = `image/${textIn(item.output_format) || 'png'}`;
    return { type: 'content', value: [{ type: 'image-data', data: item.result, mediaType }] };
  }
  const result = item.result === undefined || item.result === null ? value : { ...value, result: item.result };
  return item.status === 'failed' ? { type: 'error-json', value: result } : { type: 'json', value: result };
};

/** What the provider ran itself: a call and its result. An image stands in the result only, since it is large. */
const providerParts = (item: JsonObject, provider: string, position: number): AssistantPart[] => {
  const toolCallId = textIn(item.id) || `item_${position}`;
  const toolName = (item.type === 'mcp_call' && textIn(item.name)) || textIn(item.type).replace(/_call$/, '');
  const output = providerOutput(item);
  const { result: _image, ...rest } = item;
  return [
    {
      type: 'tool-call',
      toolCallId,
      toolName,
      input: providerInput(item),
      providerExecuted: true,
      providerOptions: { [provider]: { item: withoutNulls(output.type === 'content' ? rest : item) } },
    },
    { type: 'tool-result', toolCallId, toolName, output },
  ];
};

/** Calls of tools that run on the server have no id for a result to name. */
const isProviderRun = (item: JsonObject): boolean =>
  typeof item.type === 'string' && /^\w+_call$/.test(item.type) && typeof item.call_id !== 'string';

/** The parts of one output item, in its order. An item of a type that we do not know is kept, and shown as an empty thought. */
export const partsOfItem = (item: JsonObject, provider: string, position: number): AssistantPart[] => {
  switch (item.type) {
    case 'message':
      return messageParts(item, provider);
    case 'reasoning':
      return [carrier(item, provider, thoughtsOf(item).texts.filter(Boolean).join(thoughtSeparator))];
    case 'function_call':
    case 'custom_tool_call':
      return [callPart(item, provider)];
    default:
      return isProviderRun(item) ? providerParts(item, provider, position) : [carrier(item, provider)];
  }
};

/** What the model said where it declined to answer; `''` where it did not. */
export const refusalIn = (items: readonly JsonObject[]): string =>
  items
    .filter((item) => item.type === 'message')
    .flatMap((item) => objectsIn(item.content))
    .map((entry) => (entry.type === 'refusal' ? textIn(entry.refusal) : ''))
    .join('');
