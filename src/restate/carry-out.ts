import { AgentError } from '../errors.ts';
import { isEmptyMessage } from '../messages/own-options.ts';
import { checkMessages } from '../messages/check-message.ts';
import { checkCancel, checkRetry } from '../sessions/check-asked.ts';
import { checkCallId, checkStopReason } from '../sessions/check-options.ts';
import type { SessionCore } from '../sessions/session-core.ts';
import type { Told } from './protocol.ts';

/** Resolves when the chart has taken the decision; what becomes of it later, such as the check of an edit, is not waited for. */
const takeDecision = (
  { decide }: SessionCore,
  { decision, callId, given, output }: Extract<Told['command'], { type: 'decide' }>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    decide()(decision, callId, given, output, resolve).then(resolve, reject);
  });

/** Does with a session what a command says. Throws `AgentError` where it does not apply, and then changes nothing. */
export const carryOut = async (core: SessionCore, { id, command }: Told): Promise<void> => {
  const { actor } = core;
  const now = core.now();
  switch (command.type) {
    case 'send': {
      const messages = checkMessages(command.messages);
      if (messages.every(isEmptyMessage))
        throw new AgentError(
          'invalid-message',
          'the message says nothing: give a text that is not empty, or another part',
        );
      actor.send({ type: 'user.message', id, mode: command.mode, messages });
      return;
    }
    case 'decide':
      await takeDecision(core, command);
      return;
    case 'cancel': {
      const { callId } = command;
      checkCallId(callId, 'cancel');
      if (checkCancel(actor, callId)) actor.send({ type: 'call.cancel', callId });
      return;
    }
    case 'stop': {
      const { reason } = command;
      checkStopReason(reason);
      if (now.matches('idle') || now.hasTag('settled')) return;
      actor.send({ type: 'turn.stop', ...(reason === undefined ? {} : { reason }) });
      return;
    }
    case 'retry':
      checkRetry(actor);
      actor.send({ type: 'turn.retry' });
      return;
    default:
      throw new AgentError('invalid-option', `there is no such command: ${String(command satisfies never)}`);
  }
};
