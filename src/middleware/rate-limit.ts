import PQueue from 'p-queue';
import type { ModelMiddleware } from '../models/model-middleware.ts';
import { type Bound, type Rules, checkGiven, integer, positive } from '../sessions/option-bounds.ts';

export interface RateLimitOptions {
  /** Requests that may begin within any `interval`. Default: no limit. */
  requests?: number;
  /** ms. Default 60,000. */
  interval?: number;
  /** Requests under way at a time, streams until their last chunk. Default: no limit. */
  concurrency?: number;
}

const count: Bound = {
  says: integer(1).says,
  holds: (value) => value === Infinity || integer(1).holds(value),
};

const rules = {
  requests: count,
  interval: positive,
  concurrency: count,
} satisfies Record<keyof RateLimitOptions, Rules[string]>;

/**
 * Holds requests back until there is room for them, in the order in which they came. One middleware is one limit: models and agents that it
 * is given to share it. It counts in this process alone. Who is stopped while he waits leaves the line and has used nothing up.
 * A stream that waits is silent: longer than the agent's `idleTimeout` counts as broken.
 *
 * Throws `invalid-option` for what is out of bounds.
 */
export const rateLimit = (options: RateLimitOptions): ModelMiddleware => {
  checkGiven(options, rules, 'rateLimit');
  const { requests = Infinity, interval = 60_000, concurrency = Infinity } = options;
  const rate = requests === Infinity ? {} : { intervalCap: requests, interval, strict: true };
  const queue = new PQueue({ concurrency, ...rate });
  /** Resolves when it is one's turn, with what gives the place free again. */
  const enter = (signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      queue.add(() => new Promise<void>((leave) => resolve(leave)), { signal }).catch(reject);
    });
  return (next) => {
    const { stream } = next;
    return {
      ...next,
      generate: async (request, options) => {
        const leave = await enter(options.signal);
        try {
          return await next.generate(request, options);
        } finally {
          leave();
        }
      },
      ...(stream === undefined
        ? {}
        : {
            stream: async function* (request, options) {
              const leave = await enter(options.signal);
              try {
                yield* stream.call(next, request, options);
              } finally {
                leave();
              }
            },
          }),
    };
  };
};
