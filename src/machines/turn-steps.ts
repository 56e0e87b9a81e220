import { repairHistory } from '../messages/history.ts';
import type { Message, ToolResultPart } from '../messages/message.ts';
import { textResult } from '../tools/call.ts';
import type { AgentContext } from './agent-context.ts';
import type { ChartEvent } from './chart-event.ts';
import { type Round, messagesOf, settleOpen } from './round.ts';
import type { AgentRules } from './rules.ts';
import type { Step } from './step.ts';
import { freshRequest, limitsOf, tokensOf } from './turn.ts';

/** Results that the caller sends for calls that the agent left to it (R45); what it does not answer is cancelled (R6). */
const settleBySender = (round: Round, messages: readonly Message[]): { round: Round; rest: Message[] } => {
  const given = new Map<string, ToolResultPart>();
  const rest: Message[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      rest.push(message);
      continue;
    }
    for (const part of message.content) given.set(part.toolCallId, part);
  }
  return {
    round: settleOpen(round, ({ callId }) => {
      const part = given.get(callId);
      return part === undefined
        ? textResult('cancelled', 'Error: the call was cancelled; no result was given for it.')
        : { status: 'ok', output: part.output };
    }),
    rest,
  };
};

/** What a history provider has is not kept here as well, once its turn is over. */
const leaveElsewhere = ({ messages, elsewhere = { before: 0, handed: 0 } }: AgentContext): Step => ({
  messages: messages.slice(elsewhere.handed),
  elsewhere: { before: elsewhere.before + elsewhere.handed, handed: 0 },
});

/** The first message of the inbox begins the next turn. */
export const startTurn = (given: AgentContext, rules: Pick<AgentRules, 'keepsElsewhere'>): Step => {
  const context = rules.keepsElsewhere ? { ...given, ...leaveElsewhere(given) } : given;
  const [next, ...inbox] = context.inbox;
  if (next === undefined) return {};
  const { round, rest } =
    context.round === null ? { round: null, rest: next.messages } : settleBySender(context.round, next.messages);
  const before = round === null ? context.messages : [...context.messages, ...messagesOf(round)];
  const isPlain = rest.every((message) => message.role === 'user');
  return {
    ...(context.elsewhere === undefined ? {} : { elsewhere: context.elsewhere }),
    messages: isPlain ? [...before, ...rest] : repairHistory([...before, ...rest]),
    round: null,
    inbox,
    turn: {
      number: context.turn.number + 1,
      firstMessage: before.length,
      firstModelCall: context.modelCalls.length,
      iterations: 0,
      granted: 0,
      consecutiveErrors: 0,
      toolCalls: 0,
      tokensGranted: 0,
      usage: {},
      toolChanges: [],
      repeats: { key: '', count: 0 },
      work: { ms: 0 },
      options: next.options ?? {},
      request: freshRequest,
    },
  };
};

/** A turn that has its answer, or whose calls are the caller's, has nothing to go on with. */
export const mayResume = ({ turn: { outcome, finalizing } }: AgentContext): boolean => {
  if (outcome === undefined) return false;
  if (outcome.type === 'limit') return finalizing === undefined;
  return outcome.type === 'failed' || outcome.type === 'stopped' || outcome.type === 'refused';
};

/** `retry`: the turn goes on from its last settled state, with its counters of errors afresh and another grant of rounds. */
export const resumeTurn = (context: AgentContext, rules: AgentRules): Step => {
  const { outcome, finalizing: _last, stopping: _stop, ...rest } = context.turn;
  const { maxIterations } = limitsOf(context.turn, rules.limits);
  const isSpent = rest.iterations >= maxIterations + rest.granted;
  return {
    turn: {
      ...rest,
      granted: outcome?.type === 'limit' || isSpent ? rest.iterations : rest.granted,
      tokensGranted: tokensOf(rest.usage),
      toolCalls: 0,
      consecutiveErrors: 0,
      repeats: { key: '', count: 0 },
      work: { ms: 0 },
      request: freshRequest,
    },
  };
};

/** Messages that were sent to this turn are read before its next model call (R34). */
export const readSteering = (context: AgentContext): Step => {
  const steering = context.inbox.filter(({ mode }) => mode === 'steer');
  if (steering.length === 0) return {};
  const messages = [...context.messages, ...steering.flatMap((each) => each.messages)];
  return {
    messages: steering.every((each) => each.messages.every(({ role }) => role === 'user'))
      ? messages
      : repairHistory(messages),
    inbox: context.inbox.filter(({ mode }) => mode !== 'steer'),
  };
};

/** What is said of those messages. */
export const steeringFates = ({ inbox, turn }: AgentContext): ChartEvent[] =>
  inbox.flatMap(({ id, mode }) =>
    mode === 'steer' ? [{ type: 'message-fate', messageId: id, fate: { type: 'delivered' }, turn: turn.number }] : [],
  );
