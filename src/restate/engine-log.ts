import { CancelledError, TerminalError } from '@restatedev/restate-sdk';

/** Said at every start where there are no identity keys: that is for the documentation. */
const ofKeys = 'Accepting requests without validating';

/** What is in order: an effect was told to give up, or a caller that what he asks makes no sense. */
const isAnswer = (said: unknown): boolean =>
  said instanceof CancelledError || (said instanceof TerminalError && said.code === 400);

/** Warnings and errors of the SDK. */
export const logEngine = ({ level }: { level: string }, message: unknown, ...more: unknown[]): void => {
  if (level !== 'warn' && level !== 'error') return;
  if (more.some(isAnswer)) return;
  const text = [message, ...more].map(String).join(' ');
  if (!text.startsWith(ofKeys)) process.stderr.write(`${text}\n`);
};
