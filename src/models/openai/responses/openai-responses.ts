import { hostOf } from '../client-options.ts';
import type { JsonObject } from '../../../messages/json.ts';
import type { ChatModel } from '../../chat-model.ts';
import { requestError } from '../provider-error.ts';
import { restoreOptionals } from '../strict-reply.ts';
import { modelOn, type Wire } from '../wire-model.ts';
import { keptHistory, markReply } from './kept-history.ts';
import { responsesSetup, type OpenAIResponsesOptions, type ResponsesSetup } from './options.ts';
import { requestBody } from './request-body.ts';
import { createResponseAssembly } from './response-assembly.ts';

/** The server has no longer, or never had, the reply that a request goes on from. */
const isForgotten = (thrown: unknown): boolean => {
  const { providerCode, message } = requestError(thrown);
  return providerCode === 'previous_response_not_found' || /previous.?response.*not found/i.test(message);
};

const responsesWire = ({ client, dialect, continues }: ResponsesSetup): Wire => ({
  key: () => client.apiKey,
  host: hostOf(client),
  send: async (request, { signal, stream }) => {
    const post = (body: JsonObject): Promise<Response> =>
      client
        .post('/responses', { body: stream ? { ...body, stream } : body, signal, stream, maxRetries: 0 })
        .asResponse();
    const kept = continues ? keptHistory(request.messages, dialect.provider) : undefined;
    if (kept === undefined) return post(requestBody(request, dialect));
    try {
      return await post(requestBody(request, dialect, kept));
    } catch (error) {
      if (signal.aborted || !isForgotten(error)) throw error;
      // Another request, not the same again: whole, and with nothing in it that the server would have to look up.
      return post(requestBody(request, { ...dialect, isKept: false }));
    }
  },
  assemble: () => createResponseAssembly(dialect.provider),
  finish: (reply, request) => {
    const restored = dialect.strict ? restoreOptionals(reply, request) : reply;
    return continues ? markReply(restored, request, dialect.provider) : restored;
  },
});

/**
 * A model behind OpenAI's Responses API, or any server that speaks it. It never tries again by itself: errors come as `ModelError`
 * that says whether they may pass. A streamed reply counts only when it is whole.
 *
 * Thoughts, ids, phases and items that we do not know stay with their message and go back to the provider that sent them, in their
 * order. What the provider ran itself is shown as a call with its result, and is not run again. Calls of tools that the
 * application would have to run in the provider's own way (computer, local shell, patches, MCP approvals) are kept, not answered.
 * `settings.seed` and `settings.stopSequences` do not exist in this API and are not sent.
 *
 * @example openaiResponses({ model: 'gpt-5-mini' })
 * @example openaiResponses({ model: 'gpt-5', providerTools: [{ type: 'web_search' }] })
 */
export const openaiResponses = (options: OpenAIResponsesOptions): ChatModel => {
  const setup = responsesSetup(options);
  const { canOutput, needsTools } = setup;
  return modelOn(responsesWire(setup), { name: options.model, provider: 'openai', canOutput, needsTools });
};
