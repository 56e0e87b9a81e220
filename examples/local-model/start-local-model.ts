import { type ChatCompletionRequest, type FixtureResponse, LLMock } from '@copilotkit/aimock';
import { type Reply, type Script, readConversation } from './conversation.ts';
import { contextScript } from './context-script.ts';
import { countScript } from './count-script.ts';
import { expenseScript } from './expense-script.ts';
import { tripScript } from './trip-script.ts';
import { weatherScript } from './weather-script.ts';

export interface LocalModel {
  model: string;
  apiKey: string;
  baseURL: string;
  close(): Promise<void>;
}

const scripts: Script[] = [weatherScript, tripScript, expenseScript, contextScript, countScript];

const unknown: Reply = {
  text: 'I am a script without a mind and know only the questions of the examples. Set MODEL, API_KEY and OPENAI_URL to ask a real model.',
};

const answer = ({ text, thought, calls }: Reply): FixtureResponse => {
  if (calls === undefined) return { content: text ?? '', ...(thought === undefined ? {} : { reasoning: thought }) };
  const toolCalls = calls.map(({ name, input }) => ({ name, arguments: JSON.stringify(input) }));
  return text === undefined ? { toolCalls } : { content: text, toolCalls };
};

/** A server on 127.0.0.1 that speaks OpenAI's Chat Completions and Responses, and streams at reading speed; what it says is scripted. */
export const startLocalModel = async (): Promise<LocalModel> => {
  const server = new LLMock({ host: '127.0.0.1', port: 0, latency: 30, chunkSize: 8 });
  const response = (request: ChatCompletionRequest): FixtureResponse => {
    const conversation = readConversation(request);
    const replies = scripts.flatMap((script) => script(conversation) ?? []);
    return answer(replies[0] ?? unknown);
  };
  // What is long comes as fast as it is read.
  server.addFixture({
    match: { endpoint: 'chat', userMessage: /^Count to \d{4}/ },
    response,
    latency: 0,
    chunkSize: 4,
  });
  server.addFixture({ match: { endpoint: 'chat' }, response });
  await server.start();
  return { model: 'scripted', apiKey: 'none', baseURL: `${server.url}/v1`, close: () => server.stop() };
};
