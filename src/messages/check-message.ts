import { AgentError } from '../errors.ts';
import { filePartOf } from './check-file.ts';
import { fieldsOf, jsonObjectOf, jsonOf, oneOf, refuse, stringOf } from './check-json.ts';
import { toolOutputOf } from './check-output.ts';
import type {
  FilePart,
  Message,
  ProviderOptions,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from './message.ts';

/** `{ providerOptions }` of a message or part, or `{}` where it has none. */
export const providerOptionsOf = (
  fields: Record<string, unknown>,
  path: string,
): { providerOptions?: ProviderOptions } => {
  if (fields.providerOptions === undefined) return {};
  const at = `${path}.providerOptions`;
  const entries = Object.entries(fieldsOf(fields.providerOptions, at)).filter(([, options]) => options !== undefined);
  return {
    providerOptions: Object.fromEntries(
      entries.map(([name, options]) => [name.toWellFormed(), jsonObjectOf(options, `${at}.${name}`)] as const),
    ),
  };
};

const toolNameOf = (fields: Record<string, unknown>, path: string): string =>
  fields.toolName === '' ? refuse(`${path}.toolName`, '', 'a name') : stringOf(fields.toolName, `${path}.toolName`);

const callOf = (fields: Record<string, unknown>, path: string): ToolCallPart => {
  const { providerExecuted } = fields;
  if (providerExecuted !== undefined && typeof providerExecuted !== 'boolean')
    return refuse(`${path}.providerExecuted`, providerExecuted, 'true, false');
  return {
    type: 'tool-call',
    toolCallId: stringOf(fields.toolCallId, `${path}.toolCallId`),
    toolName: toolNameOf(fields, path),
    input: fields.input === undefined ? {} : jsonOf(fields.input, `${path}.input`),
    ...(providerExecuted === undefined ? {} : { providerExecuted }),
  };
};

const resultOf = (fields: Record<string, unknown>, path: string): ToolResultPart => ({
  type: 'tool-result',
  toolCallId: stringOf(fields.toolCallId, `${path}.toolCallId`),
  toolName: toolNameOf(fields, path),
  output: toolOutputOf(fields.output, `${path}.output`),
});

interface PartOfType {
  text: TextPart;
  reasoning: ReasoningPart;
  file: FilePart;
  /** The AI SDK's older form of a file. */
  image: FilePart;
  'tool-call': ToolCallPart;
  'tool-result': ToolResultPart;
}

const readers: { [Type in keyof PartOfType]: (fields: Record<string, unknown>, path: string) => PartOfType[Type] } = {
  text: (fields, path) => ({ type: 'text', text: stringOf(fields.text, `${path}.text`) }),
  reasoning: (fields, path) => ({ type: 'reasoning', text: stringOf(fields.text, `${path}.text`) }),
  file: filePartOf,
  image: filePartOf,
  'tool-call': callOf,
  'tool-result': resultOf,
};

const partOf = <Type extends keyof PartOfType>(
  value: unknown,
  at: string,
  types: readonly Type[],
): PartOfType[Type] => {
  const fields = fieldsOf(value, at, 'a part, such as { type: "text", text: "…" }');
  const type = types.find((name) => name === fields.type) ?? refuse(`${at}.type`, fields.type, oneOf(types));
  return { ...readers[type](fields, at), ...providerOptionsOf(fields, at) };
};

const partsOf = <Type extends keyof PartOfType>(
  content: unknown,
  path: string,
  types: readonly Type[],
  allowed = 'a string, an array of parts',
): PartOfType[Type][] => {
  if (!Array.isArray(content)) return refuse(path, content, allowed);
  return Array.from(content, (value: unknown, index) => partOf(value, `${path}[${index}]`, types));
};

/** The types of part that an assistant's message may hold. */
export const assistantTypes = ['text', 'reasoning', 'file', 'tool-call', 'tool-result'] as const;

/** One part of an assistant's message, by the rules of `checkMessages`. */
export const assistantPartOf = (value: unknown, path: string): PartOfType[(typeof assistantTypes)[number]] =>
  partOf(value, path, assistantTypes);

/** A string, or the parts that the role allows. */
const contentOf = <Type extends keyof PartOfType>(
  content: unknown,
  path: string,
  types: readonly Type[],
): string | PartOfType[Type][] =>
  typeof content === 'string' ? content.toWellFormed() : partsOf(content, path, types);

const userContentOf = (content: unknown, path: string): UserMessage['content'] => {
  const found = contentOf(content, path, ['text', 'file', 'image']);
  return found.length > 0 ? found : refuse(path, content, 'content that is not empty');
};

const messageOf = (value: unknown, path: string): Message => {
  const fields = fieldsOf(value, path, 'a message, such as { role: "user", content: "…" }');
  const { role, content } = fields;
  const at = `${path}.content`;
  // In the shape of OpenAI's API the calls stand beside the content, where they would be lost without a word.
  if (fields.tool_calls !== undefined)
    return refuse(`${path}.tool_calls`, fields.tool_calls, 'calls as parts of content, { type: "tool-call", … }');
  const options = providerOptionsOf(fields, path);
  switch (role) {
    case 'system':
      return { role, content: stringOf(content, at), ...options };
    case 'user':
      return { role, content: userContentOf(content, at), ...options };
    case 'assistant':
      return {
        role,
        content: contentOf(content, at, assistantTypes),
        ...options,
      };
    case 'tool':
      return { role, content: partsOf(content, at, ['tool-result'], 'an array of parts'), ...options };
    default:
      return refuse(`${path}.role`, role, oneOf(['system', 'user', 'assistant', 'tool']));
  }
};

const messagesOf = (input: unknown): Message[] => {
  if (!Array.isArray(input)) return [messageOf(input, 'message')];
  if (input.length === 0) return refuse('messages', input, 'at least one message');
  return Array.from(input, (message: unknown, index) => messageOf(message, `messages[${index}]`));
};

/**
 * What `run` takes, as messages of ours: a string (one user message), one message, or an array of them. The answer is a deep copy in
 * plain JSON; the caller's objects are neither kept nor changed. Also takes what the AI SDK takes beyond our types: file data
 * as bytes, `URL` or tagged (`{ type: 'data' | 'url' | 'text' }`), and `image` parts. For values made JSON see `jsonOf`.
 * Fields that we do not know are left out: what a provider needs belongs under `providerOptions`.
 * Does not check that calls have results; `repairHistory` sees to that.
 *
 * Throws `AgentError` `invalid-message`, with the path, what was found and what is allowed. Nothing empty is taken: no `''`, no
 * `[]`, no user message without content.
 */
export const checkMessages = (input: unknown): Message[] => {
  if (input === '') return refuse('message', input, 'text that is not empty');
  if (typeof input === 'string') return [{ role: 'user', content: input.toWellFormed() }];
  try {
    return messagesOf(input);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    // A getter or a proxy of the caller.
    throw new AgentError('invalid-message', 'the messages could not be read', { cause: error });
  }
};
