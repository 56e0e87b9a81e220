import { type AnyActorRef, createActor } from 'xstate';
import type { ToolLogic } from '../actors/tool.ts';
import { takeStep } from './step-scope.ts';
import { initialToolCall, toolInput } from './tool-call-context.ts';
import type { ToolCallMachine } from './tool-call.ts';

/**
 * The chart of a call, of which one that may start at once is there where `called` would lead it: most calls are such, and to get there
 * step by step costs more than all else that a call does.
 */
export const startAtOnce = (machine: ToolCallMachine, tool: ToolLogic): ToolCallMachine => {
  const running = machine.resolveState({
    value: { running: 'executing' },
    context: initialToolCall({
      call: { callId: '', tool: '', input: {}, index: 0, count: 0, iteration: 0 },
      sessionId: '',
    }),
  });
  const getInitialSnapshot: ToolCallMachine['getInitialSnapshot'] = (scope, input) => {
    if (input?.mayStart !== true || input.refusal !== undefined) return machine.getInitialSnapshot(scope, input);
    const context = initialToolCall(input);
    const child: AnyActorRef = createActor(tool, {
      id: 'tool',
      src: 'tool',
      parent: scope.self,
      input: toolInput(context),
    });
    return { ...running, context, children: { tool: child } as typeof running.children };
  };
  const transition: ToolCallMachine['transition'] = (snapshot, event, scope) =>
    takeStep(scope, (own) => machine.transition(snapshot, event, own));
  return Object.create(machine, {
    getInitialSnapshot: { value: getInitialSnapshot },
    transition: { value: transition },
  }) as ToolCallMachine;
};
