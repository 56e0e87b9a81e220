import {
  type AnyStateMachine,
  type Snapshot,
  assign,
  enqueueActions,
  sendParent,
  sendTo,
  setup,
  stopChild,
} from 'xstate';
import type { AlarmLogic } from '../actors/alarm.ts';
import type { CheckLogic, CheckOutcome } from '../actors/check.ts';
import type { ToolLogic, ToolOutcome } from '../actors/tool.ts';
import type { CallStatus } from '../tools/call.ts';
import type { AgentRules } from './rules.ts';
import {
  type AgentReported,
  type ApprovalGranted,
  type CallReported,
  type DecisionEvent,
  type ToolCallContext,
  type ToolCallEvent,
  type ToolCallInput,
  abandon,
  answer,
  askFor,
  initialToolCall,
  planRetry,
  reject,
  report,
  takeAgentResult,
  takeCheck,
  takeEdit,
  takeNested,
} from './tool-call-context.ts';
import type { TurnResult } from './turn-result.ts';

/** The logics that a host supplies; the names are those of the chart. */
export interface ToolCallActors {
  check: CheckLogic;
  tool: ToolLogic;
  alarm: AlarmLogic;
  /** The agents that are tools, by the name `agent:<tool>`. */
  agents: Readonly<Record<string, AnyStateMachine>>;
}

/**
 * One call as an actor, spawned by `agent`. It reports to its parent by `call.reported` whenever it comes to rest, and settles with
 * exactly one result. The parent starts it (`call.start`) when a slot is free.
 */
export const createToolCallMachine = (rules: AgentRules, { agents, ...actors }: ToolCallActors) =>
  setup({
    types: {
      context: {} as ToolCallContext,
      events: {} as ToolCallEvent,
      input: {} as ToolCallInput,
    },
    actors: { ...actors, ...(agents as object) },
  })
    .extend({
      guards: {
        isThisCall: ({ context }, { callId }: { callId: string }) => callId === context.call.callId,
        isRefused: ({ context }) => context.result !== undefined,
        isEdited: (_, event: ApprovalGranted) => event.input !== undefined,
        isDelegated: ({ context }) => rules.isAgent(context.call),
        isOutside: ({ context }) => rules.isAnsweredOutside(context.call),
        isSettledBy: (_, outcome: CheckOutcome) => outcome.type === 'settled',
        mustAsk: ({ context }, outcome: CheckOutcome | ToolOutcome) =>
          outcome.type === 'ask' && context.stopping === undefined,
        mayRetry: ({ context }, outcome: ToolOutcome) =>
          outcome.type === 'result' &&
          outcome.isRetryable &&
          context.stopping === undefined &&
          context.attempt < rules.toolRetry(context.call).attempts,
        endedAs: ({ context }, { status }: { status: CallStatus }) => context.result?.status === status,
      },
    })
    .extend({
      actions: {
        beginAgent: assign(({ context, spawn }) => {
          const { call, sessionId } = context;
          const message = rules.agentMessage(call, context.input);
          // The agents are not in the type of this chart: they hold charts of its kind themselves.
          const start = spawn as unknown as (src: string, options: object) => unknown;
          start(`agent:${call.tool}`, {
            id: 'agent',
            input: { message, sessionId: `${sessionId}/${call.callId}`, insideCall: call.callId, singleTurn: true },
          });
          return { phase: 'running' as const, attempt: context.attempt + 1 };
        }),
        endAgent: stopChild('agent'),
        takeNested: assign((_, { nested }: AgentReported) => takeNested(nested)),
        takeAgentResult: assign(({ context }, { output }: { output: TurnResult }) =>
          takeAgentResult(context, output, rules),
        ),
        forward: enqueueActions(({ enqueue }, event: DecisionEvent | { type: 'call.cancel'; callId: string }) => {
          enqueue.sendTo('agent', event as never);
        }),
        stopAgent: enqueueActions(({ enqueue }, { reason }: { reason?: string | undefined }) => {
          enqueue.sendTo('agent', { type: 'turn.stop', ...(reason === undefined ? {} : { reason }) } as never);
        }),
        // A restore does not tell again that a child was done already.
        hearAgent: enqueueActions(({ self, enqueue }) => {
          const agent = self.getSnapshot().children['agent']?.getSnapshot() as Snapshot<unknown> | undefined;
          if (agent?.status === 'done')
            enqueue.raise({ type: 'xstate.done.actor.agent', output: agent.output as TurnResult });
        }),
        takeCheck: assign(({ context }, outcome: CheckOutcome) => takeCheck(context, outcome)),
        askFor: assign(({ context }, outcome: CheckOutcome | ToolOutcome) => askFor(context, outcome, rules)),
        takeEdit: assign((_, event: ApprovalGranted) => takeEdit(event)),
        reject: assign((_, by: { reason?: string | undefined; by?: string | undefined }) => reject(by)),
        answer: assign(({ context }, event: { output: unknown; by?: string }) => answer(context, event, rules)),
        needResult: assign(({ context }) => ({
          waiting: { needs: 'result' as const, inputHash: context.inputHash },
        })),
        start: assign(({ context }) => ({ phase: 'running' as const, attempt: context.attempt + 1 })),
        planRetry: assign(({ context }) => planRetry(context, rules)),
        takeResult: assign(({ context }, outcome: ToolOutcome) =>
          outcome.type === 'result' ? { result: outcome.result } : abandon(context, 'stopped'),
        ),
        rememberStop: assign((_, { reason }: { reason?: string | undefined }) => ({
          stopping: { ...(reason === undefined ? {} : { reason }) },
        })),
        abandon: assign(({ context }, { status }: { status: CallStatus }) => abandon(context, status)),
        enter: assign((_, { phase }: Pick<ToolCallContext, 'phase'>) => ({ phase })),
        abortTool: sendTo('tool', { type: 'effect.abort' as const, reason: 'stopped' }),
        report: sendParent(({ context }): CallReported => report(context)),
      },
    })
    .createMachine({
      id: 'toolCall',
      context: ({ input }) => initialToolCall(input),
      initial: 'validating',
      on: {
        'call.report': { actions: 'report' },
        'call.stop': { target: '.settled', actions: { type: 'abandon', params: { status: 'stopped' } } },
        'call.cancel': { target: '.settled', actions: { type: 'abandon', params: { status: 'cancelled' } } },
      },
      states: {
        validating: {
          always: { guard: 'isRefused', target: 'settled' },
          invoke: {
            id: 'check',
            src: 'check',
            input: ({ context }) => ({
              call: context.call,
              sessionId: context.sessionId,
              isDecided: context.isDecided,
              ...(context.edited === undefined ? {} : { edit: context.edited }),
            }),
            onDone: [
              {
                guard: { type: 'isSettledBy', params: ({ event }) => event.output },
                target: 'settled',
                actions: { type: 'takeCheck', params: ({ event }) => event.output },
              },
              {
                guard: { type: 'mustAsk', params: ({ event }) => event.output },
                target: 'awaiting-decision',
                actions: { type: 'askFor', params: ({ event }) => event.output },
              },
              { target: 'queued', actions: { type: 'takeCheck', params: ({ event }) => event.output } },
            ],
          },
        },
        'awaiting-decision': {
          entry: [{ type: 'enter', params: { phase: 'awaiting-decision' } }, 'report'],
          invoke: {
            id: 'expiry',
            src: 'alarm',
            input: ({ context }) => ({ at: context.waiting?.expiresAt ?? null }),
            onDone: { target: 'settled', actions: { type: 'reject', params: { reason: 'expired' } } },
          },
          on: {
            'approval.granted': [
              {
                guard: { type: 'isEdited', params: ({ event }) => event },
                target: 'validating',
                actions: [
                  { type: 'takeEdit', params: ({ event }) => event },
                  { type: 'enter', params: { phase: 'validating' } },
                  'report',
                ],
              },
              { target: 'queued', actions: { type: 'takeEdit', params: ({ event }) => event } },
            ],
            'approval.rejected': { target: 'settled', actions: { type: 'reject', params: ({ event }) => event } },
            'call.result': { target: 'settled', actions: { type: 'answer', params: ({ event }) => event } },
          },
        },
        queued: {
          entry: [{ type: 'enter', params: { phase: 'queued' } }, 'report'],
          on: {
            'call.start': [
              { guard: 'isDelegated', target: 'delegating' },
              { guard: 'isOutside', target: 'awaiting-result', actions: 'needResult' },
              { target: 'running' },
            ],
          },
        },
        'awaiting-result': {
          entry: [{ type: 'enter', params: { phase: 'awaiting-result' } }, 'report'],
          on: { 'call.result': { target: 'settled', actions: { type: 'answer', params: ({ event }) => event } } },
        },
        running: {
          entry: 'start',
          invoke: {
            id: 'tool',
            src: 'tool',
            input: ({ context: { call, sessionId, input, isChecked, attempt } }) => ({
              call,
              sessionId,
              input,
              isChecked,
              attempt,
            }),
            onDone: [
              {
                guard: { type: 'mayRetry', params: ({ event }) => event.output },
                target: 'backing-off',
                actions: 'planRetry',
              },
              {
                guard: { type: 'mustAsk', params: ({ event }) => event.output },
                target: 'awaiting-decision',
                actions: { type: 'askFor', params: ({ event }) => event.output },
              },
              { target: 'settled', actions: { type: 'takeResult', params: ({ event }) => event.output } },
            ],
          },
          initial: 'executing',
          states: {
            executing: {
              on: {
                'call.stop': {
                  target: 'stopping',
                  actions: [{ type: 'rememberStop', params: ({ event }) => ({ reason: event.reason }) }, 'abortTool'],
                },
              },
            },
            stopping: {
              invoke: {
                id: 'grace',
                src: 'alarm',
                input: () => ({ at: rules.now() + rules.stopGrace }),
                onDone: { target: '#toolCall.settled', actions: { type: 'abandon', params: { status: 'stopped' } } },
              },
              on: { 'call.stop': {} },
            },
          },
        },
        delegating: {
          entry: 'beginAgent',
          exit: 'endAgent',
          on: {
            'agent.reported': { actions: [{ type: 'takeNested', params: ({ event }) => event }, 'report'] },
            'xstate.done.actor.agent': {
              target: 'settled',
              actions: { type: 'takeAgentResult', params: ({ event }) => event },
            },
            'approval.granted': { actions: { type: 'forward', params: ({ event }) => event } },
            'approval.rejected': { actions: { type: 'forward', params: ({ event }) => event } },
            'call.result': { actions: { type: 'forward', params: ({ event }) => event } },
            'call.cancel': [
              {
                guard: { type: 'isThisCall', params: ({ event }) => event },
                target: 'settled',
                actions: { type: 'abandon', params: { status: 'cancelled' } },
              },
              { actions: { type: 'forward', params: ({ event }) => event } },
            ],
            'call.stop': { actions: { type: 'stopAgent', params: ({ event }) => event } },
            'call.report': { actions: ['report', 'hearAgent'] },
          },
        },
        'backing-off': {
          invoke: {
            id: 'backoff',
            src: 'alarm',
            input: ({ context }) => ({ at: context.retryAt ?? null }),
            onDone: 'running',
          },
        },
        settled: {
          entry: [{ type: 'enter', params: { phase: 'settled' } }, 'report'],
          initial: 'sorting',
          on: { 'call.stop': {}, 'call.cancel': {} },
          states: {
            sorting: {
              always: [
                { guard: { type: 'endedAs', params: { status: 'ok' } }, target: 'ok' },
                { guard: { type: 'endedAs', params: { status: 'failed' } }, target: 'failed' },
                { guard: { type: 'endedAs', params: { status: 'rejected' } }, target: 'rejected' },
                { guard: { type: 'endedAs', params: { status: 'cancelled' } }, target: 'cancelled' },
                { guard: { type: 'endedAs', params: { status: 'stopped' } }, target: 'stopped' },
                { guard: { type: 'endedAs', params: { status: 'timed-out' } }, target: 'timed-out' },
                { target: 'outcome-unknown' },
              ],
            },
            ok: {},
            failed: {},
            rejected: {},
            cancelled: {},
            stopped: {},
            'timed-out': {},
            'outcome-unknown': {},
          },
        },
      },
    });

export type ToolCallMachine = ReturnType<typeof createToolCallMachine>;
