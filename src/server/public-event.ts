import type { ErrorData } from '../errors.ts';
import type { Outcome } from '../machines/turn.ts';
import type { AgentEvent } from '../sessions/agent-event.ts';

const hidden: ErrorData = { name: 'Error', message: 'An error occurred.' };

/** The words of providers and of errors are for logs (R16); codes are not secret. */
const hide = ({ code }: { code?: string }): ErrorData => (code === undefined ? hidden : { ...hidden, code });

const publicOutcome = (outcome: Outcome): Outcome => {
  if (outcome.type !== 'failed') return outcome;
  return { type: 'failed', code: outcome.code, error: hide(outcome.error) };
};

/** An event as a client may see it: without the words of errors, and with the session's id as the client calls it. */
export const publicEvent = (event: AgentEvent, sessionId: string): AgentEvent => {
  switch (event.type) {
    case 'error':
      return { ...event, error: hide(event.error) };
    case 'tool-result': {
      const { error, ...result } = event.result;
      return { ...event, result: error === undefined ? result : { ...result, error: hide(error) } };
    }
    case 'finish':
      return { ...event, result: { ...event.result, outcome: publicOutcome(event.result.outcome), sessionId } };
    default:
      return event;
  }
};
