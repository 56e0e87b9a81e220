import { AgentError, type ErrorData, errorData } from '../errors.ts';
import { isPlainObject } from '../messages/json.ts';
import { isSessionId } from '../stores/session-id.ts';
import type { Command, Told } from './protocol.ts';
import { sessionKey } from './session-key.ts';

const decisions = new Set<unknown>(['approval.granted', 'approval.rejected', 'call.result']);
const modes = new Set<unknown>(['queue', 'steer']);

/** What the methods of a session cannot have sent. What they check themselves is checked when it is carried out. */
const isCommand = (command: unknown): command is Command => {
  if (!isPlainObject(command)) return false;
  const { type } = command;
  if (type === 'send') return modes.has(command['mode']);
  if (type === 'decide') return decisions.has(command['decision']);
  return type === 'cancel' || type === 'stop' || type === 'retry';
};

const problemOf = async (objectKey: string, told: Told, key: string | undefined): Promise<string | undefined> => {
  if (!isPlainObject(told) || !isCommand(told.command)) return 'it is no command';
  const { sessionId, id } = told;
  if (!isSessionId(sessionId)) return 'its "sessionId" is none';
  if (typeof id !== 'string' || id === '' || id.length > 1_000) return 'its "id" is no text of 1 to 1,000 characters';
  const isOfTenant = objectKey.startsWith('t:');
  // Whose key it was is known only to a worker that has it.
  if (isOfTenant && key === undefined) return undefined;
  return objectKey === (await sessionKey(sessionId, key)) ? undefined : 'it is for another session than it says';
};

/** What is wrong with a command that came for an object; undefined where nothing is. */
export const checkTold = async (
  objectKey: string,
  told: Told,
  key: string | undefined,
): Promise<ErrorData | undefined> => {
  const problem = await problemOf(objectKey, told, key);
  return problem === undefined
    ? undefined
    : errorData(new AgentError('invalid-option', `the command cannot be carried out: ${problem}`));
};
