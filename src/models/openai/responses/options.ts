import type { OpenAI } from 'openai';
import type { JsonObject } from '../../../messages/json.ts';
import {
  checkOptions,
  invalidOption,
  serverKinds,
  serverOf,
  type OptionKinds,
  type ServerOptions,
} from '../client-options.ts';
import { isJsonObject } from '../json-value.ts';
import type { ResponsesDialect } from './request-body.ts';

export interface OpenAIResponsesOptions extends ServerOptions {
  /**
   * The key under which items of this provider ride along in messages; they go back to the same key only. Default: `openai.responses`
   * for OpenAI's own URL, else the host (with port) of the base URL and `.responses`. Never give the key of a chat adapter.
   */
  provider?: string;
  /**
   * The server keeps the reply. Default: false for OpenAI, which forgets what it keeps after some weeks while a session can be opened
   * for years; not said to other servers.
   */
  store?: boolean;
  /**
   * `auto`: send only what is new and name the reply before it, where the server keeps it and nothing before it was changed; else
   * the whole history goes out. Needs `store`, and turns it on. Default: false, the history is always sent whole: nothing
   * then depends on what a server remembers.
   */
  previousResponse?: 'auto' | false;
  /** Send thoughts back to the provider that sent them (default true). */
  echoReasoning?: boolean;
  /**
   * Ask for the thoughts in encrypted form, which is how they go back where nothing is stored. Default: true where `store` is false,
   * except for models of OpenAI that do not think and refuse the request then (`gpt-4o` and older, `gpt-4.1`).
   */
  encryptedReasoning?: boolean;
  /**
   * Tools of the provider, such as `{ type: 'web_search' }`, sent with every request. `{ type: 'custom', name, … }` is sent in place of the
   * agent's tool of that name, which then gets the model's free text as `{ input: text }`; without such a tool it is not sent.
   */
  providerTools?: readonly JsonObject[];
  /** Ask for arguments and output that follow the schema exactly, where the schema allows it (default false). */
  strict?: boolean;
  /** The server holds a structured answer to its schema by `text.format`. Default: true for OpenAI, else false. */
  canOutput?: boolean;
  /** The provider wants the tool list whenever the history holds calls (default false). */
  needsTools?: boolean;
}

const kinds = {
  ...serverKinds,
  provider: 'string',
  store: 'boolean',
  previousResponse: 'string or boolean',
  echoReasoning: 'boolean',
  encryptedReasoning: 'boolean',
  providerTools: 'object',
  strict: 'boolean',
  canOutput: 'boolean',
  needsTools: 'boolean',
} as const satisfies OptionKinds<OpenAIResponsesOptions>;

const name = 'openaiResponses';

export interface ResponsesSetup {
  client: OpenAI;
  dialect: ResponsesDialect;
  /** Go on from the reply that the server keeps, where that is possible. */
  continues: boolean;
  canOutput: boolean;
  needsTools: boolean;
}

const checkTools = (tools: unknown): void => {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) throw invalidOption(name, 'option "providerTools" must be a list');
  tools.forEach((tool: unknown, index) => {
    const at = `option "providerTools[${index}]"`;
    if (!isJsonObject(tool) || typeof tool.type !== 'string') {
      throw invalidOption(name, `${at} must be an object with a type, such as { type: "web_search" }`);
    }
    if (tool.type === 'function') {
      throw invalidOption(name, `${at} is a function; give functions to the agent as tools, made by tool()`);
    }
    if (tool.type === 'custom' && typeof tool.name !== 'string') {
      throw invalidOption(name, `${at} is a custom tool without a name; name the agent's tool that it stands for`);
    }
  });
};

/** Models of OpenAI that refuse a request for encrypted thoughts. */
const isThoughtless = (model: string): boolean => /(^|:)(gpt-3|gpt-4|chatgpt|gpt-5(\.\d+)?-chat)/.test(model);

/** Checks the options and fills in what was not said. Throws `AgentError` with code `invalid-option`. */
export const responsesSetup = (options: OpenAIResponsesOptions): ResponsesSetup => {
  checkOptions(name, options, kinds);
  checkTools(options.providerTools);
  const { previousResponse = false, echoReasoning = true, model } = options;
  if (previousResponse !== false && previousResponse !== 'auto') {
    throw invalidOption(name, `option "previousResponse" must be "auto" or false, not ${String(previousResponse)}`);
  }
  const continues = previousResponse === 'auto';
  if (continues && options.store === false) {
    throw invalidOption(name, 'previousResponse: "auto" needs a server that keeps replies; leave out store: false');
  }
  const { client, provider, isOpenAI } = serverOf(name, options);
  const store = options.store ?? (continues ? true : isOpenAI ? false : undefined);
  const encrypted = store === false && echoReasoning && !(isOpenAI && isThoughtless(model));
  return {
    client,
    dialect: {
      model,
      provider: options.provider ?? `${provider}.responses`,
      store,
      isKept: store !== false,
      echoReasoning,
      encryptedReasoning: options.encryptedReasoning ?? encrypted,
      providerTools: options.providerTools ?? [],
      strict: options.strict ?? false,
    },
    continues,
    canOutput: options.canOutput ?? isOpenAI,
    needsTools: options.needsTools ?? false,
  };
};
