import { isJson, isPlainObject } from '../messages/json.ts';
import type { DecisionGiven } from './check-decision.ts';
import type { Decide, DecisionHost } from './decide.ts';
import { loadWorkings, workings } from './load-workings.ts';

/** The decisions on the calls of one session. */
export interface Deciding {
  decide: Decide;
  /** Settles when the chart has all decisions that were made before what they need was loaded; undefined where it has. */
  deciding(): Promise<unknown> | undefined;
}

/** What a caller does to his objects later is no part of what he gave. What is no JSON will be refused. */
const copyOf = <T>(given: T): T => (isJson(given) ? structuredClone(given) : given);

const givenNow = (given: DecisionGiven | undefined): DecisionGiven | undefined =>
  isPlainObject(given)
    ? Object.fromEntries(Object.entries(given).map(([key, value]): [string, unknown] => [key, copyOf(value)]))
    : given;

/** Takes decisions at once where what they need is loaded, and else when it is, in the order in which they came. */
export const createDeciding = (host: DecisionHost): Deciding => {
  let take: Decide | undefined;
  let waiting: Promise<unknown> | undefined;
  const later: Decide = async (type, callId, given, output, onTaken) => {
    const kept = [givenNow(given), copyOf(output)] as const;
    waiting = loadWorkings();
    const { createDecide } = await loadWorkings();
    take ??= createDecide(host);
    waiting = undefined;
    return take(type, callId, ...kept, onTaken);
  };
  return {
    decide: (...given) => {
      take ??= workings()?.createDecide(host);
      return (take ?? later)(...given);
    },
    deciding: () => waiting,
  };
};
