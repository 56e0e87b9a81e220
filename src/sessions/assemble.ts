import type { AnyActorRef, AnyStateMachine } from 'xstate';
import { createAlarmLogic, systemClock } from '../actors/alarm.ts';
import { createWakeLogic } from '../actors/wake.ts';
import { type AgentMachine, createAgentMachine } from '../machines/agent.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { createToolCallMachine } from '../machines/tool-call.ts';
import { wrapModel } from '../models/model-middleware.ts';
import { wrapTools } from '../tools/tool-middleware.ts';
import type { ToolChange } from '../tools/call.ts';
import type { Tool } from '../tools/tool.ts';
import { createOutputTool, outputToolName } from '../tools/output-tool.ts';
import { createToolFinder } from '../tools/tool-finder.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import type { AgentOptions } from './agent-options.ts';
import { keepTools } from './check-tools.ts';
import { needsAnswerTool, rulesOf } from './agent-rules.ts';
import { createEffects } from './effects.ts';
import { beginToLoad } from './load-pipeline.ts';
import type { ParseOutput } from './own-session.ts';
import { audible } from './transitions.ts';
import { createTurnContexts } from './turn-contexts.ts';
import { createTurnEndings } from './turn-endings.ts';

export interface Assembly {
  machine: AgentMachine;
  parseOutput: ParseOutput;
  /** Of a session that is closed: tools that were added to its turn. */
  forgetTools(changes: readonly ToolChange[]): void;
  /** Settles when everybody is told of the turns that are over. */
  told(agent: AnyActorRef): Promise<unknown> | undefined;
  /** What providers gave to a turn is kept beside its actor. */
  staysAwake: boolean;
}

const contextOf = (agent: AnyActorRef): AgentContext => (agent.getSnapshot() as { context: AgentContext }).context;

/** The charts of the agents that are tools, by the names under which calls start them. */
const agentsAmong = (tools: readonly Tool[]): Record<string, AnyStateMachine> =>
  Object.fromEntries(
    tools.flatMap(({ name, agent }) =>
      agent === undefined ? [] : [[`agent:${name}`, agent.machine as AnyStateMachine]],
    ),
  );

/** Puts the charts and their actors together from an agent's options: the one place where they meet. */
export const assemble = (given: AgentOptions): Assembly => {
  // Some of it is read later: what becomes of the caller's object says nothing then.
  const options = { ...given };
  const { model, history, clock = systemClock, modelMiddleware = [], toolMiddleware = [], fallback = [] } = options;
  const answer = options.output === undefined ? undefined : createOutputTool(options.output);
  const isAnswerTool = answer !== undefined && needsAnswerTool(options);
  const own = options.tools ?? [];
  const listed = isAnswerTool ? [...own, answer] : own;
  const tools = createToolFinder(
    createToolRegistry(listed, options.extraTools),
    isAnswerTool ? outputToolName : undefined,
  );
  const rules = rulesOf(options, tools, clock);
  if (rules.tellsTurns || options.compaction !== undefined) beginToLoad();
  const alarm = createAlarmLogic(clock);
  const providers = [...(options.contextProviders ?? [])];
  const endings = createTurnEndings({ providers, history, contextOf, onEnd: (agent) => turns.forget(agent) });
  const turns = createTurnContexts({ providers, history, tools, contextOf, told: endings.told });
  const { check, tool, ...effects } = createEffects({
    options,
    clock,
    tools,
    turns,
    models: [model, ...fallback].map((each) => wrapModel(each, modelMiddleware)),
    run: wrapTools(toolMiddleware),
    answer,
    isAnswerTool,
    contextOf,
  });
  const agents = agentsAmong([...listed, ...(options.extraTools ?? [])]);
  const toolCall = createToolCallMachine(rules, { check, tool, alarm, agents });
  const chart = createAgentMachine(rules, { toolCall, alarm, wake: createWakeLogic(endings.tell), ...effects });

  const machine = audible(chart);
  keepTools(machine, tools);
  const parseOutput: ParseOutput = async (raw) => {
    const check = await answer?.checkInput(raw);
    return check?.ok === true ? check.value : raw;
  };
  return { machine, parseOutput, forgetTools: tools.forget, told: endings.told, staysAwake: rules.tellsTurns };
};
