import type { Decision } from '../machines/agent-context.ts';
import type { Change } from './change.ts';
import { applied, difference } from './change.ts';

export type StoredDecision = Omit<Decision, 'inputHash'> & { inputHash?: string };

/** A call that was cut off may be asked about again, with the same arguments: their hash stands in its first decision. */
export const writeDecisions = (decisions: Decision[]): readonly StoredDecision[] => {
  const first = new Map<string, string>();
  let isRepeated = false;
  const written = decisions.map((decision): StoredDecision => {
    const { inputHash, ...rest } = decision;
    const known = first.get(decision.callId);
    if (known === undefined) first.set(decision.callId, inputHash);
    if (known !== inputHash) return decision;
    isRepeated = true;
    return rest;
  });
  return isRepeated ? written : decisions;
};

export const readDecisions = (stored: readonly StoredDecision[]): Decision[] => {
  const first = new Map<string, string>();
  return stored.map((decision) => {
    const { callId, inputHash = first.get(callId) } = decision;
    // One that is missing is told by those who check the whole log.
    if (inputHash === undefined) return decision as Decision;
    if (!first.has(callId)) first.set(callId, inputHash);
    return { ...decision, inputHash };
  });
};

/** What an agent inside a call has in its log, going by the log above: that has every decision on its calls. */
const likelyInside = (above: readonly Decision[], callId: string): Decision[] => {
  const prefix = `${callId}-`;
  return above
    .filter((each) => each.callId.startsWith(prefix))
    .map(({ input, output, reason, ...rest }) =>
      // Of its own calls the agent inside has the history.
      rest.callId.includes('-', prefix.length)
        ? {
            ...rest,
            ...(input === undefined ? {} : { input }),
            ...(output === undefined ? {} : { output }),
            ...(reason === undefined ? {} : { reason }),
          }
        : rest,
    );
};

export const writeInside = (decisions: Decision[], above: readonly Decision[], callId: string): Change =>
  difference(likelyInside(above, callId), decisions) ?? {};

/** Throws `TypeError` where the change does not fit what the log above has. */
export const readInside = (change: unknown, above: readonly Decision[], callId: string): Decision[] =>
  applied(likelyInside(above, callId), change) as Decision[];
