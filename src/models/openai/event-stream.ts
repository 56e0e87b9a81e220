import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { JsonObject } from '../../messages/json.ts';
import { ModelError } from '../model-error.ts';
import { isJsonObject } from './json-value.ts';
import { brokenReply } from './provider-error.ts';

const parseData = (data: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(data);
    if (isJsonObject(value)) return value;
  } catch {
    // told below, with the line
  }
  throw brokenReply(`the stream holds a line that is not a JSON object: ${data.slice(0, 200)}`);
};

/**
 * The chunks of a streamed reply, then `'done'` where the server says so; it stops there, whatever the socket does. Comments,
 * empty data and keepalives that come as data are passed over. A connection that breaks throws `model-stream-broken`. Leaving the
 * loop closes the socket, and so does `signal`.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
): AsyncGenerator<JsonObject | 'done'> {
  const events = body.pipeThrough(new TextDecoderStream(), { signal }).pipeThrough(new EventSourceParserStream());
  try {
    for await (const { event, data } of events) {
      const line = data.trim();
      if (line === '' || line.startsWith(':')) continue;
      if (line === '[DONE]') {
        yield 'done';
        return;
      }
      const chunk = parseData(line);
      yield event === 'error' && chunk.error === undefined ? { error: chunk } : chunk;
    }
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw brokenReply(`the connection broke: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}
