import { errorData } from '../errors.ts';
import { oneOf, refuse, stringOf } from '../messages/check-json.ts';
import { assistantPartOf, assistantTypes, providerOptionsOf } from '../messages/check-message.ts';
import { isPlainObject } from '../messages/json.ts';
import type { AssistantMessage } from '../messages/message.ts';
import { ownKey } from '../messages/own-options.ts';
import { type Usage, usageKinds } from '../messages/usage.ts';
import { type FinishReason, type ModelReply, finishReasons } from './chat-model.ts';
import { copyReply } from './copy-reply.ts';
import { noReply } from './no-reply.ts';

type Fields = Record<string, unknown>;
type Part = Exclude<AssistantMessage['content'], string>[number];

// As deep as a document may be (see `jsonOf`).
const maxDepth = 500;

/** True for JSON that a document takes: at most 500 levels, no `__proto__` key. */
const isStorable = (value: unknown, levels = maxDepth): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0 || (!Array.isArray(value) && Object.hasOwn(value, '__proto__'))) return false;
  return Object.values(value).every((item) => isStorable(item, levels - 1));
};

/** A copy without the key `__proto__`; what is nested deeper than `levels` stays, for `isStorable` to find. */
const withoutUnsafeKeys = (value: unknown, levels: number): unknown => {
  if (typeof value !== 'object' || value === null || levels < 0) return value;
  if (Array.isArray(value)) return value.map((item) => withoutUnsafeKeys(item, levels - 1));
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutUnsafeKeys(item, levels - 1)] as const));
};

/** The entries of an object that a document takes; what is nested too deep is left out, and `__proto__` at any depth. */
const storableEntries = (value: Fields): [string, unknown][] =>
  Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    if (key === '__proto__') return [];
    const safe = withoutUnsafeKeys(item, maxDepth);
    return isStorable(safe) ? [[key, safe]] : [];
  });

/** Options of a message or part without ours, which no provider sets; `null` counts as absent. */
const withOptions = (fields: Fields): Fields => {
  const { providerOptions: given, ...rest } = fields;
  if (given === undefined || given === null) return rest;
  if (!isPlainObject(given)) return fields;
  const named = Object.entries(given)
    .filter(([key, options]) => key !== ownKey && key !== '__proto__' && options !== null)
    .map(
      ([key, options]) =>
        [key, isPlainObject(options) ? Object.fromEntries(storableEntries(options)) : options] as const,
    );
  return named.length === 0 ? rest : { ...rest, providerOptions: Object.fromEntries(named) };
};

/** A name that is no tool's, but one that providers take back: the model reads that there is no such tool (R18). */
const unnamed = 'unnamed';

const named = (fields: Fields): Fields => (fields['toolName'] === '' ? { ...fields, toolName: unnamed } : fields);

const callOf = (fields: Fields): Fields => {
  const { input, toolCallId, providerExecuted, ...rest } = named(fields);
  return {
    ...rest,
    toolCallId: toolCallId ?? '',
    // Text instead, which fails its check: the model reads that its arguments are not an object.
    input: isStorable(input) ? input : JSON.stringify(input),
    ...(providerExecuted === null ? {} : { providerExecuted }),
  };
};

const resultOf = (fields: Fields): Fields => {
  const { output } = fields;
  if (!isPlainObject(output) || isStorable(output['value'])) return named(fields);
  const text = JSON.stringify(output['value']);
  switch (output['type']) {
    case 'json':
      return named({ ...fields, output: { type: 'text', value: text } });
    case 'error-json':
      return named({ ...fields, output: { type: 'error-text', value: text } });
    default:
      return named(fields);
  }
};

const prepared = (fields: Fields): Fields => {
  switch (fields['type']) {
    case 'tool-call':
      return callOf(fields);
    case 'tool-result':
      return resultOf(fields);
    default:
      return fields;
  }
};

/** A part of a type that we do not know says nothing to us; only one that belongs to a call must not get lost. */
const isForeign = (part: unknown): boolean =>
  isPlainObject(part) &&
  typeof part['type'] === 'string' &&
  part['type'] !== '' &&
  !assistantTypes.some((type) => type === part['type']) &&
  part['toolCallId'] === undefined;

const partsOf = (content: readonly unknown[]): Part[] =>
  content.flatMap((part, index): Part[] => {
    if (isForeign(part)) return [];
    const path = `content[${index}]`;
    return [assistantPartOf(isPlainObject(part) ? prepared(withOptions(part)) : part, path)];
  });

const messageOf = (message: unknown): AssistantMessage | undefined => {
  if (!isPlainObject(message) || message['role'] !== 'assistant') return undefined;
  const { content } = message;
  if (typeof content !== 'string' && !Array.isArray(content)) return undefined;
  return {
    role: 'assistant',
    content: typeof content === 'string' ? content.toWellFormed() : partsOf(content),
    ...providerOptionsOf(withOptions(message), 'message'),
  };
};

/** What is no count is left out. Larger ones than a number can hold exactly are none: their sum could be infinite. */
const usageOf = (given: unknown): { usage?: Usage } => {
  if (!isPlainObject(given)) return {};
  const usage: Usage = {};
  for (const kind of usageKinds) {
    const count = given[kind];
    if (typeof count === 'number' && count >= 0 && count <= Number.MAX_SAFE_INTEGER) usage[kind] = count;
  }
  return { usage };
};

/** A reason by a name that we do not know is `other`. */
const finishReasonOf = (given: unknown): FinishReason => {
  if (given === undefined || given === null) return 'other';
  if (typeof given !== 'string') return refuse('finishReason', given, oneOf(finishReasons));
  return finishReasons.find((reason) => reason === given) ?? 'other';
};

const textAt = <Name extends string>(reply: Fields, name: Name): { [key in Name]?: string } => {
  const found: { [key in Name]?: string } = {};
  const value = reply[name];
  return value === undefined || value === null ? found : { ...found, [name]: stringOf(value, name) };
};

const checked = (reply: unknown): ModelReply | undefined => {
  const message = isPlainObject(reply) ? messageOf(reply['message']) : undefined;
  if (!isPlainObject(reply) || message === undefined) return undefined;
  return {
    message,
    finishReason: finishReasonOf(reply['finishReason']),
    ...textAt(reply, 'refusal'),
    ...usageOf(reply['usage']),
    ...textAt(reply, 'model'),
  };
};

/**
 * A reply as plain JSON of our own: nothing that the model's adapter may change later, nothing that a save would lose, nothing that a
 * restore would refuse. `name` is the model's.
 *
 * Mended without a word: fields that we do not know are left out, and so are parts of an unknown type, unless they belong to a call; `null`
 * counts as absent; counts of tokens that are no numbers ≥ 0 are left out; arguments that no document may hold (more than 500 levels, a
 * key `__proto__`) become their JSON text; a call with an empty name calls `unnamed`.
 *
 * Throws a `TypeError` for everything else, and says where.
 */
export const replyOf = (reply: unknown, name: string): ModelReply => {
  let found: ModelReply | undefined;
  try {
    found = copyReply(reply) ?? checked(JSON.parse(JSON.stringify(reply) ?? 'null'));
  } catch (error) {
    throw new TypeError(`the model "${name}" gave a reply that cannot be used: ${errorData(error).message}`, {
      cause: error,
    });
  }
  if (found === undefined) throw noReply(name);
  return found;
};
