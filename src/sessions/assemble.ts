import type { AnyActorRef, AnyStateMachine } from 'xstate';
import { AgentError } from '../errors.ts';
import { createAlarmLogic, systemClock } from '../actors/alarm.ts';
import { createCheckLogic } from '../actors/check.ts';
import { createOutputLogic } from '../actors/check-output.ts';
import { hostOf } from '../actors/host.ts';
import { createModelLogic } from '../actors/model.ts';
import { createStopLogic } from '../actors/stop-when.ts';
import { createToolLogic } from '../actors/tool.ts';
import { wakeLogic } from '../actors/wake.ts';
import { type AgentMachine, createAgentMachine } from '../machines/agent.ts';
import { type AgentContext, recall } from '../machines/agent-context.ts';
import { requestOf } from '../machines/request.ts';
import { createToolCallMachine } from '../machines/tool-call.ts';
import { wrapModel } from '../models/model-middleware.ts';
import { wrapTools } from '../tools/tool-middleware.ts';
import { type Message, textOf } from '../messages/message.ts';
import type { ToolChange } from '../tools/call.ts';
import type { Tool } from '../tools/tool.ts';
import { createOutputTool, outputToolName } from '../tools/output-tool.ts';
import { createToolFinder, definitionOf } from '../tools/tool-finder.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import type { AgentOptions } from './agent-options.ts';
import { show } from './option-bounds.ts';
import { needsAnswerTool, rulesOf } from './agent-rules.ts';
import type { ParseOutput } from './create-session.ts';

export interface Assembly {
  machine: AgentMachine;
  parseOutput: ParseOutput;
  /** Of a session that is closed: tools that were added to its turn. */
  forgetTools(changes: readonly ToolChange[]): void;
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
  const { model, instructions, stopWhen, clock = systemClock } = options;
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

  const toolCall = createToolCallMachine(rules, {
    check: createCheckLogic({
      tools,
      policy: options.approvals?.policy,
      messagesOf,
      namesFor: (call) => tools.names(agentAbove(call)?.turn.toolChanges ?? []),
      remembered: (call, tool, input) => {
        const context = agentAbove(call);
        return context === undefined ? undefined : recall(context, tool, input);
      },
    }),
    tool: createToolLogic({
      tools,
      run: wrapTools(options.toolMiddleware ?? []),
      detailedErrors: options.detailedErrors ?? false,
      clock,
      messagesOf,
    }),
    alarm,
    agents: agentsAmong([...listed, ...(options.extraTools ?? [])]),
  });
  const machine = createAgentMachine(rules, {
    toolCall,
    alarm,
    wake: wakeLogic,
    model: createModelLogic({
      models: [model, ...(options.fallback ?? [])].map((each) => wrapModel(each, options.modelMiddleware ?? [])),
      clock,
      idleTimeout: options.idleTimeout ?? 120_000,
      requestOf: async (agent, asked) => {
        const context = contextOf(agent);
        const { sessionId, messages, turn } = context;
        const text: unknown =
          typeof instructions === 'function'
            ? await instructions({
                sessionId,
                messages,
                context: hostOf(agent).context(),
                iteration: turn.iterations + 1,
              })
            : instructions;
        if (typeof text !== 'string' && (text !== undefined || instructions !== undefined)) {
          throw new AgentError('invalid-option', `option "instructions" must give a string, gave ${show(text)}`);
        }
        const { toolChoice, settings } = options;
        const output = answer && { definition: definitionOf(answer), asTool: isAnswerTool };
        return requestOf(
          context,
          { instructions: text, tools: tools.definitions(turn.toolChanges), toolChoice, settings, output },
          asked,
        );
      },
    }),
    checkOutput: createOutputLogic(answer, (agent) => {
      const { reply } = contextOf(agent);
      return reply === null ? '' : textOf(reply.message);
    }),
    stopWhen: createStopLogic((agent) => {
      const { sessionId, messages, turn } = contextOf(agent);
      const { iterations, usage } = turn;
      return stopWhen?.({ sessionId, iterations, usage, messages, context: hostOf(agent).context() }) ?? false;
    }),
  });

  const parseOutput: ParseOutput = async (raw) => {
    const check = await answer?.checkInput(raw);
    return check?.ok === true ? check.value : raw;
  };
  return { machine, parseOutput, forgetTools: tools.forget };
};
