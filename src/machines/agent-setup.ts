import { assign, enqueueActions, setup } from 'xstate';
import type { AlarmLogic } from '../actors/alarm.ts';
import type { ModelLogic, ModelOutcome } from '../actors/model.ts';
import type { StopLogic } from '../actors/stop-when.ts';
import type { WakeLogic } from '../actors/wake.ts';
import { callsOf } from '../messages/message.ts';
import { addUsage } from '../messages/usage.ts';
import {
  type AgentChartEvent,
  type AgentContext,
  type AgentInput,
  type Queued,
  type UserMessageEvent,
  decisionOf,
  enqueue as enqueueMessage,
  logDecision,
} from './agent-context.ts';
import * as steps from './agent-steps.ts';
import type { ChartEvent } from './chart-event.ts';
import { allSettled, changeCall, isWaiting, onlyPeopleLeft, specsOf, startable } from './round.ts';
import type { AgentRules } from './rules.ts';
import type { CallReported, DecisionEvent } from './tool-call-context.ts';
import type { ToolCallMachine } from './tool-call.ts';
import { type LimitName, limitsOf } from './turn.ts';
import { type TurnResult, resultOf } from './turn-result.ts';

/** The logics that a host supplies; the names are those of the chart. */
export interface AgentActors {
  model: ModelLogic;
  toolCall: ToolCallMachine;
  alarm: AlarmLogic;
  stopWhen: StopLogic;
  wake: WakeLogic;
}

/** Guards, actions and actors of the agent's chart by their names. Guards look at the context alone, or at what `params` gives them. */
export const agentSetup = (rules: AgentRules, actors: AgentActors) => {
  const isAnyWaiting = (context: AgentContext): boolean => context.round?.calls.some(isWaiting) ?? false;
  const openCalls = (context: AgentContext): string[] =>
    (context.round?.calls ?? []).filter((call) => call.phase !== 'settled').map((call) => call.callId);

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
      wake: actors.wake,
    },
  })
    .extend({
      guards: {
        // messages
        hasQueued: ({ context }) => context.inbox.length > 0 && context.turn.outcome?.type !== 'failed',
        hasUnread: ({ context }) => context.inbox.length > 0,
        isSingleTurn: ({ context }) => context.singleTurn,
        refusesMessages: ({ context }) => rules.onMessage === 'refuse' && isAnyWaiting(context),
        supersedes: ({ context }) => rules.onMessage === 'supersede' && isAnyWaiting(context),
        hasPending: ({ context }) => isAnyWaiting(context),
        // what the model said
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
          reply !== null && steps.isEmpty(reply) && turn.request.emptyReplies === 0,
        isEmpty: ({ context: { reply } }) => reply !== null && steps.isEmpty(reply),
        hasNoCalls: ({ context: { reply } }) => reply !== null && callsOf(reply.message).length === 0,
        isLastCall: ({ context }) => context.turn.finalizing !== undefined,
        isManual: () => !rules.autopilot,
        breaksLimit: ({ context }, { onLimit }: { onLimit: 'rest' | 'fail' }) =>
          context.reply !== null &&
          steps.brokenLimit(context, context.reply, rules) !== undefined &&
          (limitsOf(context.turn, rules.limits).onLimit === 'fail') === (onLimit === 'fail'),
        callsUnknown: ({ context: { reply } }) =>
          rules.stopOnUnknownTool &&
          reply !== null &&
          callsOf(reply.message).some(({ toolName }) => !rules.isKnown(toolName)),
        // the round
        isOpenCall: ({ context }, { callId }: { callId: string }) => openCalls(context).includes(callId),
        isPendingCall: ({ context }, event: DecisionEvent) => {
          const call = context.round?.calls.find(({ callId }) => callId === event.callId);
          if (call === undefined || !isWaiting(call)) return false;
          if (event.type !== 'call.result' && call.phase !== 'awaiting-decision') return false;
          return event.inputHash === undefined || event.inputHash === call.waiting?.inputHash;
        },
        allSettled: ({ context }) => context.round !== null && allSettled(context.round),
        onlyPeopleLeft: ({ context }) => context.round !== null && onlyPeopleLeft(context.round, rules),
        someoneWorks: ({ context }) => context.round !== null && !onlyPeopleLeft(context.round, rules),
        // limits and ends
        isStopping: ({ context }) => context.turn.stopping !== undefined,
        tooManyErrors: ({ context: { turn } }) =>
          turn.consecutiveErrors > limitsOf(turn, rules.limits).maxConsecutiveErrors,
        answersDirectly: ({ context }) => steps.directAnswer(context, rules) !== undefined,
        endsTurn: ({ context }) => context.lastRound.some(({ result }) => result?.endTurn === true),
        asksStopWhen: () => rules.hasStopWhen,
        isToStop: (_, { stop }: { stop: boolean }) => stop,
        isWithinIterations: ({ context: { turn } }) =>
          turn.iterations < limitsOf(turn, rules.limits).maxIterations + turn.granted,
        finalizes: ({ context: { turn } }) => limitsOf(turn, rules.limits).onLimit === 'finalize',
        failsAtLimit: ({ context: { turn } }) => limitsOf(turn, rules.limits).onLimit === 'fail',
        mayResume: ({ context }) => steps.mayResume(context),
      },
    })
    .extend({
      actions: {
        // messages
        enqueue: assign(({ context }, { event, mode }: { event: UserMessageEvent; mode?: Queued['mode'] }) =>
          enqueueMessage(context, event, mode ?? event.mode ?? 'queue', rules.newId),
        ),
        refuseMessage: enqueueActions(({ enqueue }, { id }: { id?: string | undefined }) => {
          if (id === undefined) return;
          enqueue.emit({
            type: 'message-fate',
            messageId: id,
            fate: { type: 'refused', reason: 'an approval is pending' },
          });
        }),
        supersede: enqueueActions(({ context, enqueue }) => {
          for (const { callId, phase } of context.round?.calls.filter(isWaiting) ?? []) {
            if (phase === 'awaiting-result') enqueue.sendTo(callId, { type: 'call.cancel', callId });
            else enqueue.sendTo(callId, { type: 'approval.rejected', callId, reason: 'superseded by a new message' });
          }
        }),
        startTurn: enqueueActions(({ context, enqueue }) => {
          enqueue.assign(steps.startTurn(context));
          const [next] = context.inbox;
          if (next === undefined) return;
          const turn = context.turn.number + 1;
          enqueue.emit({ type: 'message-fate', messageId: next.id, fate: { type: 'delivered' }, turn });
        }),
        readSteering: enqueueActions(({ context, enqueue }) => {
          enqueue.assign(steps.readSteering(context));
          for (const { id } of context.inbox.filter(({ mode }) => mode === 'steer')) {
            enqueue.emit({
              type: 'message-fate',
              messageId: id,
              fate: { type: 'delivered' },
              turn: context.turn.number,
            });
          }
        }),
        discardQueued: enqueueActions(({ context, enqueue }) => {
          enqueue.assign({ inbox: [] });
          for (const { id } of context.inbox) {
            enqueue.emit({
              type: 'message-fate',
              messageId: id,
              fate: { type: 'discarded', reason: 'the turn was stopped' },
            });
          }
        }),
        resumeTurn: assign(({ context }) => steps.resumeTurn(context, rules)),
        // what the model said
        announceStep: enqueueActions(({ context: { turn }, enqueue }) => {
          enqueue.emit({ type: 'step-start', iteration: turn.iterations + 1 });
        }),
        takeOutcome: enqueueActions(({ context, enqueue }, outcome: ModelOutcome) => {
          enqueue.assign(steps.takeOutcome(context, outcome));
          const iteration = context.turn.iterations + 1;
          if (outcome.type === 'error') return;
          const { finishReason, usage, model = outcome.model } = outcome.reply;
          enqueue.emit({ type: 'step-finish', iteration, finishReason, model });
          if (usage !== undefined) enqueue.emit({ type: 'usage', usage, total: addUsage(context.usage, usage) });
        }),
        planRetry: enqueueActions(({ context, enqueue }) => {
          const step = steps.planRetry(context, rules);
          enqueue.assign(step);
          const { transient: _, ...error } = context.failure ?? { name: 'Error', message: '', transient: true };
          const retryAt = step.turn?.request.retryAt;
          enqueue.emit({ type: 'error', error, ...(retryAt === undefined ? {} : { retryAt }) });
        }),
        useFallback: assign(({ context }) => steps.useFallback(context)),
        askAgain: assign(({ context }) => steps.askAgain(context)),
        keepAnswer: assign(({ context }) => (context.reply === null ? {} : steps.keepAnswer(context, context.reply))),
        openRound: assign(({ context, spawn }) => {
          if (context.reply === null) return {};
          const next = steps.beginRound(context, context.reply);
          const refusal = steps.refusalOf(context.reply);
          for (const call of specsOf(next.round, context.turn.iterations + 1)) {
            const input = { call, sessionId: context.sessionId, ...(refusal === undefined ? {} : { refusal }) };
            spawn('toolCall', { id: call.callId, input });
          }
          return next;
        }),
        leaveToCaller: assign(({ context }) =>
          context.reply === null ? {} : steps.leaveToCaller(context, context.reply),
        ),
        announceCalls: enqueueActions(({ context, enqueue }) => {
          if (context.round === null) return;
          for (const { callId, tool, input } of specsOf(context.round, 0)) {
            enqueue.emit({ type: 'tool-call', callId, tool, input });
          }
        }),
        finishLast: assign(({ context }) => (context.reply === null ? {} : steps.finishLast(context, context.reply))),
        breakLimit: assign(({ context }) =>
          context.reply === null ? {} : steps.breakLimit(context, context.reply, rules),
        ),
        refuseUnknown: assign(({ context }) =>
          context.reply === null ? {} : steps.refuseUnknown(context, context.reply, rules),
        ),
        // the round
        noteCall: enqueueActions(({ context, enqueue }, report: CallReported) => {
          if (context.round === null) return;
          const { callId, phase, waiting, result } = report;
          const call = context.round.calls.find((each) => each.callId === callId);
          if (call === undefined || call.phase === 'settled') return;
          const change = {
            phase,
            ...(waiting === undefined ? {} : { waiting }),
            ...(result === undefined ? {} : { result }),
          };
          enqueue.assign({ round: changeCall(context.round, callId, change) });
          // An edit that did not fit was no decision after all.
          if (waiting?.refusedEdit !== undefined) enqueue.assign({ decisions: context.decisions.slice(0, -1) });
          if (phase === 'awaiting-decision' && waiting !== undefined) {
            enqueue.emit({ type: 'approval-request', callId, tool: call.tool, waiting });
          }
          if (result !== undefined) enqueue.emit({ type: 'tool-result', callId, tool: call.tool, result });
        }),
        startCalls: enqueueActions(({ context, enqueue }) => {
          if (context.round === null || context.turn.stopping !== undefined) return;
          const ids = startable(context.round, rules);
          if (ids.length === 0) return;
          enqueue.assign({
            round: ids.reduce((round, id) => changeCall(round, id, { phase: 'running' }), context.round),
          });
          for (const id of ids) enqueue.sendTo(id, { type: 'call.start' });
        }),
        decide: enqueueActions(({ context, enqueue }, event: DecisionEvent) => {
          enqueue.assign(logDecision(context, event, rules.now()));
          enqueue.sendTo(event.callId, event);
          enqueue.emit({
            type: 'approval-response',
            callId: event.callId,
            decision: decisionOf(event),
            ...(event.by === undefined ? {} : { by: event.by }),
            ...(event.type === 'approval.rejected' && event.reason !== undefined ? { reason: event.reason } : {}),
          });
        }),
        cancelCall: enqueueActions(({ enqueue }, { callId }: { callId: string }) => {
          enqueue.sendTo(callId, { type: 'call.cancel', callId });
        }),
        stopCalls: enqueueActions(({ context, enqueue }, { reason }: { reason?: string | undefined }) => {
          const why = reason === undefined ? {} : { reason };
          enqueue.assign({ turn: { ...context.turn, stopping: why } });
          for (const id of openCalls(context)) enqueue.sendTo(id, { type: 'call.stop', ...why });
        }),
        askCallsToReport: enqueueActions(({ context, enqueue }) => {
          for (const id of openCalls(context)) enqueue.sendTo(id, { type: 'call.report' });
        }),
        closeRound: enqueueActions(({ context, enqueue }) => {
          enqueue.assign(steps.closeRound(context));
          for (const { callId } of context.round?.calls ?? []) enqueue.stopChild(callId);
        }),
        forgetRound: assign({ lastRound: [] }),
        // limits and ends
        finalize: assign(({ context }) => ({ turn: { ...context.turn, finalizing: 'maxIterations' as const } })),
        answer: assign(({ context }) => steps.endTurn(context, { type: 'answered' })),
        answerDirectly: assign(({ context }) =>
          steps.endTurn(context, { type: 'answered', ...steps.directAnswer(context, rules) }),
        ),
        endRefused: assign(({ context }) => steps.endRefused(context)),
        endLimited: assign(({ context }, { limit }: { limit: LimitName }) =>
          steps.endTurn(context, { type: 'limit', limit }),
        ),
        endStopped: assign(({ context }, { reason }: { reason?: string | undefined }) =>
          steps.endTurn(context, { type: 'stopped', ...(reason === undefined ? {} : { reason }) }),
        ),
        failByModel: assign(({ context }) => steps.failByModel(context, rules)),
        failEmpty: assign(({ context }) => steps.failEmpty(context)),
        failByErrors: assign(({ context }) => steps.failByErrors(context)),
        failByLimit: assign(({ context }, { limit }: { limit: LimitName }) => steps.failByLimit(context, limit)),
        announceEnd: enqueueActions(({ context, enqueue }) => {
          const { outcome, number } = context.turn;
          if (outcome?.type === 'failed') enqueue.emit({ type: 'error', error: outcome.error });
          enqueue.emit({ type: 'finish', turn: number, result: resultOf(context) });
        }),
      },
    });
};
