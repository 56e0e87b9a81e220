import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { leftBehind } from '../support/left-behind.ts';

export interface ChatRequest {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: { model: string; stream?: boolean; messages: { role: string; content: string }[]; tools?: unknown[] };
}

/** What the model says or calls, a status to refuse with, or undefined for an answer that never comes. */
export type ChatAnswer = string | { call: string; input: object } | { status: number; message: string } | undefined;

export interface ChatServer {
  /** For the programs of the examples. */
  env: { MODEL: string; API_KEY: string; OPENAI_URL: string };
  requests: ChatRequest[];
}

const messageOf = (said: string | { call: string; input: object }) =>
  typeof said === 'string'
    ? { content: said }
    : {
        content: null,
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: said.call, arguments: JSON.stringify(said.input) } },
        ],
      };

const completion = (said: string | { call: string; input: object }) => ({
  id: 'chat-1',
  object: 'chat.completion',
  model: 'test-model',
  choices: [{ index: 0, message: { role: 'assistant', ...messageOf(said) }, finish_reason: 'stop' }],
});

/** A server of Chat Completions that keeps what it was asked. */
export const startChatServer = async (
  answer: (request: ChatRequest) => ChatAnswer | Promise<ChatAnswer>,
): Promise<ChatServer> => {
  const requests: ChatRequest[] = [];
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = (await request.toArray()).join('');
    const asked: ChatRequest = { path: request.url, headers: request.headers, body: JSON.parse(text) };
    requests.push(asked);
    const said = await answer(asked);
    if (said === undefined) return;
    const isRefusal = typeof said === 'object' && 'status' in said;
    response.writeHead(isRefusal ? said.status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isRefusal ? { error: { message: said.message } } : completion(said)));
  };
  const server = createServer((request, response) => void reply(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  leftBehind.servers.push(server);
  const { port } = server.address() as AddressInfo;
  return { env: { MODEL: 'test-model', API_KEY: 'test-key', OPENAI_URL: `http://127.0.0.1:${port}/v1` }, requests };
};
