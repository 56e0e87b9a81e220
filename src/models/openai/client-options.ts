import { OpenAI } from 'openai';
import { AgentError } from '../../errors.ts';

/** Where the server is and what it is asked for: the options that every adapter of this folder has. */
export interface ServerOptions {
  model: string;
  /** Default: `OPENAI_API_KEY`. Not needed with a base URL other than OpenAI's: local servers have none. */
  apiKey?: string;
  /** Default: `OPENAI_BASE_URL`, else OpenAI's. */
  baseURL?: string;
  /** A client of the `openai` package, for everything else: headers, proxies, Azure. In place of `apiKey` and `baseURL`. */
  client?: OpenAI;
}

/** The JavaScript type of each option, or several joined by ` or `. */
export type OptionKinds<Options> = Record<keyof Options & string, string>;

export const serverKinds = {
  model: 'string',
  apiKey: 'string',
  baseURL: 'string',
  client: 'object',
} as const satisfies OptionKinds<ServerOptions>;

/** The error for a bad option of `adapter`. */
export const invalidOption = (adapter: string, message: string, cause?: unknown): AgentError =>
  new AgentError('invalid-option', `${adapter}: ${message}`, cause === undefined ? undefined : { cause });

/** Checks names and types, and what all adapters have in common. Throws `AgentError` with code `invalid-option`. */
export const checkOptions = <Options extends ServerOptions>(
  adapter: string,
  options: Options,
  kinds: OptionKinds<Options>,
): void => {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    throw invalidOption(adapter, `give an object, such as { model: "gpt-5-mini" }, not ${JSON.stringify(given)}`);
  }
  const known = new Map<string, string>(Object.entries(kinds));
  for (const [name, value] of Object.entries(options)) {
    const kind = known.get(name);
    if (kind === undefined) {
      throw invalidOption(adapter, `unknown option "${name}"; known: ${[...known.keys()].join(', ')}`);
    }
    if (value === null || (value !== undefined && !kind.split(' or ').includes(typeof value))) {
      const found = value === null ? 'null' : typeof value;
      throw invalidOption(adapter, `option "${name}" must be of type ${kind}, not ${found}`);
    }
  }
  const { model, client, apiKey, baseURL } = options;
  if (!model)
    throw invalidOption(adapter, 'option "model" is missing; name the model, such as { model: "gpt-5-mini" }');
  if (client !== undefined && (apiKey ?? baseURL) !== undefined) {
    throw invalidOption(
      adapter,
      'give either "client" or "apiKey" and "baseURL"; set the key and the URL on the client',
    );
  }
};

const openaiHost = 'api.openai.com';
export const hostOf = (client: OpenAI): string =>
  URL.canParse(client.baseURL) ? new URL(client.baseURL).host : 'unknown';

/** `localhost:11434/v1` is a URL too, of a scheme `localhost:` that nobody can be asked by. */
const checkBaseURL = (adapter: string, name: string, url: string): void => {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return;
  throw invalidOption(
    adapter,
    `${name} must be a URL that begins with http:// or https://, such as http://localhost:11434/v1, not "${url}"`,
  );
};

const createClient = (adapter: string, { apiKey, baseURL }: ServerOptions): OpenAI => {
  // Retries are the chart's, where they can be seen and stopped.
  const common = { maxRetries: 0, ...(baseURL === undefined ? {} : { baseURL }) };
  try {
    return new OpenAI({ ...common, ...(apiKey === undefined ? {} : { apiKey }) });
  } catch (error) {
    if (apiKey === '')
      throw invalidOption(adapter, 'option "apiKey" is empty: a variable of the environment that is not set?', error);
    // With a key the client is refused in a browser alone.
    if (apiKey !== undefined) {
      throw invalidOption(
        adapter,
        'a page shows its "apiKey" to everybody; give the "baseURL" of a server of yours that adds the key, or a "client" that allows it',
        error,
      );
    }
    // Without a key there is none that a page could show.
    const none = { apiKey: 'none', defaultHeaders: { Authorization: null }, dangerouslyAllowBrowser: true };
    const keyless = new OpenAI({ ...common, ...none });
    if (hostOf(keyless) !== openaiHost) return keyless;
    throw invalidOption(
      adapter,
      'no API key; set OPENAI_API_KEY, or give "apiKey", or the "baseURL" of a server that needs none',
      error,
    );
  }
};

/** `fetch` takes no such URL, and repeats the password in the error of each request. */
const refuseCredentials = (adapter: string, { baseURL }: OpenAI): void => {
  const url = URL.parse(baseURL);
  if (url === null || (url.username === '' && url.password === '')) return;
  throw invalidOption(
    adapter,
    'the base URL must hold no name and password; send them by a "client" with defaultHeaders: { Authorization: "Basic …" }',
  );
};

/** The client to use, and whether OpenAI itself is behind it. `provider`: `openai`, else the host with its port. */
export const serverOf = (
  adapter: string,
  options: ServerOptions,
): { client: OpenAI; provider: string; isOpenAI: boolean } => {
  if (options.baseURL !== undefined) checkBaseURL(adapter, 'option "baseURL"', options.baseURL);
  const client = options.client ?? createClient(adapter, options);
  if (options.client === undefined) {
    checkBaseURL(adapter, 'OPENAI_BASE_URL', client.baseURL);
    refuseCredentials(adapter, client);
  }
  const host = hostOf(client);
  const isOpenAI = host === openaiHost;
  return { client, provider: isOpenAI ? 'openai' : host, isOpenAI };
};
