import type { ProviderOptions } from '../../messages/message.ts';
import { isPlainObject } from '../../messages/json.ts';
import type { ModelRequest, ToolChoice } from '../../models/chat-model.ts';
import type { ModelSetup } from './options.ts';
import { promptOf } from './outgoing-prompt.ts';
import type { CallOptions, ProviderToolChoice, SentTool } from './provider-types.ts';

const sentChoice = (choice: ToolChoice = 'auto'): ProviderToolChoice =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool };

const sentTools = ({ tools = [] }: ModelRequest, { providerTools }: ModelSetup): SentTool[] => [
  ...tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema,
  })),
  ...Object.entries(providerTools).map(([name, { id, args }]) => ({ type: 'provider' as const, id, name, args })),
];

/** By provider, the request's fields over the model's. */
const mergeOptions = (ofModel: ProviderOptions, ofRequest: object = {}): { providerOptions?: ProviderOptions } => {
  const merged = { ...ofModel };
  for (const [provider, fields] of Object.entries(ofRequest)) {
    if (isPlainObject(fields)) merged[provider] = Object.assign({}, merged[provider], fields);
  }
  return Object.keys(merged).length === 0 ? {} : { providerOptions: merged };
};

/** What a provider is asked. `settings.parallelToolCalls` has no place here: providers take it under `providerOptions`. */
export const callOptionsOf = (request: ModelRequest, setup: ModelSetup, abortSignal: AbortSignal): CallOptions => {
  const { temperature, topP, maxOutputTokens, seed, stopSequences, providerOptions } = request.settings ?? {};
  const tools = sentTools(request, setup);
  return {
    prompt: promptOf(request),
    abortSignal,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(seed === undefined ? {} : { seed }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(tools.length === 0 ? {} : { tools, toolChoice: sentChoice(request.toolChoice) }),
    ...(request.output === undefined
      ? {}
      : { responseFormat: { type: 'json', schema: request.output.schema, name: request.output.name } }),
    ...(setup.reasoning === undefined ? {} : { reasoning: setup.reasoning }),
    ...(setup.headers === undefined ? {} : { headers: setup.headers }),
    ...mergeOptions(setup.providerOptions, providerOptions),
  };
};
