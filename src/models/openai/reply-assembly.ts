import type { JsonObject, JsonValue } from '../../messages/json.ts';
import type { AssistantMessage } from '../../messages/message.ts';
import type { Usage } from '../../messages/usage.ts';
import type { FinishReason, ModelChunk } from '../chat-model.ts';
import { ModelError } from '../model-error.ts';
import { createCallAssembly, type AssembledCall } from './call-assembly.ts';
import { isObjectText, parseArguments } from './call-arguments.ts';
import { extraFields, mergeExtraFields } from './extra-fields.ts';
import { hasKeys, isJsonArray, isJsonObject } from './json-value.ts';
import { brokenReply, errorInReply } from './provider-error.ts';
import { readUsage } from './token-usage.ts';
import type { ReplyAssembly } from './wire-model.ts';

/** The keys under which servers send thoughts. Where both are there they say the same: the first one counts. */
const reasoningFields = ['reasoning_content', 'reasoning'];
const knownFields = ['role', 'content', 'refusal', 'tool_calls', ...reasoningFields];

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content-filter'],
]);

/** These say that the server gave up in the middle of its answer. */
const brokenReasons = ['error', 'insufficient_system_resource'];

const textIn = (value: JsonValue | undefined): string => {
  if (typeof value === 'string') return value;
  return isJsonArray(value) ? value.map((part) => (isJsonObject(part) ? textIn(part.text) : '')).join('') : '';
};

/** Content is a text or a list of parts; of these, text and thinking are read and the others passed over. */
const readContent = (content: JsonValue | undefined): { text: string; thinking: string } => {
  if (!isJsonArray(content)) return { text: textIn(content), thinking: '' };
  const read = { text: '', thinking: '' };
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    if (part.type === 'text') read.text += textIn(part.text);
    if (part.type === 'thinking') read.thinking += textIn(part.thinking);
  }
  return read;
};

/** Choice 0; another one is never read in its place. */
const firstChoice = (choices: JsonValue | undefined): JsonObject | undefined =>
  isJsonArray(choices) ? choices.filter(isJsonObject).find(({ index }) => (index ?? 0) === 0) : undefined;

export const createReplyAssembly = (provider: string, toolNames: ReadonlySet<string>): ReplyAssembly => {
  const calls = createCallAssembly(toolNames);
  let text = '';
  let reasoning = '';
  let reasoningField: string | undefined;
  let emptyField: string | undefined;
  let refusal = '';
  let extra: JsonObject = {};
  let finish: string | undefined;
  let hasChoice = false;
  let isClosed = false;
  let usage: Usage | undefined;
  let model: string | undefined;

  const addReasoning = (message: JsonObject, thinking: string): string => {
    emptyField ??= reasoningFields.find((field) => message[field] === '');
    reasoningField ??= reasoningFields.find((field) => typeof message[field] === 'string' && message[field] !== '');
    if (thinking !== '') reasoningField ??= 'content';
    const added = reasoningField === 'content' ? thinking : textIn(message[reasoningField ?? '']);
    reasoning += added;
    return added;
  };

  const addMessage = (message: JsonObject, callPieces: JsonValue | undefined): ModelChunk[] => {
    const content = readContent(message.content);
    const thought = addReasoning(message, content.thinking);
    text += content.text;
    if (typeof message.refusal === 'string') refusal += message.refusal;
    const unknown = extraFields(message, knownFields);
    if (hasKeys(unknown)) extra = mergeExtraFields(extra, unknown);
    return [
      ...(thought === '' ? [] : [{ type: 'reasoning-delta' as const, text: thought }]),
      ...(content.text === '' ? [] : [{ type: 'text-delta' as const, text: content.text }]),
      ...calls.add(callPieces).map((delta) => ({ type: 'tool-input-delta' as const, ...delta })),
    ];
  };

  const addChoice = (choice: JsonObject): ModelChunk[] => {
    hasChoice = true;
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') finish = choice.finish_reason;
    if (isJsonObject(choice.delta)) return addMessage(choice.delta, choice.delta.tool_calls);
    if (!isJsonObject(choice.message)) return [];
    const whole = choice.message.tool_calls;
    // In a whole message every entry is a call of its own, whatever its index and id say.
    const entries = isJsonArray(whole) ? whole.filter(isJsonObject).map((call, index) => ({ ...call, index })) : [];
    return addMessage(choice.message, entries);
  };

  const callPart = ({ id, name, text: argumentText, extra: callExtra }: AssembledCall) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: parseArguments(argumentText),
    ...(hasKeys(callExtra) ? { providerOptions: { [provider]: callExtra } } : {}),
  });

  const namedCalls = (): AssembledCall[] =>
    calls.calls().filter((call) => {
      if (call.name === '' && call.text !== '') throw brokenReply('the model sent a tool call without a name');
      return call.name !== '';
    });

  const reasoningPart = (text: string, field: string) => ({
    type: 'reasoning' as const,
    text,
    providerOptions: { [provider]: { field } },
  });

  const message = (): AssistantMessage => {
    const made = namedCalls();
    // Providers that insist on the thoughts of a round with calls insist on empty ones too.
    const empty = reasoning === '' && made.length > 0 ? emptyField : undefined;
    const fields = empty === undefined ? extra : { ...extra, [empty]: '' };
    return {
      role: 'assistant',
      content: [
        ...(reasoning === '' || reasoningField === undefined ? [] : [reasoningPart(reasoning, reasoningField)]),
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...made.map(callPart),
      ],
      ...(hasKeys(fields) ? { providerOptions: { [provider]: fields } } : {}),
    };
  };

  return {
    add: (data) => {
      const error = errorInReply(data);
      if (error !== undefined) throw error;
      const choice = firstChoice(data.choices);
      usage = readUsage(data.usage) ?? readUsage(choice?.usage) ?? usage;
      if (typeof data.model === 'string' && data.model !== '') model = data.model;
      return choice === undefined ? [] : addChoice(choice);
    },
    close: () => {
      isClosed = true;
    },
    // A finish reason was seen, or a closed stream left whole calls behind.
    isComplete: () => {
      if (finish !== undefined || !isClosed) return finish !== undefined;
      const made = calls.calls();
      return made.length > 0 && made.every((call) => isObjectText(call.text));
    },
    reply: () => {
      if (!hasChoice) {
        throw new ModelError('model-request-failed', 'the reply holds no choice with index 0', { transient: false });
      }
      if (finish !== undefined && brokenReasons.includes(finish)) {
        throw brokenReply(`the model broke off its answer: finish reason "${finish}"`);
      }
      return {
        message: message(),
        finishReason: finishReasons.get(finish ?? '') ?? 'other',
        ...(refusal === '' ? {} : { refusal }),
        ...(usage === undefined ? {} : { usage }),
        ...(model === undefined ? {} : { model }),
      };
    },
  };
};
