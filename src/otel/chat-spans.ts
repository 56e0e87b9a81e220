import { type Attributes, SpanKind, context } from '@opentelemetry/api';
import type { FinishReason, ModelCallOptions, ModelChunk, ModelReply, ModelRequest } from '../models/chat-model.ts';
import type { ModelMiddleware } from '../models/model-middleware.ts';
import { inputMessages, jsonText, outputMessages, systemInstructions } from './content.ts';
import type { SpanSetup } from './instruments.ts';
import { type Operation, beginOperation, iterateWithin } from './operation.ts';
import { placeInTurn, settleCalls, spendInTurn } from './turn-contexts.ts';
import { beginTurn } from './turn-spans.ts';
import { usageAttributes } from './usage-attributes.ts';

const reasons: Record<FinishReason, string> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
  other: 'other',
};

const defined = (attributes: Record<string, Attributes[string]>): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

const settingsOf = ({ settings = {}, output }: ModelRequest): Attributes =>
  defined({
    'gen_ai.output.type': output === undefined ? undefined : 'json',
    'gen_ai.request.temperature': settings.temperature,
    'gen_ai.request.top_p': settings.topP,
    'gen_ai.request.max_tokens': settings.maxOutputTokens,
    'gen_ai.request.seed': settings.seed,
    'gen_ai.request.stop_sequences': settings.stopSequences,
  });

const contentOf = ({ messages, instructions, tools = [] }: ModelRequest): Attributes =>
  defined({
    'gen_ai.input.messages': inputMessages(messages),
    'gen_ai.system_instructions': instructions === undefined ? undefined : systemInstructions(instructions),
    'gen_ai.tool.definitions':
      tools.length === 0
        ? undefined
        : jsonText(tools.map(({ name, description }) => ({ type: 'function', name, description }))),
  });

/** Who does not hear of the stop is waited for no longer, and his span must end all the same. Gives what ends this. */
const endOnStop = (operation: Operation, { signal }: ModelCallOptions): (() => void) => {
  const stop = (): void => operation.fail(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  return () => signal.removeEventListener('abort', stop);
};

/** `chat` around every request to a model, whole or streamed, with its tokens and its duration. */
export const chatSpans = (setup: SpanSetup): ModelMiddleware => {
  const { agent, telemetry, instruments } = setup;
  const { recordContent = false, provider = 'unknown' } = telemetry;
  return (next) => {
    const about = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': next.provider ?? provider,
      'gen_ai.request.model': next.name,
    };
    const begin = (request: ModelRequest, { sessionId, metadata }: ModelCallOptions): Operation => {
      settleCalls({ agent, sessionId, metadata });
      return beginOperation(instruments, {
        name: `chat ${next.name}`,
        kind: SpanKind.CLIENT,
        attributes: {
          ...about,
          'gen_ai.agent.name': agent,
          ...(sessionId === undefined ? {} : { 'gen_ai.conversation.id': sessionId }),
          ...settingsOf(request),
          ...(recordContent ? contentOf(request) : {}),
        },
        metric: 'gen_ai.client.operation.duration',
        metricAttributes: [...Object.keys(about), 'gen_ai.response.model'],
        ...placeInTurn({ agent, sessionId, metadata }, (parent) => beginTurn(setup, { sessionId, parent })),
      });
    };
    const succeed = (
      operation: Operation,
      { message, finishReason, usage, model }: ModelReply,
      { sessionId, metadata }: ModelCallOptions,
    ): void => {
      spendInTurn({ agent, sessionId, metadata }, usage);
      const answered = defined({ 'gen_ai.response.model': model });
      const reason = reasons[finishReason];
      operation.succeed({
        ...answered,
        'gen_ai.response.finish_reasons': [reason],
        ...usageAttributes(usage),
        ...(recordContent ? { 'gen_ai.output.messages': outputMessages(message, reason) } : {}),
      });
      const counts = { input: usage?.inputTokens, output: usage?.outputTokens };
      for (const [type, count] of Object.entries(counts)) {
        if (count !== undefined) instruments.tokens(count, { ...about, ...answered, 'gen_ai.token.type': type });
      }
    };
    const { stream } = next;
    const streamWithin = async function* (
      request: ModelRequest,
      options: ModelCallOptions,
      ask: NonNullable<typeof stream>,
    ): AsyncGenerator<ModelChunk, void, undefined> {
      const operation = begin(request, options);
      const ending = endOnStop(operation, options);
      try {
        const chunks = context.with(operation.context, () => ask.call(next, request, options));
        for await (const chunk of iterateWithin(operation.context, chunks)) {
          if (chunk.type === 'finish') succeed(operation, chunk.reply, options);
          yield chunk;
        }
        operation.fail(new Error('the stream ended before its reply was whole'));
      } catch (error) {
        operation.fail(error);
        throw error;
      } finally {
        ending();
        operation.fail(new DOMException('the reader left', 'AbortError'));
      }
    };
    return {
      ...next,
      generate: async (request, options) => {
        const operation = begin(request, options);
        const ending = endOnStop(operation, options);
        try {
          const reply = await context.with(operation.context, () => next.generate(request, options));
          succeed(operation, reply, options);
          return reply;
        } catch (error) {
          operation.fail(error);
          throw error;
        } finally {
          ending();
        }
      },
      ...(stream === undefined ? {} : { stream: (request, options) => streamWithin(request, options, stream) }),
    };
  };
};
