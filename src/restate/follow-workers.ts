import { checkOptions } from './check-options.ts';
import { readLines } from './read-lines.ts';

/** Where recorded events come together. The log of a recorder of `agentchart/inspector` is one. */
export interface SharedLog<Told> {
  append(told: Told): void;
}

export interface FollowOptions<Told> {
  /** What the `listenLive` of each worker gave, whose `recorder` is followed. */
  live: readonly string[];
  /** `startInspector({ recorder })` shows what comes to `recorder.log`. */
  recorder: { log: SharedLog<Told> };
}

export interface Following {
  /** Follows them no more. */
  close(): void;
}

interface Recorded {
  seq: number;
  at: number;
}

/** ms until a worker that was lost is looked for again. */
const pause = 500;

const follow = async <Told>(url: string, { log }: { log: SharedLog<Told> }, signal: AbortSignal): Promise<void> => {
  let run = '';
  let last = 0;
  while (!signal.aborted) {
    try {
      const about = `${url.replace(/\/$/, '')}/?run=${encodeURIComponent(run)}&after=${last}`;
      for await (const line of readLines(about, signal, () => undefined)) {
        const told = line as Recorded & { type: string; run?: string };
        if (told.type === 'hello') {
          if (told.run !== run) last = 0;
          run = told.run ?? '';
          continue;
        }
        const { seq, at: _at, ...event } = told;
        last = seq;
        log.append(event as unknown as Told);
      }
    } catch {
      // It is looked for again.
    }
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, pause);
      signal.addEventListener('abort', () => [clearTimeout(timer), resolve(undefined)], { once: true });
    });
  }
};

/**
 * Brings what the recorders of all workers record to one, for one page that shows the sessions of all of them. What a worker recorded before is told
 * first, as far as its recorder still has it. Throws `invalid-option`.
 */
export const followWorkers = <Told>(options: FollowOptions<Told>): Following => {
  checkOptions('followWorkers', options);
  const { live, recorder } = options;
  const end = new AbortController();
  for (const url of live) void follow(url, recorder, end.signal);
  return { close: () => end.abort() };
};
