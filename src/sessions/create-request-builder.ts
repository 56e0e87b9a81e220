import type { AnyActorRef } from 'xstate';
import { hostOf } from '../actors/host.ts';
import type { PreparedRequest } from '../actors/model.ts';
import { AgentError } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { requestOf } from '../machines/request.ts';
import { showMessages } from '../messages/show-messages.ts';
import type { Message } from '../messages/message.ts';
import { createViewer } from '../messages/view.ts';
import type { ChatModel, ModelRequest } from '../models/chat-model.ts';
import { type Tool } from '../tools/tool.ts';
import { type ToolFinder, definitionOf } from '../tools/tool-finder.ts';
import type { AgentOptions } from './agent-options.ts';
import { providerError } from './provider-error.ts';
import { pipeline } from './load-pipeline.ts';
import { show } from './option-bounds.ts';
import type { Sent } from './prepare-request.ts';
import type { TurnContexts } from './turn-contexts.ts';
import { viewerOf } from './viewers.ts';

type Options = Pick<AgentOptions, 'instructions' | 'toolChoice' | 'settings' | 'compaction'>;

export interface RequestBuilderOptions {
  options: Options;
  tools: ToolFinder;
  turns: TurnContexts;
  answer: Tool | undefined;
  isAnswerTool: boolean;
  contextOf(agent: AnyActorRef): AgentContext;
}

export type BuildRequest = (agent: AnyActorRef, model: ChatModel, signal: AbortSignal) => Promise<PreparedRequest>;

const askForInstructions = async (
  instructions: Exclude<Options['instructions'], string | undefined>,
  { sessionId, messages, turn }: AgentContext,
  context: unknown,
): Promise<string> => {
  const about = { sessionId, context, iteration: turn.iterations + 1 };
  let text: unknown;
  try {
    text = await instructions(showMessages(about, () => messages));
  } catch (error) {
    throw providerError('option "instructions"', error);
  }
  if (typeof text === 'string') return text;
  throw new AgentError('context-provider-error', `option "instructions" must give a string, gave ${show(text)}`);
};

/** Makes what a model is asked from what the session knows, what providers give to the turn, and what a compaction leaves of it. */
export const createRequestBuilder = (parts: RequestBuilderOptions): BuildRequest => {
  const { options, tools, turns, answer, isAnswerTool, contextOf } = parts;
  const { instructions, toolChoice, settings, compaction } = options;
  const copies = new WeakMap<Message, Message>();
  const output = answer && { definition: definitionOf(answer), asTool: isAnswerTool };

  return async (agent, model, signal) => {
    // Nothing is awaited that is not there: a plain request is ready in the same turn of the microtask queue.
    const asking = turns.ask(agent, signal);
    const given = asking === undefined ? undefined : await asking;
    const isPlain = given === undefined && compaction === undefined;
    const parts = isPlain ? undefined : await pipeline();
    const context = contextOf(agent);
    const { toolChanges } = context.turn;
    const own =
      typeof instructions === 'function'
        ? await askForInstructions(instructions, context, hostOf(agent).context())
        : instructions;
    const requestWith = (sent?: Sent): ModelRequest =>
      requestOf(
        context,
        {
          view: viewerOf(agent, createViewer),
          messages: sent?.messages,
          instructions: [own, ...(sent?.instructions ?? [])].filter(Boolean).join('\n\n'),
          tools: tools.definitions(sent === undefined ? toolChanges : [...sent.toolChanges, ...toolChanges]),
          toolChoice,
          settings,
          output,
        },
        model,
      );
    if (parts === undefined) return { request: requestWith() };
    return parts.prepareRequest({ agent, context, given, compaction, model, signal, copies, requestOf: requestWith });
  };
};
