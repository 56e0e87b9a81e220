import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer of the server. Give `json`, or `body` as text (see `sse`). */
export interface ScriptedReply {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** A whole reply. */
  json?: unknown;
  /** Raw bytes or text; `text/event-stream` unless `headers` say otherwise. */
  body?: string | Uint8Array;
  /** Write the body in pieces of so many bytes, or event by event, each for itself. */
  pieceSize?: number | 'event';
  /** Wait so many ms before the headers. */
  delay?: number;
  /** After the body: end the reply (default), keep the socket open, or destroy it. */
  then?: 'end' | 'stay-open' | 'destroy';
}

export interface RecordedRequest {
  path: string;
  headers: IncomingMessage['headers'];
  /** The body as bytes made text, and parsed. */
  raw: string;
  body: Record<string, unknown>;
  /** Resolves when the connection of this request is closed or its reply is over: `true` if the reply was cut off. */
  closed: Promise<boolean>;
}

/** Replies in order, the last one again and again; or a function that answers each request. */
export type Script =
  | readonly ScriptedReply[]
  | ((request: RecordedRequest, index: number) => ScriptedReply | Promise<ScriptedReply>);

export interface ReplayServer extends AsyncDisposable {
  /** Ends with `/v1`. */
  baseURL: string;
  requests: RecordedRequest[];
  close(): Promise<void>;
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const cut = (body: Buffer, pieceSize: ScriptedReply['pieceSize']): Buffer[] => {
  if (body.length === 0) return [];
  if (pieceSize === undefined) return [body];
  if (pieceSize === 'event')
    return body
      .toString()
      .split(/(?<=\n\n)/)
      .map((event) => Buffer.from(event));
  const count = Math.ceil(body.length / pieceSize);
  return Array.from({ length: count }, (_, index) => body.subarray(index * pieceSize, (index + 1) * pieceSize));
};

const send = async (response: ServerResponse, reply: ScriptedReply): Promise<void> => {
  const { status = 200, headers = {}, json, then: ending = 'end', delay = 0 } = reply;
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  const body = Buffer.from(json === undefined ? (reply.body ?? '') : JSON.stringify(json));
  const type = json === undefined ? 'text/event-stream' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.flushHeaders();
  for (const piece of cut(body, reply.pieceSize)) {
    if (response.destroyed) return;
    response.write(piece);
    await turn();
  }
  if (ending === 'end') response.end();
  if (ending === 'destroy') setTimeout(() => response.destroy(), 20);
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : []);

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  return !isObject(value) || Object.entries(value).every((entry) => entry.every(isWellFormed));
};

const isObjectText = (value: unknown): boolean => {
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : undefined;
    return isObject(parsed) && !Array.isArray(parsed) && isWellFormed(parsed);
  } catch {
    return false;
  }
};

const callViolation = ({ id, function: fn }: Record<string, unknown>): string | undefined => {
  if (typeof id !== 'string' || id === '') return 'a tool call without an id';
  if (!isObject(fn) || !/^[a-zA-Z0-9_-]{1,64}$/.test(String(fn['name']))) return `a bad name in tool call ${id}`;
  return isObjectText(fn['arguments']) ? undefined : `arguments of ${id} are not a JSON object as text`;
};

const messagesViolation = (messages: Record<string, unknown>[]): string | undefined => {
  const seen = new Set<unknown>();
  let open: unknown[] = [];
  for (const [index, message] of messages.entries()) {
    if (message['content'] === null || message['content'] === undefined) return `content of message ${index} is null`;
    if (message['role'] === 'system' && index > 0) return 'a system message that is not first';
    if (message['role'] === 'tool') {
      if (!open.includes(message['tool_call_id'])) return `a result without a call: ${String(message['tool_call_id'])}`;
      open = open.filter((id) => id !== message['tool_call_id']);
      continue;
    }
    if (open.length > 0) return `a call without a result: ${open.join(', ')}`;
    for (const call of listOf(message['tool_calls'])) {
      const violation = callViolation(call);
      if (violation !== undefined) return violation;
      if (seen.has(call['id'])) return `duplicate tool call id ${String(call['id'])}`;
      seen.add(call['id']);
      open.push(call['id']);
    }
  }
  return open.length > 0 ? `a call without a result: ${open.join(', ')}` : undefined;
};

/** What strict providers refuse in a request; `undefined` where all is well. */
export const violationOf = (body: Record<string, unknown>): string | undefined => {
  if (!isWellFormed(body)) return 'a lone surrogate';
  if (Array.isArray(body['tools']) && body['tools'].length === 0) return 'tools is empty';
  if (body['tools'] === undefined && (body['tool_choice'] ?? body['parallel_tool_calls']) !== undefined) {
    return 'tool_choice or parallel_tool_calls without tools';
  }
  return messagesViolation(listOf(body['messages']));
};

/**
 * A real HTTP server on 127.0.0.1 that answers by script and records what it was sent. With `strict` it refuses, like the strict
 * providers, what must never be sent (see `violationOf`): 400 with the reason as the error's message.
 */
export const startReplayServer = async (script: Script, options: { strict?: boolean } = {}): Promise<ReplayServer> => {
  const requests: RecordedRequest[] = [];

  const answer = (request: RecordedRequest, index: number): ScriptedReply | Promise<ScriptedReply> => {
    const violation = options.strict === true ? violationOf(request.body) : undefined;
    if (violation !== undefined) {
      return { status: 400, json: { error: { message: violation, type: 'invalid_request_error' } } };
    }
    if (typeof script === 'function') return script(request, index);
    return script[index] ?? script.at(-1) ?? { status: 500, json: { error: { message: 'the script is empty' } } };
  };

  const server = createServer((incoming, response) => {
    const closed = new Promise<boolean>((resolve) => {
      response.on('close', () => resolve(!response.writableFinished));
    });
    const serve = async (): Promise<void> => {
      const raw = await readBody(incoming);
      const body: Record<string, unknown> = JSON.parse(raw);
      const request = { path: incoming.url ?? '', headers: incoming.headers, raw, body, closed };
      requests.push(request);
      await send(response, await answer(request, requests.length - 1));
    };
    serve().catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { baseURL: `http://127.0.0.1:${address.port}/v1`, requests, close, [Symbol.asyncDispose]: close };
};

/** The text of an event stream: one `data:` event for each value, then `[DONE]`. A string goes in as it is. */
export const sse = (...events: unknown[]): string => sseOpen(...events, 'data: [DONE]\n\n');

/** As `sse`, without `[DONE]`. */
export const sseOpen = (...events: unknown[]): string =>
  events.map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`)).join('');

/** A chunk whose choice 0 has this delta. */
export const delta = (content: Record<string, unknown>, finishReason: string | null = null): unknown => ({
  id: 'x',
  object: 'chat.completion.chunk',
  model: 'scripted',
  choices: [{ index: 0, delta: content, finish_reason: finishReason }],
});

/** One entry of a delta's `tool_calls`; what is undefined is absent. */
export const callPiece = (
  index: number | string | undefined,
  id?: string | null,
  name?: string | null,
  args?: unknown,
): Record<string, unknown> => ({ index, id, type: 'function', function: { name, arguments: args } });

/** A whole reply. */
export const completion = (message: Record<string, unknown>, finishReason: string | null = 'stop'): unknown => ({
  id: 'x',
  object: 'chat.completion',
  model: 'scripted',
  choices: [{ index: 0, message: { role: 'assistant', content: '', ...message }, finish_reason: finishReason }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** A call of a whole reply. */
export const wholeCall = (id: string | undefined, name: string, args: unknown): Record<string, unknown> => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
