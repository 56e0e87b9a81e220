import { canonicalJson, isPlainObject } from '../messages/json.ts';
import type { ModelReply, ModelRequest } from '../models/chat-model.ts';
import type { Tool } from '../tools/tool.ts';

/** What may be done with a call of a tool that a crash cut off. */
export type CrashSafety = 'readOnly' | 'idempotent' | 'retry' | 'ask' | 'report';

/** What happened in the lives of a session, in order. Plain JSON: a process that is killed has written it to a file. */
export type CrashEvent =
  | { type: 'commit'; revision: number; pending: number; replies: string[]; isUnknown: boolean }
  | { type: 'asked'; reply: string; request: string }
  | {
      type: 'begun';
      tool: string;
      callId: string;
      idempotencyKey: string;
      attempt: number;
      input: string;
      safety: CrashSafety;
    }
  /** The process died; calls whose results the store has then. */
  | { type: 'died'; settled: string[] };

const tag = 'agentchartCrash';

export const safetyOf = ({ annotations, onInterrupted }: Tool): CrashSafety => {
  if (annotations.readOnly === true) return 'readOnly';
  return annotations.idempotent === true ? 'idempotent' : onInterrupted;
};

/** The reply with a mark that stays on it, so that one can see which commit has it. */
export const withMark = (reply: ModelReply, mark: string): ModelReply => ({
  ...reply,
  message: {
    ...reply.message,
    providerOptions: { ...reply.message.providerOptions, [tag]: { reply: mark } },
  },
});

/** The marks of the replies in a text of a commit. */
export const marksIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(`"${tag}":\\{"reply":"([^"]+)"`, 'g'))].flatMap(([, mark]) => mark ?? []);

const withoutMark = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutMark);
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== tag);
  if (entries.length === 0 && Object.hasOwn(value, tag)) return undefined;
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutMark(item)]));
};

/** The same text for the same request, whatever marks its messages have. */
export const requestKey = ({ messages, instructions = '', tools = [] }: ModelRequest): string =>
  canonicalJson(
    JSON.parse(JSON.stringify({ instructions, tools: tools.map(({ name }) => name), messages: withoutMark(messages) })),
  );

/** Calls that have a result somewhere in a stored session, also in the agents inside its calls. */
export const settledIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(settledIn);
  if (!isPlainObject(value)) return [];
  const { callId, result, type, toolCallId } = value;
  const own = [
    ...(typeof callId === 'string' && isPlainObject(result) ? [callId] : []),
    ...(type === 'tool-result' && typeof toolCallId === 'string' ? [toolCallId] : []),
  ];
  return [...own, ...Object.values(value).flatMap(settledIn)];
};
