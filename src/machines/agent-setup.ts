import { assign, emit, enqueueActions } from 'xstate';
import type { ModelOutcome } from '../actors/model.ts';
import type { OutputCheck } from '../actors/check-output.ts';
import type { StopOutcome } from '../actors/stop-when.ts';
import type { Told } from '../actors/wake.ts';
import { copyJson } from '../messages/json.ts';
import {
  type Decision,
  type Queued,
  type UserMessageEvent,
  enqueue as enqueueMessage,
  forgetUnchecked,
  logDecision,
  withdrawDecision,
} from './agent-context.ts';
import * as endingSteps from './ending-steps.ts';
import * as limitSteps from './limit-steps.ts';
import { noteTold } from './note-steps.ts';
import { outcomeEvents } from './outcome-events.ts';
import * as replySteps from './reply-steps.ts';
import * as roundSteps from './round-steps.ts';
import * as turnSteps from './turn-steps.ts';
import { nestedState, openCalls, ownerOf, pendingOf, runCalls, specsOf, startable, takeReport } from './round.ts';
import { type AgentActors, agentGuards } from './agent-guards.ts';
import type { ChartEvent } from './chart-event.ts';
import type { AgentRules } from './rules.ts';
import { spawnCalls } from './spawn-calls.ts';
import type { CallReported, DecisionEvent } from './tool-call-context.ts';
import type { LimitName } from './turn.ts';
import { resultOf } from './turn-result.ts';

const responseOf = ({ callId, decision, by }: Decision, reason?: string): ChartEvent => ({
  type: 'approval-response',
  callId,
  decision,
  ...(by === undefined ? {} : { by }),
  ...(reason === undefined ? {} : { reason }),
});

/** The actors, guards and actions of the agent's chart, by their names. */
export const agentSetup = (rules: AgentRules, actors: AgentActors) =>
  agentGuards(rules, actors).extend({
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
        // A call that would wait for the application as soon as the others are decided must not hold the message up.
        for (const call of context.round?.calls ?? []) {
          if (call.phase !== 'queued' || !rules.isAnsweredOutside(call)) continue;
          enqueue.sendTo(call.callId, { type: 'call.cancel', callId: call.callId });
        }
      }),
      startTurn: enqueueActions(({ context, enqueue }) => {
        rules.forgetTools(context.turn.toolChanges);
        enqueue.assign(turnSteps.startTurn(context, rules));
        const [next] = context.inbox;
        if (next === undefined) return;
        const turn = context.turn.number + 1;
        enqueue.emit({ type: 'message-fate', messageId: next.id, fate: { type: 'delivered' }, turn });
      }),
      readSteering: enqueueActions(({ context, enqueue }) => {
        const fates = turnSteps.steeringFates(context);
        if (fates.length === 0) return;
        enqueue.assign(turnSteps.readSteering(context));
        for (const fate of fates) enqueue.emit(fate);
      }),
      goOn: enqueueActions(({ context, enqueue }) => {
        const fates = turnSteps.steeringFates(context);
        if (fates.length === 0 && context.lastRound.length === 0) return;
        enqueue.assign({ lastRound: [], ...turnSteps.readSteering(context) });
        for (const fate of fates) enqueue.emit(fate);
      }),
      withdraw: enqueueActions(({ context, enqueue }, { id, reason }: { id: string; reason?: string | undefined }) => {
        if (!context.inbox.some((queued) => queued.id === id)) return;
        enqueue.assign({ inbox: context.inbox.filter((queued) => queued.id !== id) });
        enqueue.emit({
          type: 'message-fate',
          messageId: id,
          fate: { type: 'discarded', reason: reason ?? 'withdrawn' },
        });
      }),
      discardQueued: enqueueActions(({ context, enqueue }) => {
        enqueue.assign({ inbox: [] });
        const fate = { type: 'discarded', reason: 'the turn was stopped' } as const;
        for (const { id } of context.inbox) enqueue.emit({ type: 'message-fate', messageId: id, fate });
      }),
      resumeTurn: assign(({ context }) => turnSteps.resumeTurn(context, rules)),
      // what the model said
      announceStep: emit(({ context: { turn } }) => ({
        type: 'step-start' as const,
        iteration: turn.iterations + 1,
      })),
      takeOutcome: enqueueActions(({ context, enqueue }, outcome: ModelOutcome) => {
        enqueue.assign(replySteps.takeOutcome(context, outcome));
        for (const event of outcomeEvents(context, outcome)) enqueue.emit(event);
      }),
      planRetry: enqueueActions(({ context, enqueue }) => {
        const step = replySteps.planRetry(context, rules);
        enqueue.assign(step);
        const { transient: _, ...error } = context.failure ?? { name: 'Error', message: '', transient: true };
        const retryAt = step.turn?.request.retryAt;
        enqueue.emit({ type: 'error', error, ...(retryAt === undefined ? {} : { retryAt }) });
      }),
      useFallback: assign(({ context }) => replySteps.useFallback(context)),
      askAgain: assign(({ context }) => replySteps.askAgain(context)),
      keepAnswer: assign(({ context }) =>
        context.reply === null ? {} : replySteps.keepAnswer(context, context.reply),
      ),
      openRound: assign(({ context, spawn }) =>
        context.reply === null ? {} : spawnCalls(context, context.reply, rules, spawn),
      ),
      takeCalls: enqueueActions(({ context, enqueue }, outcome: ModelOutcome) => {
        const taken = { ...context, ...replySteps.takeOutcome(context, outcome) };
        const { reply } = taken;
        if (reply !== null) enqueue.assign(({ spawn }) => spawnCalls(taken, reply, rules, spawn));
        for (const event of outcomeEvents(context, outcome)) enqueue.emit(event);
      }),
      takeAnswer: enqueueActions(({ context, enqueue }, outcome: ModelOutcome) => {
        enqueue.assign(endingSteps.takeAnswer(context, outcome));
        for (const event of outcomeEvents(context, outcome)) enqueue.emit(event);
      }),
      leaveToCaller: assign(({ context }) =>
        context.reply === null ? {} : roundSteps.leaveToCaller(context, context.reply, rules),
      ),
      announceCalls: enqueueActions(({ context, enqueue }) => {
        if (context.round === null) return;
        for (const { callId, tool, input } of specsOf(context.round, 0)) {
          // A copy: whoever listens cannot change what runs.
          enqueue.emit({ type: 'tool-call', callId, tool, input: copyJson(input) });
        }
      }),
      finishLast: assign(({ context }) =>
        context.reply === null ? {} : limitSteps.finishLast(context, context.reply),
      ),
      breakLimit: assign(({ context }) =>
        context.reply === null ? {} : limitSteps.breakLimit(context, context.reply, rules),
      ),
      refuseUnknown: assign(({ context }) =>
        context.reply === null ? {} : roundSteps.refuseUnknown(context, context.reply, rules),
      ),
      // the round
      noteCall: enqueueActions(({ context, enqueue }, report: CallReported) => {
        if (context.round === null) return;
        const { callId, phase, waiting, nested, result } = report;
        const call = context.round.calls.find((each) => each.callId === callId);
        if (call === undefined || call.phase === 'settled') return;
        enqueue.assign({ round: takeReport(context.round, report) });
        // An edit that did not fit was no decision after all. (After a restore the call only says again that it waits.)
        if (waiting?.refusedEdit !== undefined && call.phase === 'validating') {
          enqueue.assign(withdrawDecision(context, callId));
        }
        const decided = context.decisions.findLast((each) => each.callId === callId);
        if (call.phase === 'validating' && decided?.edited === true && phase !== 'awaiting-decision') {
          // A call that ends while its edit is checked was stopped or cancelled.
          if (phase === 'settled') enqueue.assign(forgetUnchecked(context, callId));
          enqueue.emit(responseOf(decided));
        }
        if (phase === 'awaiting-decision' && waiting !== undefined) {
          enqueue.emit({ type: 'approval-request', callId, tool: call.tool, waiting: structuredClone(waiting) });
        }
        for (const pending of nested?.pending ?? []) {
          if (pending.refusedEdit !== undefined && call.nested?.checking.includes(pending.callId)) {
            enqueue.assign(withdrawDecision(context, pending.callId));
          }
          const isNew = !call.nested?.pending.some((known) => known.callId === pending.callId);
          if (isNew) {
            const asked = structuredClone(pending);
            enqueue.emit({ type: 'approval-request', callId: asked.callId, tool: asked.tool, waiting: asked });
          }
        }
        if (result !== undefined) enqueue.emit({ type: 'tool-result', callId, tool: call.tool, result });
      }),
      startCalls: enqueueActions(({ context, enqueue }) => {
        if (context.round === null || context.turn.stopping !== undefined) return;
        const ids = startable(context.round, rules);
        if (ids.length === 0) return;
        enqueue.assign({
          round: runCalls(context.round, ids),
        });
        for (const id of ids) enqueue.sendTo(id, { type: 'call.start' });
      }),
      decide: enqueueActions(({ context, enqueue }, event: DecisionEvent) => {
        const step = logDecision(context, event, rules.now());
        const decided = step.decisions?.at(-1);
        const owner = ownerOf(context.round, event.callId)?.callId ?? event.callId;
        enqueue.assign(step);
        enqueue.sendTo(owner, event);
        // An edit is told once its check has taken it; one inside an agent is checked down there.
        const isUnchecked = decided?.edited === true && owner === event.callId;
        const reason = event.type === 'approval.rejected' ? event.reason : undefined;
        if (decided !== undefined && !isUnchecked) enqueue.emit(responseOf(decided, reason));
      }),
      cancelCall: enqueueActions(({ context, enqueue }, { callId }: { callId: string }) => {
        enqueue.sendTo(ownerOf(context.round, callId)?.callId ?? callId, { type: 'call.cancel', callId });
      }),
      stopCalls: enqueueActions(
        ({ context, enqueue }, { reason, limit }: { reason?: string | undefined; limit?: LimitName }) => {
          const why = reason === undefined ? {} : { reason };
          // The first wish to stop is the one that holds; a person's goes before a limit.
          const { stopping } = context.turn;
          if (stopping === undefined || stopping.limit !== undefined)
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
        const step = roundSteps.closeRound(context, rules);
        const { round } = context;
        enqueue.assign(step);
        const ids = (round?.calls ?? []).map(({ callId }) => callId);
        for (const id of ids) enqueue.stopChild(id);
        const count = step.turn?.repeats.count ?? 0;
        if (round === null || count < rules.loopDetection.threshold) return;
        enqueue.emit({ type: 'loop-suspected', tools: round.calls.map(({ tool }) => tool), count });
      }),
      // Also the reply that was still being checked when the turn ended.
      forgetRound: enqueueActions(({ context, enqueue }) => {
        if (context.lastRound.length > 0 || context.reply !== null) enqueue.assign({ lastRound: [], reply: null });
      }),
      // limits and ends
      beginWork: enqueueActions(({ context, enqueue }) => {
        const work = limitSteps.beginWork(context, rules);
        if (work === undefined) return;
        enqueue.assign(work.step);
        enqueue.spawnChild('alarm', { id: 'deadline', input: { at: work.at } });
      }),
      pauseWork: enqueueActions(({ context, enqueue }) => {
        if (context.turn.work.since === undefined) return;
        enqueue.assign(limitSteps.pauseWork(context, rules));
        enqueue.stopChild('deadline');
      }),
      finalize: assign(({ context }) => ({ turn: { ...context.turn, finalizing: 'maxIterations' as const } })),
      answer: assign(({ context }) => endingSteps.endTurn(context, { type: 'answered' })),
      answerDirectly: assign(({ context }) => roundSteps.answerDirectly(context, rules)),
      keepOutput: assign(({ context }, check: OutputCheck) =>
        check.type === 'fits' ? replySteps.keepOutput(context, check.output) : {},
      ),
      refuseOutput: assign(({ context }, check: OutputCheck) =>
        check.type === 'unfit' ? replySteps.refuseOutput(context, check.issues, rules) : {},
      ),
      endRefused: assign(({ context }) => endingSteps.endRefused(context)),
      endLimited: assign(({ context }, { limit }: { limit: LimitName }) =>
        limitSteps.endAtLimit(context, limit, rules),
      ),
      endByStopWhen: assign(({ context }, outcome: StopOutcome) => limitSteps.endByStopWhen(context, outcome, rules)),
      endStopped: assign(({ context }, { reason }: { reason?: string | undefined }) =>
        endingSteps.endTurn(context, { type: 'stopped', ...(reason === undefined ? {} : { reason }) }),
      ),
      failByModel: assign(({ context }) => endingSteps.failByModel(context, rules)),
      failEmpty: assign(({ context }) => endingSteps.failEmpty(context)),
      failByErrors: assign(({ context }) => endingSteps.failByErrors(context, rules)),
      announceEnd: enqueueActions(({ context, enqueue }) => {
        const { outcome, number } = context.turn;
        if (outcome?.type === 'failed') enqueue.emit({ type: 'error', error: outcome.error });
        enqueue.emit({ type: 'finish', turn: number, result: resultOf(context) });
        if (!rules.tellsTurns) return;
        enqueue.assign({ turn: { ...context.turn, untold: true } });
        enqueue.sendTo('wake', { type: 'turn.ended' });
      }),
      noteTold: enqueueActions(({ context, enqueue }, told: Told) => {
        enqueue.assign(noteTold(context, told));
        for (const error of told.errors) enqueue.emit({ type: 'error', error });
      }),
    },
  });

export type AgentSetup = ReturnType<typeof agentSetup>;
