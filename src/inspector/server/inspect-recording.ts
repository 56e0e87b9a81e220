import { logOf } from '../recording.ts';
import { printLog } from './follow-in-terminal.ts';
import { openRecording } from './recording-file.ts';
import { serve } from './serve.ts';
import { untilAborted } from './until-aborted.ts';

export interface InspectRecordingOptions {
  /** Of the page. Default 0: any free one. */
  port?: number;
  /** As lines, without a page. Default: where the output is no terminal. */
  isPrinted?: boolean;
  /** Gets the lines, or the address of the page. Default: the standard output. */
  output?: NodeJS.WritableStream & { isTTY?: boolean };
  /** Ends the page. Default: it is served as long as the process lives. */
  signal?: AbortSignal;
}

/**
 * A recording as lines, or as a page until the signal aborts. Rejects with `AgentError` for a file that is no recording, and for a port
 * that cannot be had.
 */
export const inspectRecording = async (
  path: string,
  { port = 0, output = process.stdout, isPrinted = output.isTTY !== true, signal }: InspectRecordingOptions = {},
): Promise<void> => {
  const recording = await openRecording(path);
  const log = logOf(recording);
  if (isPrinted) {
    printLog(log, output);
    if (recording.unreadable > 0) output.write(`(${recording.unreadable} lines could not be read)\n`);
    return;
  }
  const { url, close } = await serve({ host: '127.0.0.1', port, log, facts: { isRecording: true, title: path } });
  output.write(`${url}\n`);
  await untilAborted(signal);
  await close();
};
