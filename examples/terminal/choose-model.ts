import { existsSync } from 'node:fs';
import type { ChatModel } from 'agentchart';
import { openaiChat } from 'agentchart/openai';
import { UsageError } from './usage-error.ts';

export interface Chosen {
  model: ChatModel;
  /** One line for the screen: who answers. */
  about: string;
  close(): Promise<void>;
}

/** Which API is spoken: `openaiChat`, `openaiResponses`. */
type Adapter = (options: { model: string; apiKey: string; baseURL: string }) => ChatModel;

const names = ['MODEL', 'API_KEY', 'OPENAI_URL'] as const;

/** The provider that MODEL, API_KEY and OPENAI_URL name (environment or `.env`); without them the scripted model of this machine. */
export const chooseModel = async (adapter: Adapter = openaiChat): Promise<Chosen> => {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { MODEL: model = '', API_KEY: apiKey = '', OPENAI_URL: baseURL = '' } = process.env;
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length === names.length) return local(adapter);
  if (missing.length > 0) {
    throw new UsageError(
      `Set ${missing.join(' and ')} as well: MODEL, API_KEY and OPENAI_URL go together, in the environment or in .env.\n` +
        'A server without keys takes any word as API_KEY. Unset all three to use the scripted model.',
    );
  }
  if (!/^https?:/.test(baseURL) || !URL.canParse(baseURL)) {
    throw new UsageError(`Set OPENAI_URL to a base URL such as https://api.openai.com/v1, not "${baseURL}".`);
  }
  return {
    model: adapter({ model, apiKey, baseURL }),
    about: `Model: ${model} at ${new URL(baseURL).host}`,
    close: async () => undefined,
  };
};

const local = async (adapter: Adapter): Promise<Chosen> => {
  const { startLocalModel } = await import('../local-model/start-local-model.ts');
  const { close, ...options } = await startLocalModel();
  return {
    model: adapter(options),
    about: `Model: a scripted one on this machine (${options.baseURL}), for no MODEL, API_KEY and OPENAI_URL are set`,
    close,
  };
};
