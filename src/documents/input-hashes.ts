import type { ToolCallContext } from '../machines/tool-call-context.ts';
import { isPlainObject } from '../messages/json.ts';
import type { CallNeeds } from '../tools/call.ts';
import { inputHash } from '../tools/input-hash.ts';

/** Stands for the hash of the arguments that it stands beside: only another one is written. */
const ofInput = true;

const hashes = new WeakMap<object, string>();

/** Arguments are the same object for as long as their call is open, and it is written again and again. */
export const hashOf = (input: unknown): string => {
  if (typeof input !== 'object' || input === null) return inputHash(input);
  const known = hashes.get(input) ?? inputHash(input);
  hashes.set(input, known);
  return known;
};

const marked = <T extends { inputHash: string }>(given: T, input: unknown): T =>
  given.inputHash !== '' && given.inputHash === hashOf(input)
    ? { ...given, inputHash: ofInput as unknown as string }
    : given;

const unmarked = <T extends { inputHash: string }>(given: T, input: unknown): T =>
  (given.inputHash as unknown) === ofInput ? { ...given, inputHash: hashOf(input) } : given;

/** `asked` is what the model gave; what the call waits with stands in `waiting.input` where it is another. */
export const withoutWaitingHash = (waiting: CallNeeds, asked: unknown): CallNeeds =>
  marked(waiting, waiting.input ?? asked);

export const withWaitingHash = (waiting: CallNeeds, asked: unknown): CallNeeds =>
  unmarked(waiting, waiting.input ?? asked);

export const withoutHashes = (context: ToolCallContext): ToolCallContext => {
  const { waiting, input, call } = context;
  const own = marked(context, input);
  return waiting === undefined ? own : { ...own, waiting: withoutWaitingHash(waiting, call.input) };
};

export const withHashes = (context: ToolCallContext): ToolCallContext => {
  const { waiting, input, call } = context;
  const own = unmarked(context, input);
  // What is no waiting at all is told by those who check it.
  return isPlainObject(waiting) ? { ...own, waiting: withWaitingHash(waiting, call.input) } : own;
};
