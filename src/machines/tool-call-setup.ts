import {
  type AnyActorRef,
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
import type { Usage } from '../messages/usage.ts';
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
  askAgent,
  askFor,
  enter,
  needResult,
  planRetry,
  reject,
  report,
  takeAgentResult,
  takeCheck,
  takeEdit,
  takeNested,
} from './tool-call-context.ts';
import type { Turn } from './turn.ts';
import type { TurnResult } from './turn-result.ts';

/** The logics that a host supplies; the names are those of the chart. */
export interface ToolCallActors {
  check: CheckLogic;
  tool: ToolLogic;
  alarm: AlarmLogic;
  /** The agents that are tools, by the name `agent:<tool>`. */
  agents: Readonly<Record<string, AnyStateMachine>>;
}

/** What the agent inside a call has used so far: it is paid for, also where its call is cut off. */
const usedInside = (call: AnyActorRef): Usage | undefined => {
  const { children } = call.getSnapshot() as { children?: Record<string, AnyActorRef> };
  return (children?.['agent']?.getSnapshot() as { context: { turn: Turn } } | undefined)?.context.turn.usage;
};

/** The actors, guards and actions of a call's chart, by their names. */
export const toolCallSetup = (rules: AgentRules, { agents, ...actors }: ToolCallActors) =>
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
        mayStart: ({ context }) => context.phase === 'running',
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
        wentWell: (_, outcome: ToolOutcome) => outcome.type === 'result' && outcome.result.status === 'ok',
        endedAs: ({ context }, { status }: { status: CallStatus }) => context.result?.status === status,
      },
    })
    .extend({
      actions: {
        beginAgent: assign(({ context, spawn }) => {
          const { call, sessionId } = context;
          const asked = askAgent(context, rules);
          if ('result' in asked) return asked;
          // The agents are not in the type of this chart: they hold charts of its kind themselves.
          const start = spawn as unknown as (src: string, options: object) => unknown;
          start(`agent:${call.tool}`, {
            id: 'agent',
            input: {
              message: asked.message,
              sessionId: `${sessionId}/${call.callId}`,
              insideCall: call.callId,
              singleTurn: true,
            },
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
        needResult: assign(({ context }) => needResult(context)),
        start: assign(({ context }) => ({ phase: 'running' as const, attempt: context.attempt + 1 })),
        planRetry: assign(({ context }) => planRetry(context, rules)),
        takeResult: assign(({ context }, outcome: ToolOutcome) =>
          outcome.type === 'result'
            ? { ...enter(context, 'settled'), result: outcome.result }
            : abandon(context, 'stopped'),
        ),
        rememberStop: assign((_, { reason }: { reason?: string | undefined }) => ({
          stopping: reason === undefined ? {} : { reason },
        })),
        abandon: assign(({ context, self }, { status }: { status: 'stopped' | 'cancelled' }) =>
          abandon(context, status, usedInside(self)),
        ),
        // A tool's result says so itself: every change of the context is a copy of the whole state.
        settle: enqueueActions(({ context, enqueue }) => {
          if (context.phase !== 'settled') enqueue.assign(enter(context, 'settled'));
        }),
        enter: assign(({ context }, { phase }: Pick<ToolCallContext, 'phase'>) => enter(context, phase)),
        abortTool: sendTo('tool', { type: 'effect.abort' as const, reason: 'stopped' }),
        report: sendParent(({ context }): CallReported => report(context)),
      },
    });
