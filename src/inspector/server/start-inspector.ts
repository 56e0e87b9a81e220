import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { InspectionEvent } from 'xstate';
import { AgentError } from '../../errors.ts';
import { lookInto } from '../../sessions/look-into.ts';
import type { SessionStore } from '../../stores/store.ts';
import { storeAt } from '../../stores/store-at.ts';
import type { InspectedAgent } from '../inspected-agent.ts';
import { type Recorder, createRecorder } from '../recorder.ts';
import { storeHistory } from '../store-history.ts';
import { checkOptions } from './check-options.ts';
import { openRecording, recordTo } from './recording-file.ts';
import { createCommands } from './run-command.ts';
import { serve } from './serve.ts';
import { storedSessions } from './stored-sessions.ts';

export interface InspectorOptions {
  /** Default 0: any free one. One that is taken: the next free one of the 20 that follow. */
  port?: number;
  /** Default `127.0.0.1`. Any other address lets others on the network see all that agents say. */
  host?: string;
  /** Whose sessions can be decided on here. */
  agents?: readonly InspectedAgent[];
  /**
   * Also shows the sessions that are kept here, with their past, whichever process has them open. A path: an SQLite file that is there. Where
   * the application makes it later, the store itself.
   */
  store?: SessionStore | string;
  /** A file that gets every event (NDJSON). Events of earlier runs that are in it are shown as well. */
  record?: string;
  /** What was recorded before the server, or under an earlier one. Default: a new one. */
  recorder?: Recorder;
  /** True: also where NODE_ENV is `production`. Default false. */
  allowInProduction?: boolean;
}

export interface Inspector {
  /** Opens the page; the key is in it, and new with every start. */
  readonly url: string;
  /** For `inspect` of `agent.run`, `agent.stream`, `agent.open`, and of any XState actor. Never throws. */
  readonly inspect: (event: InspectionEvent) => void;
  /** Stops the server; agents go on. The process ends when nothing else keeps it. */
  close(): Promise<void>;
}

/** To look never makes a file: SQLite would, and show an empty one where the path is not the one that was meant. */
const checkIsThere = (path: string): void => {
  if (existsSync(path)) return;
  throw new AgentError(
    'invalid-option',
    `startInspector: there is no file ${JSON.stringify(resolve(path))} for option "store"; give the path that the agent's store has, or, where the file is made later, the store itself: sqliteStore(${JSON.stringify(path)})`,
  );
};

/**
 * A page on this machine that shows agents while they run and takes decisions for them. Throws `AgentError` `invalid-option` for an
 * option that is unknown or not right, in production, for a `store` file that is not there, and for a port that cannot be had;
 * `invalid-document` for a `record` file that is no recording.
 */
export const startInspector = async (options: InspectorOptions = {}): Promise<Inspector> => {
  checkOptions(options);
  const { port = 0, host = '127.0.0.1', agents = [], store, record, allowInProduction = false } = options;
  const { recorder = createRecorder() } = options;
  if (process.env['NODE_ENV'] === 'production' && !allowInProduction) {
    throw new AgentError(
      'invalid-option',
      'the inspector shows and decides all that agents do, so it does not start where NODE_ENV is "production"; allowInProduction: true starts it all the same',
    );
  }
  if (typeof store === 'string') checkIsThere(store);
  const { log, inspect, describe } = recorder;
  let isContinued = false;
  if (record !== undefined && log.last === 0 && existsSync(record) && statSync(record).size > 0) {
    const { base, events } = await openRecording(record);
    log.restore(events, base);
    isContinued = true;
  }
  const restored = log.last;
  for (const { name, machine, tools = [], limits } of agents)
    describe({
      name,
      machine,
      limits,
      tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    });
  const place = typeof store === 'string' ? storeAt(store) : store;
  const source = place === undefined ? undefined : storeHistory(place, agents, lookInto(place));
  const stored = place === undefined || source === undefined ? undefined : storedSessions(place, source, log);
  const file = record === undefined ? undefined : recordTo(record, log, isContinued ? restored : 0);
  const run = createCommands({ recorder, agents, stored });
  const { url, close } = await serve({ host, port, log, facts: { isRecording: false }, history: source, run });
  return {
    url,
    inspect,
    close: async () => {
      await close();
      await file?.close();
      if (typeof store === 'string') await place?.close();
    },
  };
};
