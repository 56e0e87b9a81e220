import type { OpenAI } from 'openai';
import {
  checkOptions,
  invalidOption,
  serverKinds,
  serverOf,
  type OptionKinds,
  type ServerOptions,
} from './client-options.ts';
import type { Dialect } from './request-body.ts';

export interface OpenAIChatOptions extends ServerOptions {
  /**
   * The key under which fields of this provider ride along in messages; they go back to the same key only. Default: `openai` for
   * OpenAI's own URL, else the host (with port) of the base URL.
   */
  provider?: string;
  /** Send thoughts back to the provider that sent them (default true). Some providers insist on it, some refuse it. */
  echoReasoning?: boolean;
  /** The name of the length limit in the request. Default: `max_completion_tokens` for OpenAI, else `max_tokens`. */
  maxTokensField?: 'max_completion_tokens' | 'max_tokens';
  /** Ask for the usage of streamed replies (default true); a few servers refuse the request then. */
  streamUsage?: boolean;
  /** Merge messages of one role in a row, for servers whose template insists that roles alternate (default false). */
  mergeConsecutive?: boolean;
  /** Ask for arguments and output that follow the schema exactly, where the schema allows it (default false). */
  strict?: boolean;
  /**
   * The server holds a structured answer to its schema by `response_format`. Default: true for OpenAI, else false: the agent then asks for
   * the answer by a tool of its own.
   */
  canOutput?: boolean;
  /** The provider wants the tool list whenever the history holds calls (default false). */
  needsTools?: boolean;
}

const kinds = {
  ...serverKinds,
  provider: 'string',
  echoReasoning: 'boolean',
  maxTokensField: 'string',
  streamUsage: 'boolean',
  mergeConsecutive: 'boolean',
  strict: 'boolean',
  canOutput: 'boolean',
  needsTools: 'boolean',
} as const satisfies OptionKinds<OpenAIChatOptions>;

const name = 'openaiChat';

export interface ChatSetup {
  client: OpenAI;
  dialect: Dialect;
  streamUsage: boolean;
  canOutput: boolean;
  needsTools: boolean;
}

/** Checks the options and fills in what was not said. Throws `AgentError` with code `invalid-option`. */
export const chatSetup = (options: OpenAIChatOptions): ChatSetup => {
  checkOptions(name, options, kinds);
  const { maxTokensField } = options;
  if (maxTokensField !== undefined && !['max_completion_tokens', 'max_tokens'].includes(maxTokensField)) {
    throw invalidOption(
      name,
      `option "maxTokensField" must be max_completion_tokens or max_tokens, not "${maxTokensField}"`,
    );
  }
  const { client, provider, isOpenAI } = serverOf(name, options);
  return {
    client,
    dialect: {
      model: options.model,
      provider: options.provider ?? provider,
      echoReasoning: options.echoReasoning ?? true,
      mergeConsecutive: options.mergeConsecutive ?? false,
      maxTokensField: maxTokensField ?? (isOpenAI ? 'max_completion_tokens' : 'max_tokens'),
      strict: options.strict ?? false,
    },
    streamUsage: options.streamUsage ?? true,
    canOutput: options.canOutput ?? isOpenAI,
    needsTools: options.needsTools ?? false,
  };
};
