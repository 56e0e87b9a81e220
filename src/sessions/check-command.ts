import type { ActorRefFrom } from 'xstate';
import { AgentError } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import { type OutsideEvent, messagesOfEvent } from '../machines/agent-context.ts';
import { isWellFormed } from '../machines/outside-event.ts';
import { isPlainObject } from '../messages/json.ts';
import { checkCancel, checkRetry } from './check-asked.ts';
import { checkTurnOptions } from './check-turn.ts';

/** Throws `session-busy` where a turn is under way, or somebody is waited for: a session closes at rest. */
const checkClose = (actor: ActorRefFrom<AgentMachine>): void => {
  const now = actor.getSnapshot();
  if (!now.matches('idle') && !now.hasTag('settled'))
    throw new AgentError('session-busy', 'the session is not at rest: stop its turn before it is closed');
};

/** Throws `invalid-message` where no message of this id waits to be read. */
const checkWithdraw = (actor: ActorRefFrom<AgentMachine>, id: string): void => {
  if (!actor.getSnapshot().context.inbox.some((queued) => queued.id === id))
    throw new AgentError('invalid-message', `no message ${JSON.stringify(id)} waits to be read in this session`);
};

/** Throws for what the chart would pass over without a word; what others left in a store may be anything. */
export const checkCommand = (actor: ActorRefFrom<AgentMachine>, event: OutsideEvent): void => {
  const given: unknown = event;
  if (!isPlainObject(given) || !isWellFormed(event)) {
    const type = isPlainObject(given) ? String(given['type']) : JSON.stringify(given);
    throw new AgentError('invalid-option', `a command of the inbox is no event that a session takes: ${type}`);
  }
  if (event.type === 'turn.retry') checkRetry(actor);
  if (event.type === 'call.cancel') checkCancel(actor, event.callId);
  if (event.type === 'message.withdraw') checkWithdraw(actor, event.id);
  if (event.type === 'session.close') checkClose(actor);
  if (event.type !== 'user.message') return;
  if (messagesOfEvent(event).length === 0)
    throw new AgentError('invalid-message', 'a message of the inbox says nothing, or is no message');
  if (event.options !== undefined) checkTurnOptions(event.options);
};
