import { type AnyStateMachine, StateMachine } from 'xstate';
import { AgentError } from '../../errors.ts';
import type { AgentMachine } from '../../machines/agent.ts';
import type { ToolCallMachine } from '../../machines/tool-call.ts';
import type { WakeLogic } from '../../actors/wake.ts';
import { checkNames } from './check-names.ts';
import { scriptedEffect } from './scripted-effect.ts';

/** An agent's chart and that of its calls: guards, actions and states as they are, every effect scripted. */
export interface ScriptedMachines {
  agent: AgentMachine;
  toolCall: AnyStateMachine;
}

/** Microsteps of one event after which a chart counts as one that never comes to rest. */
const maxMicrosteps = 1000;

const toolCallOf = (machine: AgentMachine): ToolCallMachine => {
  const toolCall: unknown = machine instanceof StateMachine ? machine.implementations.actors['toolCall'] : undefined;
  if (!(toolCall instanceof StateMachine)) {
    throw new AgentError('invalid-option', 'explore: this is not the machine of an agent; give agent.machine');
  }
  return toolCall as unknown as ToolCallMachine;
};

const bounded = <T extends AnyStateMachine>(machine: T): T => {
  machine.options = { ...machine.options, maxIterations: maxMicrosteps };
  return machine;
};

export const scriptMachine = (machine: AgentMachine): ScriptedMachines => {
  const original = toolCallOf(machine);
  checkNames(machine as unknown as AnyStateMachine, 'agents');
  checkNames(original as unknown as AnyStateMachine, 'calls');
  const agents = Object.keys(original.implementations.actors).filter((name) => name.startsWith('agent:'));
  const toolCall = bounded(
    original.provide({
      actors: {
        check: scriptedEffect(),
        tool: scriptedEffect(),
        alarm: scriptedEffect(),
        ...(Object.fromEntries(
          agents.map((name) => [name, scriptedEffect({ context: { turn: { usage: {} } } })]),
        ) as object),
      },
    }),
  );
  const agent = bounded(
    machine.provide({
      actors: {
        model: scriptedEffect(),
        toolCall,
        alarm: scriptedEffect(),
        stopWhen: scriptedEffect(),
        checkOutput: scriptedEffect(),
        wake: scriptedEffect() as unknown as WakeLogic,
      },
    }),
  );
  return { agent, toolCall };
};
