import type { SnapshotFrom } from 'xstate';
import type { AgentMachine } from '../machines/agent.ts';
import type { AgentContext, Decision, ModelCall } from '../machines/agent-context.ts';
import { type CallRecord, ownerOf } from '../machines/round.ts';
import { type TurnResult, resultOf } from '../machines/turn-result.ts';
import { type AssistantMessage, type Message, type ToolResultPart, callsOf, partsOf } from '../messages/message.ts';
import { ownKey } from '../messages/own-options.ts';
import { type CallResult, type CallStatus, rejectionReason } from '../tools/call.ts';
import type { AgentEvent } from './agent-event.ts';

interface SoFar {
  /** Where the turn has said that it waits. */
  paused: TurnResult | undefined;
  /** What went past the chart and is not over. */
  recent: readonly AgentEvent[];
}

/** A call as it is told: by what its round knows, or by what history kept of it. */
type Told = Pick<CallRecord, 'phase' | 'waiting' | 'nested' | 'result'>;

const statusOf = ({ providerOptions }: ToolResultPart): CallStatus => {
  const status = providerOptions?.[ownKey]?.['status'];
  return typeof status === 'string' ? (status as CallStatus) : 'ok';
};

const decisionEvents = (decision: Decision, round: AgentContext['round'], told: Told): AgentEvent[] => {
  const { callId, tool, inputHash, by } = decision;
  const reason = decision.reason ?? (told.result === undefined ? undefined : rejectionReason(told.result));
  const asked: AgentEvent[] =
    decision.decision === 'answered'
      ? []
      : [{ type: 'approval-request', callId, tool, waiting: { needs: 'approval', inputHash } }];
  // An edit is told once its check has taken it.
  const owner = ownerOf(round, callId);
  if (decision.edited === true && owner?.callId === callId && owner.phase === 'validating') return asked;
  return [
    ...asked,
    {
      type: 'approval-response',
      callId,
      decision: decision.decision,
      ...(by === undefined ? {} : { by }),
      ...(reason === undefined ? {} : { reason }),
    },
  ];
};

const waitingEvents = (callId: string, tool: string, { phase, waiting, nested }: Told): AgentEvent[] => {
  const own: AgentEvent[] =
    phase === 'awaiting-decision' && waiting !== undefined ? [{ type: 'approval-request', callId, tool, waiting }] : [];
  const inside = nested?.pending ?? [];
  return [
    ...own,
    ...inside.map((call): AgentEvent => ({
      type: 'approval-request',
      callId: call.callId,
      tool: call.tool,
      waiting: call,
    })),
  ];
};

const stepEvents = (
  reply: AssistantMessage,
  {
    iteration,
    made,
    callOf,
  }: { iteration: number; made: ModelCall | undefined; callOf: (callId: string) => Told | undefined },
  { context, recent }: Pick<SoFar, 'recent'> & { context: AgentContext },
): AgentEvent[] => {
  const calls = callsOf(reply);
  const said = partsOf(reply).flatMap((part): AgentEvent[] => {
    if (part.type === 'text') return [{ type: 'text-delta', text: part.text }];
    return part.type === 'reasoning' ? [{ type: 'reasoning-delta', text: part.text }] : [];
  });
  const { finishReason = calls.length > 0 ? 'tool-calls' : 'stop', model = '' } = made ?? {};
  return [
    { type: 'step-start', iteration },
    ...said,
    { type: 'step-finish', iteration, finishReason, model },
    ...calls.map((part): AgentEvent => {
      const input = part.providerOptions?.[ownKey]?.['originalInput'] ?? part.input;
      return { type: 'tool-call', callId: part.toolCallId, tool: part.toolName, input };
    }),
    ...calls.flatMap(({ toolCallId: callId, toolName: tool }): AgentEvent[] => {
      const told = callOf(callId);
      if (told === undefined) return [];
      const isOf = (id: string): boolean => id === callId || id.startsWith(`${callId}-`);
      return [
        ...context.decisions
          .filter((each) => isOf(each.callId))
          .flatMap((each) => decisionEvents(each, context.round, told)),
        ...waitingEvents(callId, tool, told),
        ...recent.filter((event) => event.type === 'tool-progress' && isOf(event.callId)),
        ...(told.result === undefined ? [] : [{ type: 'tool-result' as const, callId, tool, result: told.result }]),
      ];
    }),
  ];
};

/** The calls of a round that is history, by what the next message says of them. */
const settledCalls = (reply: AssistantMessage, results: Message | undefined): Map<string, Told> => {
  const told = new Map<string, Told>();
  for (const part of results?.role === 'tool' ? results.content : []) {
    const call = callsOf(reply).find(({ toolCallId }) => toolCallId === part.toolCallId);
    const isEdited = call?.providerOptions?.[ownKey]?.['originalInput'] !== undefined;
    const result: CallResult = { status: statusOf(part), output: part.output };
    told.set(part.toolCallId, {
      phase: 'settled',
      result: isEdited ? { ...result, edited: call.input as NonNullable<CallResult['edited']> } : result,
    });
  }
  return told;
};

/**
 * The turn so far in the events of a live stream, after one that says that they are told again. Each text is one delta, the usage of the
 * turn one event; of a call that has its result only that is told, not its progress.
 */
export const turnSoFar = (snapshot: SnapshotFrom<AgentMachine>, { paused, recent }: SoFar): AgentEvent[] => {
  const { context } = snapshot;
  const { turn, round, reply, usage } = context;
  const result = turn.outcome === undefined ? paused : resultOf(context);
  const messages = context.messages.slice(turn.firstMessage);
  const made = context.modelCalls.slice(turn.firstModelCall);
  let iteration = 0;
  const step = (said: AssistantMessage, callOf: (callId: string) => Told | undefined): AgentEvent[] => {
    iteration += 1;
    return stepEvents(said, { iteration, made: made[iteration - 1], callOf }, { context, recent });
  };
  const told = messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return [];
    const calls = settledCalls(message, messages[index + 1]);
    return step(message, (callId) => calls.get(callId));
  });
  if (round !== null) told.push(...step(round.reply, (callId) => round.calls.find((call) => call.callId === callId)));
  else if (reply !== null) told.push(...step(reply.message, () => undefined));
  if (Object.keys(turn.usage).length > 0) told.push({ type: 'usage', usage: turn.usage, total: usage });
  if (snapshot.matches('thinking') && reply === null) {
    told.push({ type: 'step-start', iteration: turn.iterations + 1 });
    told.push(...recent.filter(({ type }) => type !== 'tool-progress'));
  }
  if (result?.outcome.type === 'failed') told.push({ type: 'error', error: result.outcome.error });
  if (result !== undefined) told.push({ type: 'finish', turn: turn.number, result });
  // A copy: whoever reads cannot change what the session holds.
  return structuredClone([{ type: 'joined', turn: turn.number, messages, toldAgain: told.length }, ...told]);
};
