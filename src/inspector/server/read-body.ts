import type { IncomingMessage } from 'node:http';
import type { Refusal } from './guard-request.ts';

export const maxBody = 1_000_000;

/** The JSON of a request, or why it is refused. No more than 1 MB is ever read. */
export const readBody = async (request: IncomingMessage): Promise<{ body: unknown } | Refusal> => {
  // A form of a foreign page cannot have this type without being asked first.
  if (!/^application\/json\s*(;|$)/.test(request.headers['content-type'] ?? ''))
    return { status: 415, message: 'send application/json' };
  const tooLarge = { status: 413, message: `send at most ${maxBody} bytes` };
  if (Number(request.headers['content-length'] ?? 0) > maxBody) return tooLarge;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBody) return tooLarge;
    parts.push(part);
  }
  try {
    return { body: JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown };
  } catch {
    return { status: 400, message: 'the body is not JSON' };
  }
};
