import type { ChatModel } from '../../models/chat-model.ts';
import { from } from '../../models/model-error.ts';
import { callOptionsOf } from './call-options.ts';
import { ofThisVersion } from './of-this-version.ts';
import { type AiSdkModelOptions, type ModelSetup, modelSetup } from './options.ts';
import { readFailure, requestFailure } from './provider-error.ts';
import type { AnyLanguageModel, StreamPart, Warnings } from './provider-types.ts';
import { replyOf } from './reply.ts';
import { createStreamAssembly } from './stream-assembly.ts';
import { readUntilAborted, untilAborted } from './until-aborted.ts';

/** The outcome of a request; what it failed with is the caller's own reason where the caller stopped it. */
const asked = async <T>(ask: () => PromiseLike<T>, signal: AbortSignal): Promise<T> => {
  signal.throwIfAborted();
  try {
    return await untilAborted(ask(), signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : requestFailure(error);
  }
};

/** Not every provider has the list that its type says. */
const tellWarnings = ({ warnings = [] }: { warnings?: Warnings }, { onWarnings }: ModelSetup): void => {
  if (warnings.length > 0) onWarnings(warnings);
};

async function* readParts(
  stream: ReadableStream<StreamPart>,
  signal: AbortSignal,
  setup: ModelSetup,
): AsyncGenerator<StreamPart> {
  try {
    for await (const part of readUntilAborted(stream, signal)) {
      if (part.type === 'stream-start') tellWarnings(part, setup);
      yield part;
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : readFailure(error);
  }
}

/**
 * Any language model that the AI SDK 7 takes as a model of ours; one of an earlier version (v2, v3) goes through `ai`. It never tries again by itself: errors come as `ModelError` that says whether they
 * may pass. A streamed reply counts only when it is whole. URLs of files go to the provider as they are; nothing is downloaded.
 *
 * @example aiSdkModel(anthropic('claude-sonnet-4-5'))
 */
export const aiSdkModel = (languageModel: AnyLanguageModel, options: AiSdkModelOptions = {}): ChatModel => {
  const setup = modelSetup(languageModel, options);
  const modelNow = ofThisVersion(languageModel);
  return {
    name: setup.name,
    // Its own names say more than the provider: `openai.responses`.
    provider: languageModel.provider.split('.')[0] ?? languageModel.provider,
    canOutput: setup.canOutput,
    needsTools: setup.needsTools,
    generate: async (request, { signal }) => {
      try {
        const model = await modelNow();
        const given = await asked(() => model.doGenerate(callOptionsOf(request, setup, signal)), signal);
        tellWarnings(given, setup);
        return replyOf({
          content: given.content,
          finishReason: given.finishReason,
          usage: given.usage,
          model: given.response?.modelId,
          outputText: request.output === undefined ? undefined : given.structuredOutputText,
        });
      } catch (error) {
        throw from(error, languageModel.provider);
      }
    },
    async *stream(request, { signal }) {
      try {
        const model = await modelNow();
        const { stream } = await asked(() => model.doStream(callOptionsOf(request, setup, signal)), signal);
        const assembly = createStreamAssembly();
        for await (const part of readParts(stream, signal, setup)) yield* assembly.add(part);
        yield { type: 'finish', reply: assembly.reply() };
      } catch (error) {
        throw from(error, languageModel.provider);
      }
    },
  };
};
