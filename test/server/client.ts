import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { createHandler } from '../../src/server/index.ts';

export type Handler = ReturnType<typeof createHandler>;

/** The events of a response, one by one; leaving the loop is the client's going away. */
export async function* eventsOf<T = AgentEvent>(response: Response): AsyncGenerator<T> {
  if (response.body === null) return;
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) if (data !== '[DONE]') yield JSON.parse(data) as T;
}

export const allEvents = async <T = AgentEvent>(response: Response): Promise<T[]> => {
  const events: T[] = [];
  for await (const event of eventsOf<T>(response)) events.push(event);
  return events;
};

export type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };

/** What one user asks of a handler. */
export const clientOf = (handle: Handler, user = 'ann') => {
  const ask = (method: string, path: string, body?: unknown, init: Init = {}): Promise<Response> =>
    handle(
      new Request(`http://server.example${path}`, {
        method,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...init,
        headers: { 'content-type': 'application/json', authorization: user, ...init.headers },
      }),
    );
  return {
    get: (path: string) => ask('GET', path),
    post: (path: string, body: unknown = {}, init: Init = {}) => ask('POST', path, body, init),
    ask,
  };
};

/** Status and code of a response that is an error. */
export const refusal = async (asked: Promise<Response>): Promise<[number, string]> => {
  const response = await asked;
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code];
};
