import type { ChatCompletionRequest, ChatMessage } from '@copilotkit/aimock';

/** What a tool gave back, as the model reads it. */
export interface Result {
  tool: string;
  text: string;
}

/** The last turn of a request: what the user asked, and the results so far, in order. */
export interface Conversation {
  question: string;
  results: Result[];
  /** The text of all that was sent before the question, the instructions too. */
  before: string;
}

export interface Reply {
  text?: string;
  /** What it thinks before it speaks. */
  thought?: string;
  calls?: { name: string; input: object }[];
}

/** What the scripted model says next; undefined where the question is not one of its own. */
export type Script = (conversation: Conversation) => Reply | undefined;

const textOf = ({ content }: ChatMessage): string => {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('');
};

export const readConversation = ({ messages }: ChatCompletionRequest): Conversation => {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const turn = messages.slice(start + 1);
  const names = new Map(turn.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name])));
  const question = messages[start];
  return {
    question: question === undefined ? '' : textOf(question),
    before: messages.slice(0, Math.max(0, start)).map(textOf).join('\n'),
    results: turn
      .filter(({ role }) => role === 'tool')
      .map((message) => ({ tool: names.get(message.tool_call_id ?? '') ?? '', text: textOf(message) })),
  };
};

/** A result as data, where the tool ran; undefined for an error or a refusal. */
export const dataOf = <T>(result: Result | undefined): T | undefined => {
  try {
    return result === undefined ? undefined : JSON.parse(result.text);
  } catch {
    return undefined;
  }
};
