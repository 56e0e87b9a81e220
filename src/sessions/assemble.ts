import type { AnyActorRef, AnyStateMachine } from 'xstate';
import { createAlarmLogic, systemClock } from '../actors/alarm.ts';
import { hostOf } from '../actors/host.ts';
import { createWakeLogic } from '../actors/wake.ts';
import { type AgentMachine, createAgentMachine } from '../machines/agent.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { recall } from '../machines/remembered.ts';
import { createToolCallMachine } from '../machines/tool-call.ts';
import { wrapModel } from '../models/model-middleware.ts';
import { wrapTools } from '../tools/tool-middleware.ts';
import { type Message, textOf } from '../messages/message.ts';
import { type ToolChange, isProvided, noTool } from '../tools/call.ts';
import type { Tool } from '../tools/tool.ts';
import { createOutputTool, outputToolName } from '../tools/output-tool.ts';
import { createToolFinder } from '../tools/tool-finder.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import type { AgentOptions } from './agent-options.ts';
import { keepTools } from './check-tools.ts';
import { needsAnswerTool, rulesOf } from './agent-rules.ts';
import { lateEffect } from './late-effect.ts';
import { createLateTurnContexts } from './late-turn-contexts.ts';
import type { ParseOutput } from './own-session.ts';
import { audible } from './transitions.ts';
import { createTurnEndings } from './turn-endings.ts';

export interface Assembly {
  machine: AgentMachine;
  parseOutput: ParseOutput;
  /** Of a session that is closed: tools that were added to its turn. */
  forgetTools(changes: readonly ToolChange[]): void;
  /** Settles when everybody is told of the turns that are over. */
  told(agent: AnyActorRef): Promise<unknown> | undefined;
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
export const assemble = (options: AgentOptions): Assembly => {
  const { model, stopWhen, history, clock = systemClock } = options;
  const answer = options.output === undefined ? undefined : createOutputTool(options.output);
  const isAnswerTool = answer !== undefined && needsAnswerTool(options);
  const given = options.tools ?? [];
  const listed = isAnswerTool ? [...given, answer] : given;
  const tools = createToolFinder(
    createToolRegistry(listed, options.extraTools),
    isAnswerTool ? outputToolName : undefined,
  );
  const rules = rulesOf(options, tools, clock);
  const agentAbove = (call: AnyActorRef): AgentContext | undefined =>
    call._parent === undefined ? undefined : contextOf(call._parent);
  const messagesOf = (call: AnyActorRef): readonly Message[] => agentAbove(call)?.messages ?? [];
  const alarm = createAlarmLogic(clock);
  const providers = [...(options.contextProviders ?? [])];
  const endings = createTurnEndings({ providers, history, contextOf, onEnd: (agent) => turns.forget(agent) });
  const turns = createLateTurnContexts({ providers, history, tools, contextOf, told: endings.told });
  /** The tools that providers gave to the turn of a call, asked for again after a restore. */
  const findTools = (call: AnyActorRef): Promise<unknown> | undefined => {
    const lost = agentAbove(call)?.turn.toolChanges.some(
      ({ name, toolKey = noTool }) => isProvided({ toolKey }) && tools.find({ tool: name, toolKey }) === undefined,
    );
    return lost === true && call._parent !== undefined ? turns.ask(call._parent) : undefined;
  };

  const { modelMiddleware = [], toolMiddleware = [], fallback = [] } = options;
  const models = [model, ...fallback].map((each) => wrapModel(each, modelMiddleware));
  const run = wrapTools(toolMiddleware);

  const toolCall = createToolCallMachine(rules, {
    check: lateEffect(({ createCheckLogic }) =>
      createCheckLogic({
        tools,
        findTools,
        policy: options.approvals?.policy,
        messagesOf,
        namesFor: (call) => tools.names(agentAbove(call)?.turn.toolChanges ?? []),
        remembered: (call, tool, given) => {
          const context = agentAbove(call);
          return context === undefined ? undefined : recall(context, tool, given);
        },
      }),
    ),
    tool: lateEffect(({ createToolLogic }) =>
      createToolLogic({
        tools,
        findTools,
        run,
        detailedErrors: options.detailedErrors ?? false,
        clock,
        messagesOf,
      }),
    ),
    alarm,
    agents: agentsAmong([...listed, ...(options.extraTools ?? [])]),
  });
  const chart = createAgentMachine(rules, {
    toolCall,
    alarm,
    wake: createWakeLogic(endings.tell),
    model: lateEffect(({ createModelLogic, createRequestBuilder }) =>
      createModelLogic({
        models,
        clock,
        idleTimeout: options.idleTimeout ?? 120_000,
        requestOf: createRequestBuilder({ options, tools, turns, answer, isAnswerTool, contextOf }),
      }),
    ),
    checkOutput: lateEffect(({ createOutputLogic }) =>
      createOutputLogic(answer, (agent) => {
        const { reply } = contextOf(agent);
        return reply === null ? '' : textOf(reply.message);
      }),
    ),
    stopWhen: lateEffect(({ createStopLogic }) =>
      createStopLogic((agent) => {
        const { sessionId, messages, turn } = contextOf(agent);
        const { iterations, usage } = turn;
        return stopWhen?.({ sessionId, iterations, usage, messages, context: hostOf(agent).context() }) ?? false;
      }),
    ),
  });

  const machine = audible(chart);
  keepTools(machine, tools);
  const parseOutput: ParseOutput = async (raw) => {
    const check = await answer?.checkInput(raw);
    return check?.ok === true ? check.value : raw;
  };
  return { machine, parseOutput, forgetTools: tools.forget, told: endings.told };
};
