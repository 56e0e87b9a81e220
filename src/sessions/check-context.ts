import { initialAgent } from '../machines/agent-context.ts';
import { checkMessages } from '../messages/check-message.ts';
import { isPlainObject } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import { violations } from '../messages/violations.ts';

/** What every session has: a context as it begins tells the names and kinds of all fields. */
const template = initialAgent({ sessionId: '' }, () => '');

const kindOf = (value: unknown): string => {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

const differs = (value: unknown, like: object, path: string): string | undefined => {
  if (!isPlainObject(value)) return `${path} is ${kindOf(value)}, not an object`;
  for (const [key, model] of Object.entries(like)) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    const at = `${path}.${key}`;
    if (model === null) {
      if (given !== null && !isPlainObject(given)) return `${at} is ${kindOf(given)}, not an object or null`;
    } else if (kindOf(given) !== kindOf(model)) {
      return given === undefined ? `${at} is missing` : `${at} is ${kindOf(given)}, not ${kindOf(model)}`;
    } else if (typeof given === 'number' && !(Number.isFinite(given) && given >= 0)) {
      return `${at} is not a number ≥ 0`;
    } else if (isPlainObject(model)) {
      const found = differs(given, model, at);
      if (found !== undefined) return found;
    }
  }
  return undefined;
};

const messagesProblem = (given: unknown, path: string): string | undefined => {
  if (!Array.isArray(given)) return `${path} is not an array`;
  try {
    if (given.length > 0) checkMessages(given);
  } catch (error) {
    return `${path}: ${error instanceof Error ? error.message : 'not messages'}`;
  }
  return undefined;
};

const phases = ['validating', 'awaiting-decision', 'queued', 'running', 'awaiting-result', 'awaiting-agent', 'settled'];

const callsProblem = (calls: unknown, path: string): string | undefined => {
  if (!Array.isArray(calls)) return `${path} is not an array`;
  const at = calls.findIndex(
    (call: unknown) =>
      !isPlainObject(call) ||
      typeof call['callId'] !== 'string' ||
      typeof call['tool'] !== 'string' ||
      !phases.includes(String(call['phase'])),
  );
  return at === -1 ? undefined : `${path}[${at}] is no call`;
};

const roundProblem = (round: unknown): string | undefined => {
  if (round === null) return undefined;
  const path = 'context.round';
  if (!isPlainObject(round)) return `${path} is not an object or null`;
  const reply = messagesProblem([round['reply']], `${path}.reply`);
  return reply ?? callsProblem(round['calls'], `${path}.calls`);
};

const inboxProblem = (inbox: unknown): string | undefined => {
  for (const [index, item] of (Array.isArray(inbox) ? inbox : []).entries()) {
    const path = `context.inbox[${index}]`;
    if (!isPlainObject(item) || typeof item['id'] !== 'string') return `${path} is no message that waits`;
    const found = messagesProblem(item['messages'], `${path}.messages`);
    if (found !== undefined) return found;
  }
  return undefined;
};

const historyProblem = (messages: unknown): string | undefined => {
  const found = messagesProblem(messages, 'context.messages');
  const [first] = found === undefined ? violations(messages as Message[]) : [];
  return found ?? (first === undefined ? undefined : `context.messages is no history that a provider takes: ${first}`);
};

/** What is wrong with a stored context, with its path; undefined for one that an agent can go on with. */
export const contextProblem = (context: unknown): string | undefined => {
  const shape = differs(context, template, 'context');
  if (shape !== undefined || !isPlainObject(context)) return shape;
  return (
    historyProblem(context['messages']) ??
    roundProblem(context['round']) ??
    callsProblem(context['lastRound'], 'context.lastRound') ??
    inboxProblem(context['inbox'])
  );
};

/** An open call without its actor would be waited for for ever; undefined where every call has one. */
export const missingActor = ({ value, context, children }: Record<string, unknown>): string | undefined => {
  if (value !== 'acting' && value !== 'awaiting-approval') return undefined;
  const round = isPlainObject(context) ? context['round'] : null;
  if (!isPlainObject(round)) return 'its state needs an open round, and "snapshot.context.round" is null';
  const actors = isPlainObject(children) ? children : {};
  for (const { callId, phase } of round['calls'] as { callId: string; phase: string }[]) {
    if (phase !== 'settled' && !Object.hasOwn(actors, callId))
      return `the actor of its open call "${callId}" is missing`;
  }
  return undefined;
};
