import fc from 'fast-check';
import type { Message, ToolOutput } from '../../src/messages/message.ts';

/** Few ids and tools, so that they meet each other in every wrong way. */
const id = fc.constantFrom('', 'c1', 'c1_2', 'c2', 'c2_2', 'c3', 'x\ud83d');
const toolName = fc.constantFrom('read', 'write');
const text = fc.oneof(fc.constantFrom('', ' ', 'hi', 'a\ud83d'), fc.string({ maxLength: 8, unit: 'binary' }));

const options = fc.option(
  fc.constantFrom(
    { agentchart: { providerCallId: 'p1' } },
    { agentchart: { providerCallId: 'c1_2' }, openai: { itemId: 'i' } },
    { google: { thoughtSignature: 's\ud83d' } },
    {},
  ),
  { nil: undefined },
);

const withOptions = <T extends object>(item: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc
    .tuple(item, options)
    .map(([value, providerOptions]) => (providerOptions === undefined ? value : { ...value, providerOptions }));

const input = fc.oneof(
  fc.constantFrom<unknown[]>('', 'null', ' ', '{"a":', null, {}, [1], 7),
  fc.dictionary(fc.constantFrom('a', '__proto__', 'k\udc00'), fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' })),
);

const textPart = withOptions(text.map((value) => ({ type: 'text' as const, text: value })));
const reasoningPart = withOptions(text.map((value) => ({ type: 'reasoning' as const, text: value })));
const filePart = fc.constant({ type: 'file' as const, data: 'aGk=', mediaType: 'text/plain' });
const callPart = withOptions(
  fc.tuple(id, toolName, input, fc.boolean(), fc.nat(3)).map(([toolCallId, name, value, executed, dice]) => ({
    type: 'tool-call' as const,
    toolCallId,
    toolName: name,
    input: value,
    ...(dice === 0 ? { providerExecuted: executed } : {}),
  })),
);
const resultPart = withOptions(
  fc.tuple(id, toolName, text).map(([toolCallId, name, value]) => {
    const output: ToolOutput = { type: 'text', value };
    return { type: 'tool-result' as const, toolCallId, toolName: name, output };
  }),
);

const content = <T>(parts: fc.Arbitrary<T>) => fc.oneof(text, fc.array(parts, { maxLength: 4 }));

const userContent = content(fc.oneof(textPart, filePart));
export const assistantContent = content(
  fc.oneof(textPart, reasoningPart, filePart, { weight: 4, arbitrary: callPart }, resultPart),
);
const toolContent = fc.array(resultPart, { maxLength: 3 });

const message = withOptions<Message>(
  fc.oneof(
    text.map((said) => ({ role: 'system' as const, content: said })),
    userContent.map((said) => ({ role: 'user' as const, content: said })),
    { weight: 3, arbitrary: assistantContent.map((said) => ({ role: 'assistant' as const, content: said })) },
    { weight: 3, arbitrary: toolContent.map((said) => ({ role: 'tool' as const, content: said })) },
  ),
);

/** Any list of messages that the types allow, most of it such as no provider would take. */
export const anyMessages = fc
  .tuple(fc.array(message, { maxLength: 9 }), fc.nat())
  // The same object may stand in a list twice.
  .map(([list, at]) => (at % 4 === 0 && list.length > 0 ? [...list, ...list.slice(at % list.length)] : list));

/** Freezes a value at any depth: what is mutated then throws. */
export const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
};
