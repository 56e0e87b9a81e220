import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { AgentError, errorData } from '../../errors.ts';
import { encodeView } from '../encode.ts';
import type { EventLog } from '../event-log.ts';
import { type Recording, readRecording } from '../recording.ts';
import { linesOf } from './lines-of.ts';

const perWrite = 500;

/**
 * Reads a recording from a file. Throws `AgentError`: `invalid-document`, `newer-document`, `invalid-option` where no file can be read
 * there.
 */
export const openRecording = async (path: string): Promise<Recording> => {
  if (!existsSync(path)) throw new AgentError('invalid-option', `there is no recording ${path}`);
  const input = createReadStream(path, 'utf8');
  try {
    return await readRecording(linesOf(input));
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError('invalid-option', `the recording ${path} cannot be read: ${errorData(error).message}`, {
      cause: error,
    });
  } finally {
    input.destroy();
  }
};

export interface RecordingFile {
  /** Resolves when all that was recorded so far is written. */
  close(): Promise<void>;
}

/** Appends a log to a file as it grows, one event a line. What cannot be written is told once, as a failure in the log. */
export const recordTo = (path: string, log: EventLog, from = 0): RecordingFile => {
  const stream = createWriteStream(path, { flags: 'a' });
  let position = Math.max(from, log.folded);
  let isBroken = false;
  let isBlocked = false;
  stream.on('error', (error) => {
    if (!isBroken) log.append({ type: 'failure', where: `recording to ${path}`, message: errorData(error).message });
    isBroken = true;
  });
  const write = (): void => {
    while (!isBroken && !isBlocked) {
      const lines = log.lines(position, perWrite);
      if (lines.length === 0) return;
      position = Math.max(position, log.folded) + lines.length;
      isBlocked = !stream.write(`${lines.join('\n')}\n`);
    }
  };
  stream.on('drain', () => {
    isBlocked = false;
    write();
  });
  stream.write(`${JSON.stringify(log.hello)}\n`);
  if (from === 0 && log.folded > 0) stream.write(`{"type":"base","view":${encodeView(log.base())}}\n`);
  write();
  const unsubscribe = log.subscribe(write);
  return {
    close: async () => {
      unsubscribe();
      isBlocked = false;
      write();
      await new Promise<void>((resolve) => {
        if (isBroken) resolve();
        else stream.end(resolve);
      });
    },
  };
};
