import { AgentError } from '../errors.ts';
import { pendingOf } from '../machines/round.ts';
import type { DecisionEvent } from '../machines/tool-call-context.ts';
import { checkDecision, decisionFrom, type DecisionGiven } from '../sessions/check-decision.ts';
import { contextIn, exportSession } from '../sessions/transfer.ts';
import { commandOutcome } from '../stores/command-outcome.ts';
import type { SessionStore } from '../stores/store.ts';
import { commandText, refusalText } from './command-text.ts';
import { escapeText } from './escape-text.ts';
import type { Output } from './output.ts';
import { UsageError } from './usage-error.ts';

export interface DecisionFlags {
  callId: string | undefined;
  given: DecisionGiven;
  output?: unknown;
}

/** ms in which a process that has the session answers: it looks every 250 ms. */
const aMoment = 600;

/**
 * Leaves a decision for whoever has the session: the process in which it lives, or the next one that opens it. It is bound to the
 * arguments that are there now. Where the session answers within a moment, what became of it is told.
 */
export const decideCall = async (
  store: SessionStore,
  type: DecisionEvent['type'],
  sessionId: string,
  { callId: named, given, output }: DecisionFlags,
): Promise<Output> => {
  const context = contextIn(await exportSession(store, sessionId));
  const pending = pendingOf(context);
  if (named === undefined && pending.length !== 1) {
    const waiting = pending.map(({ callId, tool }) => `${callId} (${tool})`).join(', ');
    throw pending.length === 0
      ? new AgentError('unknown-call', `nothing waits in session "${sessionId}"`)
      : new UsageError(`Say which call: ${waiting}.`);
  }
  const callId = named ?? pending[0]?.callId ?? '';
  const call = pending.find((each) => each.callId === callId);
  const bound = call === undefined || given.inputHash !== undefined ? given : { ...given, inputHash: call.inputHash };
  const event = decisionFrom(type, callId, bound, output);
  if (!checkDecision(context, event)) {
    return {
      json: { sessionId, callId, isNew: false },
      text: escapeText(`Call ${callId} was decided like this before.`),
    };
  }
  const command = await store.post(sessionId, event);
  const outcome = await commandOutcome(store, sessionId, command, { within: aMoment });
  const { tool = '', input } = call ?? {};
  const what = `${commandText(event)}, ${tool} ${JSON.stringify(input)}`;
  const json = { sessionId, callId, tool, input, isNew: true, command, outcome };
  switch (outcome.type) {
    case 'taken':
      return { json, text: escapeText(`Session ${sessionId} has taken it: ${what}.`) };
    case 'refused':
      return { json, text: escapeText(`Session ${sessionId} has refused it: ${refusalText(outcome)}`), exitCode: 1 };
    case 'waiting':
      return {
        json,
        text: escapeText(
          `Left for session ${sessionId}: ${what}.\nThe process that has the session takes it up, or the next one that opens it; \`show\` tells if it is refused.`,
        ),
      };
    default:
      return outcome satisfies never;
  }
};
