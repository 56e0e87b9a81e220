import { AgentError, errorData } from '../errors.ts';

export type CallIngress = <T>(
  service: string,
  key: string,
  handler: string,
  body?: unknown,
  signal?: AbortSignal,
) => Promise<T>;

/** ms for which a server that cannot be reached, or is just starting again, is tried again. */
const patience = 30_000;
const longestPause = 1_000;
/** ms after which an attempt was not about reaching the server any more. */
const longestConnect = 15_000;

/** Rejects when the signal aborts. */
const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });

/** Bytes of a body that the engine takes, where it is not told to take another number. */
const longestBody = 32 * 1_048_576;

/** It has hung up while it was still sent to. */
const hungUp = new Set<unknown>(['EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET']);
const isTooLong = (body: string | undefined, { cause }: { cause?: unknown }): boolean =>
  body !== undefined &&
  body.length > longestBody / 3 &&
  hungUp.has((cause as { code?: unknown } | undefined)?.code) &&
  new Blob([body]).size > longestBody;

const isPassing = (status: number): boolean => status === 429 || status === 502 || status === 503 || status === 504;

const refused = (where: string, status: number, text: string): AgentError => {
  const said = text.slice(0, 500);
  const hint = status === 404 ? '; is a worker of that agent registered?' : '';
  return new AgentError('engine-error', `Restate answered ${status} to ${where}${hint} ${said}`);
};

/**
 * Calls handlers through the engine's ingress. What cannot be reached is tried again for half a minute: every command has an id, and is carried out
 * once however often it is sent. Rejects with `engine-error`, or with what the signal says.
 */
export const createIngress = (ingress: string): CallIngress => {
  const base = ingress.endsWith('/') ? ingress.slice(0, -1) : ingress;
  return async <T>(service: string, key: string, handler: string, body?: unknown, signal?: AbortSignal): Promise<T> => {
    const where = `${service}/${handler}`;
    const url = `${base}/${service}/${encodeURIComponent(key)}/${handler}`;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request: RequestInit = {
      method: 'POST',
      signal: signal ?? null,
      ...(text === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: text }),
    };
    /** Since when nothing came of it. */
    let failing: number | undefined;
    for (let attempt = 0; ; attempt += 1) {
      const asked = Date.now();
      let failure: AgentError;
      try {
        const answer = await fetch(url, request);
        const said = await answer.text();
        if (answer.ok) return (said === '' ? undefined : JSON.parse(said)) as T;
        failure = refused(where, answer.status, said);
        // A server that has just started does not know its services yet.
        if (!isPassing(answer.status) && !(answer.status === 404 && failing !== undefined)) throw failure;
      } catch (error) {
        if (error instanceof AgentError || signal?.aborted === true) throw error;
        if (isTooLong(text, error as Error)) {
          throw new AgentError(
            'engine-error',
            `Restate does not take what was sent to ${where}: it is larger than 32 MiB; give large data by reference`,
            { cause: error },
          );
        }
        failure = new AgentError(
          'engine-error',
          `Restate could not be reached at ${base} for ${where}: ${errorData(error).message}`,
          { cause: error },
        );
      }
      // Whoever let it wait was there: a wait may take longer than the patience.
      if (failing === undefined || Date.now() - asked > longestConnect) failing = Date.now();
      if (Date.now() - failing >= patience) throw failure;
      await pause(Math.min(longestPause, 20 * 2 ** attempt), signal);
    }
  };
};
