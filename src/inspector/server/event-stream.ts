import type { ServerResponse } from 'node:http';
import type { EventLog } from '../event-log.ts';
import { encodeView } from '../encode.ts';
import type { LogHead } from './log-head.ts';
import type { StoreWatch } from './store-watch.ts';

/** ms in which events gather before they are sent. */
const pace = 16;
const perMessage = 500;
const heartbeat = 15_000;
/** ms that a reader has for what is left when the server ends. */
const farewell = 500;
/** A shorter past is here before anybody has missed it. */
const longPast = 5_000;

export interface StreamFacts {
  /** What is shown happened earlier: nothing can be decided. */
  isRecording: boolean;
  title?: string | undefined;
}

/** `run:seq` of the last event that a viewer has; undefined for one that has nothing of this log. */
const positionIn = (log: EventLog, lastEventId: string | undefined): number | undefined => {
  const [run, seq] = lastEventId?.split(':') ?? [];
  const position = Number(seq);
  if (run !== log.run || !Number.isInteger(position) || position < 0 || position > log.last) return undefined;
  return position;
};

/**
 * Sends a log as server-sent events, from where the viewer is: no gap and no repeat. Who is slow reads at his own pace, and gets a
 * new base where the log has moved on; nothing is queued for him. With `head` a newcomer to a long log first gets what it came to, and
 * asks for the past by himself.
 */
export const streamEvents = (
  log: EventLog,
  response: ServerResponse,
  {
    lastEventId,
    facts,
    head,
    stored,
  }: {
    lastEventId: string | undefined;
    facts: StreamFacts;
    head?: (() => Promise<LogHead>) | undefined;
    /** The sessions of a store, told beside the log. */
    stored?: StoreWatch | undefined;
  },
): (() => Promise<void>) => {
  let position = positionIn(log, lastEventId);
  let isBlocked = false;
  let isReading = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const send = (name: string, data: string, id?: string): void => {
    const lines = `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`;
    isBlocked = !response.write(lines) || isBlocked;
  };
  const pump = (): void => {
    timer = undefined;
    while (!isBlocked && !isReading && !response.writableEnded && !response.destroyed) {
      if (position === undefined || position < log.folded) {
        if (head !== undefined && log.last - log.folded > longPast) {
          isReading = true;
          void head().then(sendHead, () => response.destroy());
          return;
        }
        position = log.folded;
        send('base', encodeView(log.base()), `${log.run}:${position}`);
        continue;
      }
      const lines = log.lines(position, perMessage);
      if (lines.length === 0) return;
      position += lines.length;
      send('events', `[${lines.join(',')}]`, `${log.run}:${position}`);
    }
  };
  const sendHead = ({ view, seq }: LogHead): void => {
    isReading = false;
    if (response.writableEnded) return;
    position = seq;
    send('head', encodeView(view), `${log.run}:${seq}`);
    pump();
  };
  const schedule = (): void => {
    timer ??= setTimeout(pump, pace);
  };

  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  send('hello', JSON.stringify({ ...log.hello, ...facts, position: position ?? null, last: log.last }));
  pump();
  const unsubscribe = log.subscribe(schedule);
  const unwatch = stored?.subscribe((news) => send('stored', JSON.stringify(news)));
  const beat = setInterval(() => response.write(': \n\n'), heartbeat);
  beat.unref();
  response.on('drain', () => {
    isBlocked = false;
    pump();
  });
  /** Sends what is left first, to whoever still reads. */
  const stop = async (): Promise<void> => {
    unsubscribe();
    unwatch?.();
    clearInterval(beat);
    clearTimeout(timer);
    if (response.writableEnded || response.destroyed) return;
    pump();
    await Promise.race([new Promise<void>((resolve) => response.end(resolve)), lastWords()]);
  };
  response.on('close', () => void stop());
  return stop;
};

const lastWords = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, farewell).unref());
