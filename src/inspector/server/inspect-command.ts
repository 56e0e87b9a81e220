import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { AgentError } from '../../errors.ts';
import { lookInto } from '../../sessions/look-into.ts';
import type { SessionStore } from '../../stores/store.ts';
import { escapeControl } from '../escape-control.ts';
import { protocolVersion } from '../protocol.ts';
import { logOf } from '../recording.ts';
import { storeHistory } from '../store-history.ts';
import { emptyView } from '../view-state.ts';
import { printLog } from './follow-in-terminal.ts';
import { openRecording } from './recording-file.ts';
import { serve } from './serve.ts';
import { startInspector } from './start-inspector.ts';

export const inspectUsage = `agentchart inspect FILE   show a recording
  --port NUMBER           of the page; default: any free one
  --print                 as lines here, without a page (default where the output is no terminal)`;

const options = {
  port: { type: 'string' },
  print: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export interface InspectCommandOptions {
  output?: NodeJS.WritableStream & { isTTY?: boolean };
  /** Ends a page that is being served. */
  signal?: AbortSignal;
}

const portOf = (given: string | undefined): number => {
  const port = Number(given ?? 0);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new AgentError('invalid-option', `--port must be a number from 0 to 65535, got ${JSON.stringify(given)}`);
};

/**
 * What `agentchart inspect` does with its arguments: prints a recording, or serves it as a page until the signal aborts. Resolves with
 * the exit status. Throws `AgentError` for a file that is no recording, and what `parseArgs` throws for unknown flags.
 */
export const inspectCommand = async (
  args: readonly string[],
  { output = process.stdout, signal }: InspectCommandOptions = {},
): Promise<number> => {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [path, ...rest] = positionals;
  if (values.help === true) {
    output.write(`${inspectUsage}\n`);
    return 0;
  }
  if (path === undefined || rest.length > 0) {
    output.write(`${inspectUsage}\n`);
    return 2;
  }
  const port = portOf(values.port);
  const recording = await openRecording(path);
  const log = logOf(recording);
  if (values.print === true || (output.isTTY !== true && values.port === undefined)) {
    printLog(log, output);
    if (recording.unreadable > 0) output.write(`(${recording.unreadable} lines could not be read)\n`);
    return 0;
  }
  const { url, close } = await serve({ host: '127.0.0.1', port, log, facts: { isRecording: true, title: path } });
  await stay(url, output, signal);
  await close();
  return 0;
};

const stay = async (url: string, output: NodeJS.WritableStream, signal: AbortSignal | undefined): Promise<void> => {
  output.write(`${url}\n`);
  if (signal?.aborted === true) return;
  if (signal === undefined) await new Promise(() => undefined);
  else await once(signal, 'abort');
};

export interface InspectStoreOptions {
  port: number;
  /** As lines, without a page. */
  isPrinted: boolean;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

const perList = 200;

const printStore = async (store: SessionStore, output: NodeJS.WritableStream): Promise<void> => {
  const { list, history } = storeHistory(store, [], lookInto(store));
  for (let offset = 0; ; offset += perList) {
    const sessions = await list({ limit: perList, offset });
    for (const { id, agent, status } of sessions) {
      const found = await history(id);
      output.write(`${escapeControl(id)} (${escapeControl(agent)}, ${status})\n`);
      printLog(
        logOf({
          hello: { type: 'hello', version: protocolVersion, run: '', at: 0 },
          base: emptyView,
          events: [...(found?.events ?? [])],
        }),
        output,
      );
    }
    if (sessions.length < perList) return;
  }
};

/**
 * The sessions of a store, whoever has them open: a page until the signal aborts, or lines. Decisions of the page are left in the store;
 * nothing runs here.
 */
export const inspectStore = async (
  store: SessionStore,
  { port, isPrinted, output, signal }: InspectStoreOptions,
): Promise<void> => {
  if (isPrinted) return printStore(store, output);
  const { url, close } = await startInspector({ store, port, allowInProduction: true });
  await stay(url, output, signal);
  await close();
};
