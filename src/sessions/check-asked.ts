import type { ActorRefFrom } from 'xstate';
import { AgentError } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import { mayResume } from '../machines/turn-steps.ts';
import { openCallOf } from './open-call.ts';

/** Throws `nothing-to-retry` where no turn can be gone on with. */
export const checkRetry = (actor: ActorRefFrom<AgentMachine>): void => {
  const now = actor.getSnapshot();
  if (!now.hasTag('settled') || !mayResume(now.context))
    throw new AgentError(
      'nothing-to-retry',
      'there is no turn that failed, was stopped, was refused or paused at a limit',
    );
};

/** Throws `unknown-call` where no open call has this id; false where it has its result already. */
export const checkCancel = (actor: ActorRefFrom<AgentMachine>, callId: string): boolean => {
  const call = openCallOf(actor, callId);
  if (call === undefined)
    throw new AgentError('unknown-call', `there is no open call ${JSON.stringify(callId)} in this session`);
  return call.phase !== 'settled';
};
