import { setup } from 'xstate';
import type { AlarmLogic } from '../actors/alarm.ts';
import type { ModelLogic, ModelOutcome } from '../actors/model.ts';
import type { OutputCheck, OutputLogic } from '../actors/check-output.ts';
import type { StopLogic } from '../actors/stop-when.ts';
import type { WakeLogic } from '../actors/wake.ts';
import { callsOf } from '../messages/message.ts';
import {
  type AgentChartEvent,
  type AgentContext,
  type AgentInput,
  type OutsideEvent,
  type UserMessageEvent,
  messagesOfEvent,
} from './agent-context.ts';
import { isWellFormed } from './outside-event.ts';
import * as limitSteps from './limit-steps.ts';
import * as replySteps from './reply-steps.ts';
import * as roundSteps from './round-steps.ts';
import * as turnSteps from './turn-steps.ts';
import type { ChartEvent } from './chart-event.ts';
import { plainReply } from './plain-reply.ts';
import { isLastOpen, onlyPeopleLeft, ownerOf, pendingOf } from './round.ts';
import type { AgentRules } from './rules.ts';
import type { CallReported, DecisionEvent } from './tool-call-context.ts';
import type { ToolCallMachine } from './tool-call.ts';
import { limitsOf } from './turn.ts';
import type { TurnResult } from './turn-result.ts';

/** The logics that a host supplies; the names are those of the chart. */
export interface AgentActors {
  model: ModelLogic;
  toolCall: ToolCallMachine;
  alarm: AlarmLogic;
  stopWhen: StopLogic;
  checkOutput: OutputLogic;
  wake: WakeLogic;
}

/** The actors of the agent's chart and its guards, by their names. A guard looks at the context alone, or at what `params` gives it. */
export const agentGuards = (rules: AgentRules, actors: AgentActors) => {
  // Also inside an agent that has other calls at work.
  const isAnyWaiting = (context: AgentContext): boolean => pendingOf(context).length > 0;

  return setup({
    types: {
      context: {} as AgentContext,
      events: {} as AgentChartEvent,
      input: {} as AgentInput | undefined,
      output: {} as TurnResult,
      emitted: {} as ChartEvent,
      tags: {} as 'busy' | 'waiting' | 'settled',
    },
    actors: {
      model: actors.model,
      toolCall: actors.toolCall,
      alarm: actors.alarm,
      stopWhen: actors.stopWhen,
      checkOutput: actors.checkOutput,
      wake: actors.wake,
    },
  }).extend({
    guards: {
      // messages
      // Whoever is told of a turn is told before the next one begins.
      hasQueued: ({ context: { inbox, turn } }) =>
        inbox.length > 0 && turn.outcome?.type !== 'failed' && turn.untold !== true,
      hasUnread: ({ context }) => context.inbox.length > 0,
      isWellFormed: (_, event: OutsideEvent) => isWellFormed(event),
      saysSomething: (_, event: UserMessageEvent) => messagesOfEvent(event).length > 0,
      isSingleTurn: ({ context }) => context.singleTurn,
      refusesMessages: ({ context }) => rules.onMessage === 'refuse' && isAnyWaiting(context),
      supersedes: ({ context }, event: UserMessageEvent) =>
        rules.onMessage === 'supersede' && isAnyWaiting(context) && messagesOfEvent(event).length > 0,
      hasPending: ({ context }) => isAnyWaiting(context),
      // what the model said
      opensRound: ({ context }, outcome: ModelOutcome) => plainReply(context, outcome, rules) === 'calls',
      isAnswer: ({ context }, outcome: ModelOutcome) => plainReply(context, outcome, rules) === 'answer',
      mayRetry: ({ context: { failure, turn } }) =>
        failure !== null &&
        failure.transient &&
        turn.request.attempt < rules.retry.attempts &&
        (failure.retryAfter ?? 0) <= rules.retry.maxRetryAfter,
      mayFallBack: ({ context: { failure, turn } }) =>
        failure !== null && failure.transient && turn.request.model < rules.fallbacks,
      hasError: ({ context }) => context.failure !== null,
      isRefused: ({ context: { reply } }) =>
        reply !== null &&
        callsOf(reply.message).length === 0 &&
        (reply.refusal !== undefined || reply.finishReason === 'content-filter'),
      mayAskAgain: ({ context: { reply, turn } }) =>
        reply !== null && replySteps.isEmpty(reply) && turn.request.emptyReplies === 0,
      isEmpty: ({ context: { reply } }) => reply !== null && replySteps.isEmpty(reply),
      hasNoCalls: ({ context: { reply } }) => reply !== null && callsOf(reply.message).length === 0,
      mustCheckOutput: ({ context: { reply } }) =>
        rules.output !== undefined &&
        reply !== null &&
        callsOf(reply.message).length === 0 &&
        !replySteps.isEmpty(reply),
      fitsOutput: (_, check: OutputCheck) => check.type === 'fits',
      isLastCall: ({ context }) => context.turn.finalizing !== undefined,
      isLastOutput: ({ context: { reply, turn } }) =>
        turn.finalizing !== undefined &&
        rules.output?.tool !== undefined &&
        reply !== null &&
        callsOf(reply.message).some(({ toolName }) => toolName === rules.output?.tool),
      isManual: () => !rules.autopilot,
      breaksLimit: ({ context }) =>
        context.reply !== null && limitSteps.brokenLimit(context, context.reply, rules) !== undefined,
      callsUnknown: ({ context }) =>
        rules.stopOnUnknownTool &&
        context.reply !== null &&
        roundSteps.unknownTool(context, context.reply, rules) !== undefined,
      // the round
      isOpenCall: ({ context }, { callId }: { callId: string }) => {
        if (typeof callId !== 'string') return false;
        const call = ownerOf(context.round, callId);
        return call !== undefined && call.phase !== 'settled';
      },
      // The last call is over.
      closesRound: ({ context: { round } }, { callId, phase }: CallReported) =>
        round !== null && phase === 'settled' && isLastOpen(round, callId),
      isPendingCall: ({ context }, event: DecisionEvent) => {
        if (!isWellFormed(event)) return false;
        const call = pendingOf(context).find(({ callId }) => callId === event.callId);
        if (call === undefined || (event.type !== 'call.result' && call.needs !== 'approval')) return false;
        return event.inputHash === undefined || event.inputHash === call.inputHash;
      },
      onlyPeopleLeft: ({ context }) => context.round !== null && onlyPeopleLeft(context.round, rules),
      someoneWorks: ({ context }) => context.round !== null && !onlyPeopleLeft(context.round, rules),
      // limits and ends
      isStopping: ({ context }) => context.turn.stopping !== undefined && context.turn.stopping.limit === undefined,
      isOverdue: ({ context }) => context.turn.stopping?.limit === 'deadline',
      // A stop that is under way already says how the turn ends.
      isPastDeadline: ({ context: { turn } }) => turn.stopping === undefined && limitSteps.isPastDeadline(turn, rules),
      loops: ({ context: { turn } }) => rules.loopDetection.stop && turn.repeats.count >= rules.loopDetection.threshold,
      tooManyErrors: ({ context: { turn } }) =>
        turn.consecutiveErrors > limitsOf(turn, rules.limits).maxConsecutiveErrors,
      answersDirectly: ({ context }) => roundSteps.directAnswer(context, rules) !== undefined,
      endsTurn: ({ context }) => context.lastRound.some(({ result }) => result?.endTurn === true),
      asksStopWhen: () => rules.hasStopWhen,
      isToStop: (_, { stop }: { stop: boolean }) => stop,
      isWithinIterations: ({ context: { turn } }) =>
        turn.iterations < limitsOf(turn, rules.limits).maxIterations + turn.granted,
      finalizes: ({ context: { turn } }) =>
        turn.finalizing === undefined && limitsOf(turn, rules.limits).onLimit === 'finalize',
      isLimited: ({ context }) => context.turn.outcome?.type === 'limit',
      hasFailed: ({ context }) => context.turn.outcome?.type === 'failed',
      mayResume: ({ context }) => turnSteps.mayResume(context),
    },
  });
};
