import { CancelledError } from '@restatedev/restate-sdk';

/** Said at every start where there are no identity keys: that is for the documentation. */
const ofKeys = 'Accepting requests without validating';

/** Warnings and errors of the SDK. That an effect was told to give up is neither. */
export const logEngine = ({ level }: { level: string }, message: unknown, ...more: unknown[]): void => {
  if (level !== 'warn' && level !== 'error') return;
  if (more.some((each) => each instanceof CancelledError)) return;
  const text = [message, ...more].map(String).join(' ');
  if (!text.startsWith(ofKeys)) process.stderr.write(`${text}\n`);
};
