import { lookInto } from '../../sessions/look-into.ts';
import type { SessionStore } from '../../stores/store.ts';
import { escapeControl } from '../escape-control.ts';
import { protocolVersion } from '../protocol.ts';
import { logOf } from '../recording.ts';
import { storeHistory } from '../store-history.ts';
import { emptyView } from '../view-state.ts';
import { printLog } from './follow-in-terminal.ts';
import { startInspector } from './start-inspector.ts';
import { untilAborted } from './until-aborted.ts';

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
  output.write(`${url}\n`);
  await untilAborted(signal);
  await close();
};
