import { AgentError } from '../../errors.ts';
import type { ProviderOptions } from '../../messages/message.ts';
import { quietly } from '../../messages/quietly.ts';
import type { AnyLanguageModel, CallOptions, Warnings } from './provider-types.ts';

/** A tool that the provider brings and runs itself, such as `anthropic.tools.webSearch_20250305()`. */
export interface ProviderTool {
  type: 'provider';
  id: `${string}.${string}`;
  args: Record<string, unknown>;
}

export interface AiSdkModelOptions {
  /** Default: the model's own id. */
  name?: string;
  /**
   * A structured answer is asked for as JSON of its schema (default true). False where the provider only warns that it cannot: the agent
   * then asks for the answer by a tool of its own.
   */
  canOutput?: boolean;
  /** The provider wants the tool list whenever the history holds calls (default false). */
  needsTools?: boolean;
  /** Sent with every request; what a request says itself comes on top. */
  providerOptions?: ProviderOptions;
  headers?: Record<string, string>;
  /** How much the model thinks. Default: as the provider does by itself. */
  reasoning?: NonNullable<CallOptions['reasoning']>;
  /** Tools that the provider runs, by the name that the model calls. What they did is shown, never run here. */
  providerTools?: Record<string, ProviderTool>;
  /** Hears what the provider could not do as it was asked. Default: nobody. */
  onWarnings?: (warnings: Warnings) => void;
}

export interface ModelSetup {
  name: string;
  canOutput: boolean;
  needsTools: boolean;
  providerOptions: ProviderOptions;
  headers: Record<string, string> | undefined;
  reasoning: NonNullable<CallOptions['reasoning']> | undefined;
  providerTools: Record<string, ProviderTool>;
  onWarnings: (warnings: Warnings) => void;
}

const kinds = {
  name: 'string',
  canOutput: 'boolean',
  needsTools: 'boolean',
  providerOptions: 'object',
  headers: 'object',
  reasoning: 'string',
  providerTools: 'object',
  onWarnings: 'function',
} as const satisfies Record<keyof AiSdkModelOptions, string>;

const invalid = (message: string): AgentError => new AgentError('invalid-option', `aiSdkModel: ${message}`);

const checkModel = (model: unknown): void => {
  if (typeof model === 'string') {
    throw invalid(`give the model itself, such as openai("${model}"), not its name`);
  }
  const version: unknown =
    typeof model === 'object' && model !== null && 'specificationVersion' in model
      ? model.specificationVersion
      : undefined;
  if (version !== 'v4' && version !== 'v3' && version !== 'v2') {
    throw invalid(`the model must be one of the AI SDK (specification v4, v3 or v2), found ${String(version)}`);
  }
};

const checkOptions = (options: AiSdkModelOptions): void => {
  const known = new Map<string, string>(Object.entries(kinds));
  for (const [name, value] of Object.entries(options)) {
    const kind = known.get(name);
    if (kind === undefined) throw invalid(`unknown option "${name}"; known: ${[...known.keys()].join(', ')}`);
    if (value === null || (value !== undefined && typeof value !== kind)) {
      throw invalid(`option "${name}" must be of type ${kind}, not ${value === null ? 'null' : typeof value}`);
    }
  }
  for (const [name, tool] of Object.entries(options.providerTools ?? {})) {
    if (tool.type !== 'provider' || typeof tool.id !== 'string') {
      throw invalid(
        `providerTools.${name} is no tool of a provider; tools that you run go to createAgent as tool({ … })`,
      );
    }
  }
};

/** Checks the model and the options, and fills in what was not said. Throws `AgentError` with code `invalid-option`. */
export const modelSetup = (model: AnyLanguageModel, options: AiSdkModelOptions): ModelSetup => {
  checkModel(model);
  checkOptions(options);
  return {
    name: options.name ?? model.modelId,
    canOutput: options.canOutput ?? true,
    needsTools: options.needsTools ?? false,
    providerOptions: options.providerOptions ?? {},
    headers: options.headers,
    reasoning: options.reasoning,
    providerTools: options.providerTools ?? {},
    onWarnings: (warnings) => quietly(() => options.onWarnings?.(warnings)),
  };
};
