import { openaiResponses, type OpenAIResponsesOptions } from '../../../src/models/openai/index.ts';
import type { ChatModel, ModelChunk, ModelReply, ModelRequest } from '../../../src/models/chat-model.ts';
import {
  startReplayServer,
  type RecordedRequest,
  type ReplayServer,
  type ScriptedReply,
} from '../../support/replay-server.ts';
import { message, response } from './events.ts';

export type Options = Partial<OpenAIResponsesOptions>;
type Request = Partial<ModelRequest>;

const hello: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] };

/** The key under which the tests' provider keeps its fields. */
export const key = 'scripted.responses';

export const modelOf = (server: ReplayServer, options: Options = {}): ChatModel =>
  openaiResponses({ model: 'scripted', baseURL: server.baseURL, apiKey: 'key', provider: key, ...options });

export const ask = (server: ReplayServer, request: Request = {}, options: Options = {}): Promise<ModelReply> =>
  modelOf(server, options).generate({ ...hello, ...request }, { signal: new AbortController().signal });

export const streamOf = (
  server: ReplayServer,
  request: Request = {},
  options: Options & { signal?: AbortSignal } = {},
): AsyncIterable<ModelChunk> => {
  const { signal = new AbortController().signal, ...rest } = options;
  const stream = modelOf(server, rest).stream?.({ ...hello, ...request }, { signal });
  if (stream === undefined) throw new Error('the model cannot stream');
  return stream;
};

export const askStreamed = async (
  server: ReplayServer,
  request: Request = {},
  options: Options = {},
): Promise<{ reply: ModelReply; chunks: ModelChunk[] }> => {
  const chunks: ModelChunk[] = [];
  for await (const chunk of streamOf(server, request, options)) chunks.push(chunk);
  const last = chunks.at(-1);
  if (last?.type !== 'finish') throw new Error('the stream ended without finish');
  return { reply: last.reply, chunks };
};

/** The texts of all chunks of a type. */
export const joined = (chunks: readonly ModelChunk[], type: ModelChunk['type']): string =>
  chunks.map((chunk) => (chunk.type === type && 'text' in chunk ? chunk.text : '')).join('');

/** The reply that a streamed request gets. */
export const played = async (reply: ScriptedReply): Promise<{ reply: ModelReply; chunks: ModelChunk[] }> => {
  await using server = await startReplayServer([reply]);
  return await askStreamed(server);
};

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);

/** The items of a recorded request. */
export const inputOf = (request: RecordedRequest | undefined): Record<string, unknown>[] =>
  listOf(request?.body['input']);

/** What the API refuses in a request; `undefined` where all is well. */
export const violationOf = (body: Record<string, unknown>): string | undefined => {
  if (Array.isArray(body['tools']) && body['tools'].length === 0) return 'tools is empty';
  if (body['tools'] === undefined && (body['tool_choice'] ?? body['parallel_tool_calls']) !== undefined) {
    return 'tool_choice or parallel_tool_calls without tools';
  }
  // A request of Chat Completions is none of ours.
  if (body['messages'] !== undefined) return undefined;
  const items = listOf(body['input']);
  if (items.length === 0) return 'input is empty';
  const open = new Map<unknown, unknown>();
  const ids = new Set<unknown>();
  for (const item of items) {
    const { type, call_id: callId, id } = item;
    if (Object.values(item).some((value) => value === null)) return 'a field is null';
    if (id !== undefined && ids.has(id)) return `duplicate item ${JSON.stringify(id)}`;
    ids.add(id);
    if (type === 'function_call' || type === 'custom_tool_call') open.set(callId, `${type}_output`);
    if (type !== 'function_call_output' && type !== 'custom_tool_call_output') continue;
    const isLate = body['previous_response_id'] !== undefined && !open.has(callId);
    if (!isLate && open.get(callId) !== type) return `no call for output ${String(callId)}`;
    open.delete(callId);
  }
  return open.size === 0 ? undefined : `no tool output found for function call ${[...open.keys()].join(', ')}`;
};

/** A server that refuses what the API refuses. */
export const strictServer = (
  answers: readonly (ScriptedReply | ((request: RecordedRequest) => ScriptedReply))[],
): Promise<ReplayServer> =>
  startReplayServer((request, index) => {
    const violation = violationOf(request.body);
    if (violation !== undefined) return { status: 400, json: { error: { message: violation } } };
    const answer = answers[index] ?? answers.at(-1) ?? { status: 500 };
    return typeof answer === 'function' ? answer(request) : answer;
  });

/** The body that a strict server was sent. */
export const sent = async (request: Request, options: Options = {}): Promise<Record<string, unknown>> => {
  await using server = await strictServer([{ json: response([message('ok')]) }]);
  await ask(server, request, options);
  return server.requests[0]?.body ?? {};
};

/** The items that went out. */
export const itemsOf = async (messages: ModelRequest['messages'], options: Options = {}): Promise<unknown> =>
  (await sent({ messages }, options))['input'];
