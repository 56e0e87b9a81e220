import { CancelledError, type LoggerTransport, TerminalError } from '@restatedev/restate-sdk';

const levels = ['trace', 'debug', 'info', 'warn', 'error'];

/** Said at every start where there are no identity keys: that is for the documentation. */
const ofKeys = 'Accepting requests without validating';

/** What is in order: an effect was told to give up, or a caller that what he asks makes no sense. */
const isAnswer = (said: unknown): boolean =>
  said instanceof CancelledError || (said instanceof TerminalError && said.code === 400);

/**
 * Writes what the SDK has to say: warnings and errors, not what is in order, nor what a worker that is closed has cut off. Where the
 * environment has RESTATE_LOGGING: all from that level on.
 */
export const createEngineLog =
  (isClosed: () => boolean): LoggerTransport =>
  ({ level, replaying }, message: unknown, ...more: unknown[]) => {
    const asked = process.env['RESTATE_LOGGING']?.toLowerCase() ?? '';
    if (replaying || levels.indexOf(level) < levels.indexOf(asked === '' ? 'warn' : asked)) return;
    const text = [message, ...more].map(String).join(' ');
    if (asked === '' && (isClosed() || more.some(isAnswer) || text.startsWith(ofKeys))) return;
    process.stderr.write(`${text}\n`);
  };
