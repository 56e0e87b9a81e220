import type { ErrorData } from '../errors.ts';
import { errorLimit } from '../machines/ending-steps.ts';
import type { Outcome, Turn } from '../machines/turn.ts';
import type { Message } from '../messages/message.ts';
import { type Change, applied, difference } from './change.ts';
import { likelyResults } from './derived.ts';
import { withErrorText, withoutErrorText } from './error-text.ts';

type Failed = Extract<Outcome, { type: 'failed' }>;
type Errors = NonNullable<Failed['errors']>;

/** The words of each error with what the model read of it, where the history ends with that round. */
const ofRound = (
  errors: Errors,
  messages: readonly Message[],
  tell: <T extends ErrorData>(error: T, read: unknown) => T,
): Errors => {
  const results = likelyResults(messages);
  return errors.map((error) => tell(error, results.get(error.callId)?.output));
};

/** A turn that ended by too many errors names those of its last round: what follows from them, or from the history, is not written. */
export const writeOutcome = ({ outcome, consecutiveErrors }: Turn, messages: readonly Message[]): unknown => {
  if (outcome?.type !== 'failed' || outcome.errors === undefined) return outcome;
  const { error, errors } = outcome;
  const change = difference(errorLimit(consecutiveErrors, errors), error);
  return { ...outcome, error: change ?? {}, errors: ofRound(errors, messages, withoutErrorText) };
};

export const readOutcome = (
  { outcome, consecutiveErrors }: Turn,
  messages: readonly Message[],
): Outcome | undefined => {
  if (outcome?.type !== 'failed' || outcome.errors === undefined) return outcome;
  const errors = ofRound(outcome.errors, messages, withErrorText);
  const error = applied(errorLimit(consecutiveErrors, errors), outcome.error as unknown as Change) as ErrorData;
  return { ...outcome, error, errors };
};
