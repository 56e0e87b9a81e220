import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions';
import type { ModelRequest, ModelSettings, ToolChoice, ToolDefinition } from '../chat-model.ts';
import { outgoingMessages, type MessageDialect } from './outgoing-messages.ts';
import { wireSchema } from './strict-schema.ts';

export interface Dialect extends MessageDialect {
  model: string;
  maxTokensField: 'max_completion_tokens' | 'max_tokens';
  strict: boolean;
}

const toolParam = ({ name, description, inputSchema }: ToolDefinition, strict: boolean): ChatCompletionFunctionTool => {
  const { schema: parameters, ...mode } = wireSchema(inputSchema, strict);
  return {
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters,
      ...mode,
    },
  };
};

const choiceParam = (choice: ToolChoice): ChatCompletionToolChoiceOption =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } };

/** Servers refuse an empty list, and the other two keys without tools. */
const toolParams = ({ tools = [], toolChoice, settings = {} }: ModelRequest, strict: boolean) => {
  if (tools.length === 0) return {};
  const { parallelToolCalls } = settings;
  return {
    tools: tools.map((tool) => toolParam(tool, strict)),
    ...(toolChoice === undefined ? {} : { tool_choice: choiceParam(toolChoice) }),
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  };
};

const settingParams = (settings: ModelSettings, maxTokensField: Dialect['maxTokensField']) => ({
  ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
  ...(settings.topP === undefined ? {} : { top_p: settings.topP }),
  ...(settings.maxOutputTokens === undefined ? {} : { [maxTokensField]: settings.maxOutputTokens }),
  ...(settings.seed === undefined ? {} : { seed: settings.seed }),
  ...(settings.stopSequences === undefined ? {} : { stop: settings.stopSequences }),
});

const outputParams = ({ output }: ModelRequest, strict: boolean) =>
  output === undefined
    ? {}
    : {
        response_format: {
          type: 'json_schema' as const,
          json_schema: { name: output.name, ...wireSchema(output.schema, strict) },
        },
      };

/** The body of a Chat Completions request. `settings.providerOptions` come last and win. */
export const requestBody = (request: ModelRequest, dialect: Dialect): ChatCompletionCreateParamsNonStreaming => ({
  model: dialect.model,
  messages: outgoingMessages(request, dialect),
  ...toolParams(request, dialect.strict),
  ...outputParams(request, dialect.strict),
  ...settingParams(request.settings ?? {}, dialect.maxTokensField),
  ...request.settings?.providerOptions,
});
