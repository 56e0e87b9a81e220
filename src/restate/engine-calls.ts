import { type Context, type InvocationId, type Serde, serde } from '@restatedev/restate-sdk';
import type { Waiter } from './head.ts';
import type { Names } from './names.ts';
import type { Reading, Settled, Since } from './protocol.ts';
import type { Work } from './work.ts';

/** What the parts of an agent say to each other, through the engine. */
export interface EngineCalls {
  settle(ctx: Context, key: string, settled: Settled, delay?: number): Promise<InvocationId>;
  run(ctx: Context, work: Work, delay?: number): Promise<InvocationId>;
  await(ctx: Context, key: string, waiter: Waiter & { revision: number }): void;
  read(ctx: Context, key: string, since: Since): Promise<Reading | null>;
}

const json = <T>(): Serde<T> => serde.json as Serde<T>;

export const createCalls = ({ sessions, effects }: Names): EngineCalls => {
  const toSession = <T>(ctx: Context, method: string, key: string, parameter: T, delay = 0): Promise<InvocationId> =>
    ctx.genericSend<T>({ service: sessions, method, key, parameter, inputSerde: json<T>(), delay }).invocationId;
  return {
    settle: (ctx, key, settled, delay) => toSession(ctx, 'settle', key, settled, delay),
    run: (ctx, work, delay = 0) =>
      ctx.genericSend<Work>({ service: effects, method: 'run', parameter: work, inputSerde: json(), delay })
        .invocationId,
    await: (ctx, key, waiter) => void toSession(ctx, 'await', key, waiter),
    read: (ctx, key, since) =>
      ctx.genericCall<Since, Reading | null>({
        service: sessions,
        method: 'read',
        key,
        parameter: since,
        inputSerde: json(),
        outputSerde: json(),
      }),
  };
};
