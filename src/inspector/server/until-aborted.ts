import { once } from 'node:events';

/** Without a signal it never resolves. */
export const untilAborted = async (signal: AbortSignal | undefined): Promise<void> => {
  if (signal?.aborted === true) return;
  if (signal === undefined) await new Promise(() => undefined);
  else await once(signal, 'abort');
};
