import type { AgentRules } from './rules.ts';
import { stepped } from './stepped.ts';
import { initialToolCall, toolInput } from './tool-call-context.ts';
import { type ToolCallActors, toolCallSetup } from './tool-call-setup.ts';

const createChart = (rules: AgentRules, actors: ToolCallActors) =>
  toolCallSetup(rules, actors).createMachine({
    id: 'toolCall',
    context: ({ input }) => initialToolCall(input),
    initial: 'called',
    on: {
      'call.report': { actions: 'report' },
      'call.stop': { target: '.settled', actions: { type: 'abandon', params: { status: 'stopped' } } },
      'call.cancel': { target: '.settled', actions: { type: 'abandon', params: { status: 'cancelled' } } },
    },
    states: {
      called: {
        always: [
          { guard: 'isRefused', target: 'settled' },
          { guard: 'mayStart', target: 'running' },
          { target: 'validating' },
        ],
      },
      validating: {
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
          input: ({ context }) => ({ at: context.waiting?.expiresAt ?? null, idle: true }),
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
            { target: 'running', actions: 'start' },
          ],
        },
      },
      'awaiting-result': {
        entry: [{ type: 'enter', params: { phase: 'awaiting-result' } }, 'report'],
        on: { 'call.result': { target: 'settled', actions: { type: 'answer', params: ({ event }) => event } } },
      },
      running: {
        invoke: {
          id: 'tool',
          src: 'tool',
          input: ({ context }) => toolInput(context),
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
            {
              guard: { type: 'wentWell', params: ({ event }) => event.output },
              target: '#toolCall.settled.ok',
              actions: { type: 'takeResult', params: ({ event }) => event.output },
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
        always: { guard: 'isRefused', target: 'settled' },
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
          onDone: { target: 'running', actions: 'start' },
        },
      },
      settled: {
        entry: ['settle', 'report'],
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

export type ToolCallMachine = ReturnType<typeof createChart>;

/**
 * One call as an actor, spawned by `agent`. It reports to its parent by `call.reported` whenever it comes to rest, and settles with
 * exactly one result. The parent starts it (`call.start`) when a slot is free.
 */
export const createToolCallMachine = (rules: AgentRules, actors: ToolCallActors): ToolCallMachine =>
  stepped(createChart(rules, actors));
