import type { JsonObject } from '../../../messages/json.ts';
import type { Message } from '../../../messages/message.ts';
import type { ModelRequest, ModelSettings, ToolChoice, ToolDefinition } from '../../chat-model.ts';
import { instructionsOf } from '../instructions.ts';
import { isJsonArray, isJsonObject } from '../json-value.ts';
import { wireSchema } from '../strict-schema.ts';
import { outgoingItems, type ItemDialect } from './outgoing-items.ts';

export interface ResponsesDialect extends ItemDialect {
  model: string;
  store: boolean | undefined;
  encryptedReasoning: boolean;
  providerTools: readonly JsonObject[];
  strict: boolean;
}

/** Functions are strict here unless a request says otherwise. */
const functionTool = ({ name, description, inputSchema }: ToolDefinition, isStrict: boolean): JsonObject => {
  const { schema: parameters, strict = false } = wireSchema(inputSchema, isStrict);
  return { type: 'function', name, ...(description === undefined ? {} : { description }), parameters, strict };
};

const choiceParam = (choice: ToolChoice, sent: readonly JsonObject[]): JsonObject | string => {
  if (typeof choice === 'string') return choice;
  const named = sent.find((tool) => tool.name === choice.tool);
  if (named?.type === 'custom') return { type: 'custom', name: choice.tool };
  const isProviders = named === undefined && sent.some((tool) => tool.type === choice.tool);
  return isProviders ? { type: choice.tool } : { type: 'function', name: choice.tool };
};

/** Servers refuse an empty list, and the other two keys without tools. */
const toolParams = ({ tools = [], toolChoice, settings = {} }: ModelRequest, dialect: ResponsesDialect): JsonObject => {
  const isCustom = (tool: JsonObject): boolean => tool.type === 'custom';
  const customs = dialect.providerTools.filter(isCustom);
  const sent = [
    ...tools.map((tool) => customs.find(({ name }) => name === tool.name) ?? functionTool(tool, dialect.strict)),
    ...dialect.providerTools.filter((tool) => !isCustom(tool)),
  ];
  if (sent.length === 0) return {};
  const { parallelToolCalls } = settings;
  return {
    tools: sent,
    ...(toolChoice === undefined ? {} : { tool_choice: choiceParam(toolChoice, sent) }),
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  };
};

/** This API has neither a seed nor stop sequences: they are left out. */
const settingParams = (settings: ModelSettings): JsonObject => ({
  ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
  ...(settings.topP === undefined ? {} : { top_p: settings.topP }),
  ...(settings.maxOutputTokens === undefined ? {} : { max_output_tokens: settings.maxOutputTokens }),
});

/** The answer's form, beside what the application sets under the same key, such as its verbosity. */
const textParam = ({ output, settings }: ModelRequest, strict: boolean): JsonObject => {
  const own = settings?.providerOptions?.text;
  if (output === undefined) return {};
  const format = { type: 'json_schema', name: output.name, ...wireSchema(output.schema, strict) };
  return { text: { format, ...(isJsonObject(own) ? own : {}) } };
};

const includeParam = ({ settings }: ModelRequest, { encryptedReasoning }: ResponsesDialect): JsonObject => {
  const own = settings?.providerOptions?.include;
  if (!encryptedReasoning) return {};
  return { include: [...new Set(['reasoning.encrypted_content', ...(isJsonArray(own) ? own : [])])] };
};

/**
 * The body of a Responses request. `settings.providerOptions` come last and win; under `text` and `include` they add to what is there.
 * With `after` only the messages that the server does not have yet go out.
 */
export const requestBody = (
  request: ModelRequest,
  dialect: ResponsesDialect,
  after?: { responseId: string; messages: readonly Message[] },
): JsonObject => {
  const instructions = instructionsOf(request);
  return {
    model: dialect.model,
    ...(instructions === '' ? {} : { instructions }),
    ...(after === undefined ? {} : { previous_response_id: after.responseId }),
    input: outgoingItems(after?.messages ?? request.messages, dialect),
    ...toolParams(request, dialect),
    ...settingParams(request.settings ?? {}),
    ...(dialect.store === undefined ? {} : { store: dialect.store }),
    ...request.settings?.providerOptions,
    ...textParam(request, dialect.strict),
    ...includeParam(request, dialect),
  };
};
