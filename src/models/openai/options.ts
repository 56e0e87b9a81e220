import { OpenAI } from 'openai';
import { AgentError } from '../../errors.ts';
import type { Dialect } from './request-body.ts';

export interface OpenAIChatOptions {
  model: string;
  /** Default: `OPENAI_API_KEY`. Not needed with a base URL other than OpenAI's: local servers have none. */
  apiKey?: string;
  /** Default: `OPENAI_BASE_URL`, else OpenAI's. */
  baseURL?: string;
  /** A client of the `openai` package, for everything else: headers, proxies, Azure. In place of `apiKey` and `baseURL`. */
  client?: OpenAI;
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
  model: 'string',
  apiKey: 'string',
  baseURL: 'string',
  client: 'object',
  provider: 'string',
  echoReasoning: 'boolean',
  maxTokensField: 'string',
  streamUsage: 'boolean',
  mergeConsecutive: 'boolean',
  strict: 'boolean',
  canOutput: 'boolean',
  needsTools: 'boolean',
} as const satisfies Record<keyof OpenAIChatOptions, 'string' | 'boolean' | 'object'>;

const invalid = (message: string, cause?: unknown): AgentError =>
  new AgentError('invalid-option', `openaiChat: ${message}`, cause === undefined ? undefined : { cause });

const checkOptions = (options: OpenAIChatOptions): void => {
  const known = new Map<string, string>(Object.entries(kinds));
  for (const [name, value] of Object.entries(options)) {
    const kind = known.get(name);
    if (kind === undefined) throw invalid(`unknown option "${name}"; known: ${[...known.keys()].join(', ')}`);
    if (value === null || (value !== undefined && typeof value !== kind)) {
      throw invalid(`option "${name}" must be of type ${kind}, not ${value === null ? 'null' : typeof value}`);
    }
  }
  if (!options.model) throw invalid('option "model" is missing; name the model, such as { model: "gpt-5-mini" }');
  const { client, apiKey, baseURL, maxTokensField } = options;
  if (client !== undefined && (apiKey ?? baseURL) !== undefined) {
    throw invalid('give either "client" or "apiKey" and "baseURL"; set the key and the URL on the client');
  }
  if (maxTokensField !== undefined && !['max_completion_tokens', 'max_tokens'].includes(maxTokensField)) {
    throw invalid(`option "maxTokensField" must be max_completion_tokens or max_tokens, not "${maxTokensField}"`);
  }
  if (baseURL !== undefined && !URL.canParse(baseURL)) {
    throw invalid(`option "baseURL" must be a URL, such as http://localhost:11434/v1, not "${baseURL}"`);
  }
};

const openaiHost = 'api.openai.com';
const hostOf = (client: OpenAI): string => (URL.canParse(client.baseURL) ? new URL(client.baseURL).host : 'unknown');

const createClient = ({ apiKey, baseURL }: OpenAIChatOptions): OpenAI => {
  // Retries are the chart's, where they can be seen and stopped.
  const common = { maxRetries: 0, ...(baseURL === undefined ? {} : { baseURL }) };
  try {
    return new OpenAI({ ...common, ...(apiKey === undefined ? {} : { apiKey }) });
  } catch (error) {
    const keyless = new OpenAI({ ...common, apiKey: 'none', defaultHeaders: { Authorization: null } });
    if (hostOf(keyless) !== openaiHost) return keyless;
    throw invalid(
      'no API key; set OPENAI_API_KEY, or give "apiKey", or the "baseURL" of a server that needs none',
      error,
    );
  }
};

export interface ChatSetup {
  client: OpenAI;
  dialect: Dialect;
  streamUsage: boolean;
  canOutput: boolean;
  needsTools: boolean;
}

/** Checks the options and fills in what was not said. Throws `AgentError` with code `invalid-option`. */
export const chatSetup = (options: OpenAIChatOptions): ChatSetup => {
  checkOptions(options);
  const client = options.client ?? createClient(options);
  const host = hostOf(client);
  const isOpenAI = host === openaiHost;
  return {
    client,
    dialect: {
      model: options.model,
      provider: options.provider ?? (isOpenAI ? 'openai' : host),
      echoReasoning: options.echoReasoning ?? true,
      mergeConsecutive: options.mergeConsecutive ?? false,
      maxTokensField: options.maxTokensField ?? (isOpenAI ? 'max_completion_tokens' : 'max_tokens'),
      strict: options.strict ?? false,
    },
    streamUsage: options.streamUsage ?? true,
    canOutput: options.canOutput ?? isOpenAI,
    needsTools: options.needsTools ?? false,
  };
};
