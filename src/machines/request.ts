import { copyJson } from '../messages/json.ts';
import { type Message, callsOf } from '../messages/message.ts';
import type { Viewer } from '../messages/view.ts';
import type { ChatModel, ModelRequest, ModelSettings, ToolChoice, ToolDefinition } from '../models/chat-model.ts';
import type { AgentContext } from './agent-context.ts';

/** What an agent sends with every request, beside the history. */
export interface RequestParts {
  /** Makes what is sent of the messages. */
  view: Viewer;
  /** Where not just the session's history is sent. */
  messages?: readonly Message[] | undefined;
  instructions?: string | undefined;
  tools: readonly ToolDefinition[];
  toolChoice?: ToolChoice | undefined;
  settings?: ModelSettings | undefined;
  /** The answer must fit this; `asTool`: it stands among `tools` and has to be called. */
  output?: { definition: ToolDefinition; asTool: boolean } | undefined;
}

const isForced = (choice: ToolChoice | undefined): boolean => choice === 'required' || typeof choice === 'object';

/**
 * The request that asks for the next reply. A forced tool choice holds for the first model call of a turn only (R10); the last call
 * at a limit goes without tools (R21); an empty list of tools is left out (R14).
 */
export const requestOf = (
  context: AgentContext,
  parts: RequestParts,
  model: Pick<ChatModel, 'needsTools'>,
): ModelRequest => {
  const { turn, modelCalls } = context;
  const { messages = context.messages, instructions, tools, output } = parts;
  // A copy: adapters may write into what they are given (R2).
  const settings = copyJson({ ...parts.settings, ...turn.options.settings });
  const choice = turn.options.toolChoice ?? parts.toolChoice;
  const isFirst = !modelCalls.slice(turn.firstModelCall).some(({ purpose }) => purpose === undefined);
  const request: ModelRequest = {
    messages: parts.view(messages),
    ...(instructions === undefined || instructions === '' ? {} : { instructions }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(output === undefined || output.asTool
      ? {}
      : { output: { name: output.definition.name, schema: output.definition.inputSchema } }),
  };
  if (tools.length === 0) return request;
  if (turn.finalizing !== undefined) {
    if (output?.asTool === true) {
      return { ...request, tools: [output.definition], toolChoice: { tool: output.definition.name } };
    }
    const holdsCalls = messages.some((message) => message.role === 'assistant' && callsOf(message).length > 0);
    return model.needsTools === true && holdsCalls ? { ...request, tools, toolChoice: 'none' } : request;
  }
  const mustAnswerByTool = output?.asTool === true && (choice === undefined || choice === 'auto');
  const toolChoice = mustAnswerByTool ? 'required' : isForced(choice) && !isFirst ? undefined : choice;
  return { ...request, tools, ...(toolChoice === undefined ? {} : { toolChoice }) };
};
