import type { AnyActorRef } from 'xstate';
import type { Clock } from '../actors/alarm.ts';
import { type CheckLogic, createCheckLogic } from '../actors/check.ts';
import { type OutputLogic, createOutputLogic } from '../actors/check-output.ts';
import { hostOf } from '../actors/host.ts';
import { type ModelLogic, createModelLogic } from '../actors/model.ts';
import { type StopLogic, createStopLogic } from '../actors/stop-when.ts';
import { type ToolLogic, createToolLogic } from '../actors/tool.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { recall } from '../machines/remembered.ts';
import { showMessages } from '../messages/show-messages.ts';
import { type Message, textOf } from '../messages/message.ts';
import type { ChatModel } from '../models/chat-model.ts';
import { isProvided, noTool } from '../tools/call.ts';
import type { Tool } from '../tools/tool.ts';
import type { ToolFinder } from '../tools/tool-finder.ts';
import type { RunTool } from '../tools/tool-middleware.ts';
import type { AgentOptions } from './agent-options.ts';
import { createRequestBuilder } from './create-request-builder.ts';
import type { TurnContexts } from './turn-contexts.ts';

/** What an agent's charts have done by others: each of it by one actor. */
export interface Effects {
  check: CheckLogic;
  tool: ToolLogic;
  model: ModelLogic;
  checkOutput: OutputLogic;
  stopWhen: StopLogic;
}

export interface EffectParts {
  options: AgentOptions;
  clock: Clock;
  tools: ToolFinder;
  turns: TurnContexts;
  /** The agent's own model and its fallbacks, with the middleware around them. */
  models: readonly ChatModel[];
  /** Runs a tool, with the middleware around it. */
  run: RunTool;
  /** The tool by which a structured answer is given, or that checks one. */
  answer: Tool | undefined;
  isAnswerTool: boolean;
  contextOf(agent: AnyActorRef): AgentContext;
}

export const createEffects = (parts: EffectParts): Effects => {
  const { options, clock, tools, turns, models, run, answer, contextOf } = parts;
  const agentAbove = (call: AnyActorRef): AgentContext | undefined =>
    call._parent === undefined ? undefined : contextOf(call._parent);
  const messagesOf = (call: AnyActorRef): readonly Message[] => agentAbove(call)?.messages ?? [];
  /** The tools that providers gave to the turn of a call, asked for again after a restore. */
  const findTools = (call: AnyActorRef): Promise<unknown> | undefined => {
    const lost = agentAbove(call)?.turn.toolChanges.some(
      ({ name, toolKey = noTool }) => isProvided({ toolKey }) && tools.find({ tool: name, toolKey }) === undefined,
    );
    return lost === true && call._parent !== undefined ? turns.ask(call._parent) : undefined;
  };
  return {
    check: createCheckLogic({
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
    tool: createToolLogic({
      tools,
      findTools,
      run,
      detailedErrors: options.detailedErrors ?? false,
      clock,
      messagesOf,
    }),
    model: createModelLogic({
      models,
      clock,
      idleTimeout: options.idleTimeout ?? 120_000,
      requestOf: createRequestBuilder(parts),
    }),
    checkOutput: createOutputLogic(answer, (agent) => {
      const { reply } = contextOf(agent);
      return reply === null ? '' : textOf(reply.message);
    }),
    stopWhen: createStopLogic((agent) => {
      const { sessionId, messages, turn } = contextOf(agent);
      const { iterations, usage } = turn;
      const about = { sessionId, iterations, usage, context: hostOf(agent).context() };
      return options.stopWhen === undefined ? false : options.stopWhen(showMessages(about, () => messages));
    }),
  };
};
