import type { AgentContext } from '../machines/agent-context.ts';
import { messagesOf } from '../machines/round.ts';
import { isPlainObject } from '../messages/json.ts';
import { callsOf } from '../messages/message.ts';
import { violations } from '../messages/violations.ts';
import { agentContext } from './context-shape.ts';

/** The calls of a round are those of its reply, and each phase has with it what it needs. */
const roundProblem = ({ round }: AgentContext): string | undefined => {
  if (round === null) return undefined;
  const path = 'context.round';
  const parts = callsOf(round.reply);
  if (parts.length !== round.calls.length) return `${path}.calls are not the calls of its reply`;
  for (const [index, { callId, tool, phase, waiting, nested, result }] of round.calls.entries()) {
    const at = `${path}.calls[${index}]`;
    const part = parts[index];
    if (part?.toolCallId !== callId || part.toolName !== tool) return `${at} is not the call of its reply`;
    if ((phase === 'settled') !== (result !== undefined)) return `${at} is settled without a result, or the reverse`;
    if (phase === 'awaiting-decision' && waiting?.needs !== 'approval') return `${at}.waiting needs no approval`;
    if (phase === 'awaiting-agent' && nested === undefined) return `${at}.nested is missing`;
  }
  return undefined;
};

/** Of the history, and of what it becomes when the open round closes. */
const historyProblem = ({ messages, round }: AgentContext): string | undefined => {
  const [first] = violations(messages);
  if (first !== undefined) return `context.messages is no history that a provider takes: ${first}`;
  const [next] = round === null ? [] : violations([...messages, ...messagesOf(round)]);
  return next === undefined ? undefined : `context.round does not fit context.messages: ${next}`;
};

/** What is taken as it is: nothing, or the messages, where they come from a store that nobody else writes. */
export type Trust = 'nothing' | 'messages';

/** What is wrong with a stored context, with its path; undefined for one that an agent can go on with. */
export const contextProblem = (stored: unknown, trust: Trust): string | undefined => {
  // To look at every message again would cost as much as to read it.
  const looked = trust === 'messages' && isPlainObject(stored) ? { ...stored, messages: [] } : stored;
  const shape = agentContext(looked, 'context');
  if (shape !== undefined) return shape;
  const context = looked as AgentContext;
  return roundProblem(context) ?? historyProblem(context);
};
