import { assign, enqueueActions, setup } from 'xstate';
import type { AlarmLogic } from '../actors/alarm.ts';
import type { ModelLogic, ModelOutcome } from '../actors/model.ts';
import type { OutputCheck, OutputLogic } from '../actors/check-output.ts';
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
  messagesOfEvent,
  withdrawDecision,
} from './agent-context.ts';
import * as steps from './agent-steps.ts';
import type { ChartEvent } from './chart-event.ts';
import {
  allSettled,
  changeCall,
  isWaiting,
  nestedState,
  onlyPeopleLeft,
  ownerOf,
  pendingOf,
  specsOf,
  startable,
} from './round.ts';
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
  checkOutput: OutputLogic;
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
      checkOutput: actors.checkOutput,
      wake: actors.wake,
    },
  })
    .extend({
      guards: {
        // messages
        hasQueued: ({ context }) => context.inbox.length > 0 && context.turn.outcome?.type !== 'failed',
        hasUnread: ({ context }) => context.inbox.length > 0,
        saysSomething: (_, event: UserMessageEvent) => messagesOfEvent(event).length > 0,
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
        mustCheckOutput: ({ context: { reply } }) =>
          rules.output !== undefined && reply !== null && callsOf(reply.message).length === 0 && !steps.isEmpty(reply),
        fitsOutput: (_, check: OutputCheck) => check.type === 'fits',
        isLastCall: ({ context }) => context.turn.finalizing !== undefined,
        isLastOutput: ({ context: { reply, turn } }) =>
          turn.finalizing !== undefined &&
          rules.output?.tool !== undefined &&
          reply !== null &&
          callsOf(reply.message).some(({ toolName }) => toolName === rules.output?.tool),
        isManual: () => !rules.autopilot,
        breaksLimit: ({ context }) =>
          context.reply !== null && steps.brokenLimit(context, context.reply, rules) !== undefined,
        callsUnknown: ({ context }) =>
          rules.stopOnUnknownTool &&
          context.reply !== null &&
          steps.unknownTool(context, context.reply, rules) !== undefined,
        // the round
        isOpenCall: ({ context }, { callId }: { callId: string }) => {
          const call = ownerOf(context.round, callId);
          return call !== undefined && call.phase !== 'settled';
        },
        isPendingCall: ({ context }, event: DecisionEvent) => {
          const call = pendingOf(context).find(({ callId }) => callId === event.callId);
          if (call === undefined || (event.type !== 'call.result' && call.needs !== 'approval')) return false;
          return event.inputHash === undefined || event.inputHash === call.inputHash;
        },
        allSettled: ({ context }) => context.round !== null && allSettled(context.round),
        onlyPeopleLeft: ({ context }) => context.round !== null && onlyPeopleLeft(context.round, rules),
        someoneWorks: ({ context }) => context.round !== null && !onlyPeopleLeft(context.round, rules),
        // limits and ends
        isStopping: ({ context }) => context.turn.stopping !== undefined && context.turn.stopping.limit === undefined,
        isOverdue: ({ context }) => context.turn.stopping?.limit === 'deadline',
        isPastDeadline: ({ context }) => steps.isPastDeadline(context.turn, rules),
        loops: ({ context: { turn } }) =>
          rules.loopDetection.stop && turn.repeats.count >= rules.loopDetection.threshold,
        tooManyErrors: ({ context: { turn } }) =>
          turn.consecutiveErrors > limitsOf(turn, rules.limits).maxConsecutiveErrors,
        answersDirectly: ({ context }) => steps.directAnswer(context, rules) !== undefined,
        endsTurn: ({ context }) => context.lastRound.some(({ result }) => result?.endTurn === true),
        asksStopWhen: () => rules.hasStopWhen,
        isToStop: (_, { stop }: { stop: boolean }) => stop,
        isWithinIterations: ({ context: { turn } }) =>
          turn.iterations < limitsOf(turn, rules.limits).maxIterations + turn.granted,
        finalizes: ({ context: { turn } }) =>
          turn.finalizing === undefined && limitsOf(turn, rules.limits).onLimit === 'finalize',
        isLimited: ({ context }) => context.turn.outcome?.type === 'limit',
        hasFailed: ({ context }) => context.turn.outcome?.type === 'failed',
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
          for (const { callId, needs } of pendingOf(context)) {
            const owner = ownerOf(context.round, callId)?.callId ?? callId;
            if (needs === 'result') enqueue.sendTo(owner, { type: 'call.cancel', callId });
            else enqueue.sendTo(owner, { type: 'approval.rejected', callId, reason: 'superseded by a new message' });
          }
        }),
        startTurn: enqueueActions(({ context, enqueue }) => {
          rules.forgetTools(context.turn.toolChanges);
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
        withdraw: enqueueActions(
          ({ context, enqueue }, { id, reason }: { id: string; reason?: string | undefined }) => {
            if (!context.inbox.some((queued) => queued.id === id)) return;
            enqueue.assign({ inbox: context.inbox.filter((queued) => queued.id !== id) });
            enqueue.emit({
              type: 'message-fate',
              messageId: id,
              fate: { type: 'discarded', reason: reason ?? 'withdrawn' },
            });
          },
        ),
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
          for (const call of specsOf(next.round, context.turn.iterations + 1)) {
            const refusal = steps.refusalOf(context, call.tool, rules);
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
          const { callId, phase, waiting, nested, result } = report;
          const call = context.round.calls.find((each) => each.callId === callId);
          if (call === undefined || call.phase === 'settled') return;
          const change = {
            phase,
            ...(waiting === undefined ? {} : { waiting }),
            ...(nested === undefined ? {} : { nested }),
            ...(result === undefined ? {} : { result }),
          };
          enqueue.assign({ round: changeCall(context.round, callId, change) });
          // An edit that did not fit was no decision after all. (After a restore the call only says again that it waits.)
          if (waiting?.refusedEdit !== undefined && call.phase === 'validating') {
            enqueue.assign(withdrawDecision(context, callId));
          }
          if (phase === 'awaiting-decision' && waiting !== undefined) {
            enqueue.emit({ type: 'approval-request', callId, tool: call.tool, waiting });
          }
          for (const pending of nested?.pending ?? []) {
            const isNew = !call.nested?.pending.some((known) => known.callId === pending.callId);
            if (isNew)
              enqueue.emit({ type: 'approval-request', callId: pending.callId, tool: pending.tool, waiting: pending });
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
          enqueue.sendTo(ownerOf(context.round, event.callId)?.callId ?? event.callId, event);
          enqueue.emit({
            type: 'approval-response',
            callId: event.callId,
            decision: decisionOf(event),
            ...(event.by === undefined ? {} : { by: event.by }),
            ...(event.type === 'approval.rejected' && event.reason !== undefined ? { reason: event.reason } : {}),
          });
        }),
        cancelCall: enqueueActions(({ context, enqueue }, { callId }: { callId: string }) => {
          enqueue.sendTo(ownerOf(context.round, callId)?.callId ?? callId, { type: 'call.cancel', callId });
        }),
        stopCalls: enqueueActions(
          ({ context, enqueue }, { reason, limit }: { reason?: string | undefined; limit?: LimitName }) => {
            const why = reason === undefined ? {} : { reason };
            enqueue.assign({
              turn: { ...context.turn, stopping: { ...why, ...(limit === undefined ? {} : { limit }) } },
            });
            for (const id of openCalls(context)) enqueue.sendTo(id, { type: 'call.stop', ...why });
          },
        ),
        askCallsToReport: enqueueActions(({ context, enqueue }) => {
          for (const id of openCalls(context)) enqueue.sendTo(id, { type: 'call.report' });
        }),
        reportUp: enqueueActions(({ context, self, enqueue }) => {
          if (context.callPrefix === '' || self._parent === undefined) return;
          enqueue.sendTo(self._parent, { type: 'agent.reported', nested: nestedState(context.round, rules) });
        }),
        closeRound: enqueueActions(({ context, enqueue }) => {
          const step = steps.closeRound(context, rules);
          const { round } = context;
          enqueue.assign(step);
          for (const { callId } of round?.calls ?? []) enqueue.stopChild(callId);
          const count = step.turn?.repeats.count ?? 0;
          if (round === null || count < rules.loopDetection.threshold) return;
          enqueue.emit({ type: 'loop-suspected', tools: round.calls.map(({ tool }) => tool), count });
        }),
        forgetRound: assign({ lastRound: [] }),
        // limits and ends
        beginWork: enqueueActions(({ context, enqueue }) => {
          const work = steps.beginWork(context, rules);
          if (work === undefined) return;
          enqueue.assign(work.step);
          enqueue.spawnChild('alarm', { id: 'deadline', input: { at: work.at } });
        }),
        pauseWork: enqueueActions(({ context, enqueue }) => {
          if (context.turn.work.since === undefined) return;
          enqueue.assign(steps.pauseWork(context, rules));
          enqueue.stopChild('deadline');
        }),
        finalize: assign(({ context }) => ({ turn: { ...context.turn, finalizing: 'maxIterations' as const } })),
        answer: assign(({ context }) => steps.endTurn(context, { type: 'answered' })),
        answerDirectly: assign(({ context }) => steps.answerDirectly(context, rules)),
        keepOutput: assign(({ context }, check: OutputCheck) =>
          check.type === 'fits' ? steps.keepOutput(context, check.output) : {},
        ),
        refuseOutput: assign(({ context }, check: OutputCheck) =>
          check.type === 'unfit' ? steps.refuseOutput(context, check.issues, rules) : {},
        ),
        endRefused: assign(({ context }) => steps.endRefused(context)),
        endLimited: assign(({ context }, { limit }: { limit: LimitName }) => steps.endAtLimit(context, limit, rules)),
        endStopped: assign(({ context }, { reason }: { reason?: string | undefined }) =>
          steps.endTurn(context, { type: 'stopped', ...(reason === undefined ? {} : { reason }) }),
        ),
        failByModel: assign(({ context }) => steps.failByModel(context, rules)),
        failEmpty: assign(({ context }) => steps.failEmpty(context)),
        failByErrors: assign(({ context }) => steps.failByErrors(context)),
        announceEnd: enqueueActions(({ context, enqueue }) => {
          const { outcome, number } = context.turn;
          if (outcome?.type === 'failed') enqueue.emit({ type: 'error', error: outcome.error });
          enqueue.emit({ type: 'finish', turn: number, result: resultOf(context) });
        }),
      },
    });
};
