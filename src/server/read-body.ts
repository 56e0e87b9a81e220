import type { z } from 'zod';
import { RequestError } from './request-error.ts';

const tooLarge = (limit: number): RequestError =>
  new RequestError(413, 'body-too-large', `the body is larger than ${limit} bytes`);

/** The body's text, of which no more than `limit` bytes are ever held. */
const textOf = async (request: Request, limit: number): Promise<string> => {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  if (request.body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = request.body.getReader();
  let size = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > limit) {
      reader.cancel().catch(() => undefined);
      throw tooLarge(limit);
    }
    text += decoder.decode(value, { stream: true });
  }
};

const jsonOf = async (request: Request, limit: number): Promise<unknown> => {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new RequestError(415, 'unsupported-media-type', 'send the header content-type: application/json', {
      accept: 'application/json',
    });
  }
  // Not the client's fault.
  if (request.bodyUsed)
    throw new TypeError('the body was read before: authorize, or what stands before the handler, may read a clone');
  try {
    return JSON.parse(await textOf(request, limit));
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(400, 'invalid-json', 'the body is not JSON in UTF-8');
  }
};

/** The body as its schema gives it. Throws 413, 415, or 400 with what does not fit and where. */
export const readBody = async <T>(request: Request, schema: z.ZodType<T>, limit: number): Promise<T> => {
  const checked = schema.safeParse(await jsonOf(request, limit));
  if (checked.success) return checked.data;
  const issues = checked.error.issues.slice(0, 5).map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new RequestError(400, 'invalid-body', issues.join('; '));
};
