import { openaiChat, type OpenAIChatOptions } from '../../src/models/openai/index.ts';
import type { ChatModel } from '../../src/models/chat-model.ts';
import {
  callPiece,
  completion,
  delta,
  type RecordedRequest,
  type ScriptedReply,
  sse,
  startReplayServer,
  type ReplayServer,
  wholeCall,
} from './replay-server.ts';

/** A call as a server writes it; `args` goes out as it is. */
export interface WireCall {
  id?: string | undefined;
  name: string;
  args?: unknown;
}

/** What a server says, whole or streamed, as it was asked. */
export interface Said {
  content?: string | null;
  calls?: readonly WireCall[];
  /** Default: what the calls ask for. */
  finish?: string | null;
  /** More fields of the message, such as `reasoning_content`. */
  extra?: Record<string, unknown>;
}

export type Answer = string | Said | ScriptedReply | ((request: RecordedRequest) => string | Said | ScriptedReply);

const isReply = (answer: Said | ScriptedReply): answer is ScriptedReply =>
  'body' in answer || 'json' in answer || 'status' in answer;

const whole = ({ content = '', calls = [], extra = {} }: Said, finish: string | null): ScriptedReply => {
  const made = calls.map(({ id, name, args = '{}' }) => wholeCall(id, name, args));
  return { json: completion({ content, ...extra, ...(made.length === 0 ? {} : { tool_calls: made }) }, finish) };
};

const streamed = ({ content = '', calls = [], extra = {} }: Said, finish: string | null): ScriptedReply => ({
  body: sse(
    delta({ role: 'assistant', content, ...extra }),
    ...calls.map(({ id, name, args = '{}' }, index) => delta({ tool_calls: [callPiece(index, id, name, args)] })),
    delta({}, finish),
  ),
});

const replyTo = (request: RecordedRequest, answer: Answer | undefined): ScriptedReply => {
  if (answer === undefined) return { status: 400, json: { error: { message: 'the script is over' } } };
  if (typeof answer === 'function') return replyTo(request, answer(request));
  const said = typeof answer === 'string' ? { content: answer } : answer;
  if (isReply(said)) return said;
  const finish = said.finish === undefined ? (said.calls === undefined ? 'stop' : 'tool_calls') : said.finish;
  return request.body['stream'] === true ? streamed(said, finish) : whole(said, finish);
};

export interface Provider extends AsyncDisposable {
  model: ChatModel;
  server: ReplayServer;
  /** The messages of each request. */
  sent(index: number): Record<string, unknown>[];
}

/** A strict server that answers each request once, by script, and a model that talks to it. */
export const provider = async (
  answers: readonly Answer[],
  options: Partial<OpenAIChatOptions> = {},
): Promise<Provider> => {
  const server = await startReplayServer((request, index) => replyTo(request, answers[index]), { strict: true });
  return {
    model: openaiChat({ model: 'scripted', baseURL: server.baseURL, apiKey: 'key', ...options }),
    server,
    sent: (index) => {
      const messages = server.requests.at(index)?.body['messages'];
      return Array.isArray(messages) ? messages : [];
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
};

/** `role: content` of what was sent, calls as `name(arguments)`. */
export const wireTranscript = (messages: readonly Record<string, unknown>[]): string[] =>
  messages.map(({ role, content, tool_calls: toolCalls }) => {
    const calls: { function: { name: string; arguments: string } }[] = Array.isArray(toolCalls) ? toolCalls : [];
    const made = calls.map((call) => `${call.function.name}(${call.function.arguments})`);
    return `${String(role)}: ${[content, ...made]
      .filter((each) => each !== '')
      .map(String)
      .join(' ')}`;
  });

/** Tries again at once. */
export const atOnce = { initialDelay: 0, maxDelay: 0 };
