import { type Task, toolName } from '../harness/task.ts';

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

const wholeOf = ({ text, calls = [] }: Task['replies'][number]) => ({
  content: [
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, input }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName,
      input: JSON.stringify(input),
    })),
  ],
  finishReason: { unified: calls.length > 0 ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
  usage,
  warnings: [],
});

const streamOf = (parts: readonly unknown[]) => {
  let at = 0;
  return new ReadableStream<never>({
    pull: (controller) => {
      if (at < parts.length) controller.enqueue(parts[at] as never);
      else controller.close();
      at += 1;
    },
  });
};

/** The scripted model in the form that the AI SDK gives to providers; two kits take it. */
export const providerModel = (task: Task, deltas: readonly string[] = []) => {
  const replies = task.replies.map(wholeOf);
  const next = () => replies[task.next()] ?? wholeOf({});
  return {
    specificationVersion: 'v4' as const,
    provider: 'script',
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: async () => next(),
    doStream: async () => {
      const { content, finishReason } = next();
      return {
        stream: streamOf([
          { type: 'stream-start', warnings: [] },
          ...content.flatMap((part): unknown[] =>
            part.type === 'text'
              ? [
                  { type: 'text-start', id: '0' },
                  ...(deltas.length === 0 ? [part.text] : deltas).map((delta) => ({
                    type: 'text-delta',
                    id: '0',
                    delta,
                  })),
                  { type: 'text-end', id: '0' },
                ]
              : [
                  { type: 'tool-input-start', id: part.toolCallId, toolName },
                  { type: 'tool-input-delta', id: part.toolCallId, delta: part.input },
                  { type: 'tool-input-end', id: part.toolCallId },
                  part,
                ],
          ),
          { type: 'finish', finishReason, usage },
        ]),
      };
    },
  };
};
