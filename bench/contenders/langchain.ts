import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type AIMessageFields } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { type BaseCheckpointSaver, Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';
import type { Contender } from '../harness/contender.ts';
import { type Task, question, toolDescription, toolName } from '../harness/task.ts';

const inputSchema = z.object({ id: z.number().int(), note: z.string() });

class Scripted extends BaseChatModel {
  readonly task: Task;
  readonly deltas: readonly string[];

  constructor(task: Task, deltas: readonly string[] = []) {
    super({});
    this.task = task;
    this.deltas = deltas;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  async _generate() {
    const { text = '', calls = [] } = this.task.replies[this.task.next()] ?? {};
    const message = new AIMessage({
      content: text,
      tool_calls: calls.map(({ id, input }) => ({
        id,
        name: toolName,
        args: { ...input },
        type: 'tool_call' as const,
      })),
      usage_metadata: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    } as AIMessageFields);
    return { generations: [{ text, message }] };
  }

  override async *_streamResponseChunks(
    _messages: unknown,
    _options: unknown,
    manager?: { handleLLMNewToken(text: string, ...rest: unknown[]): Promise<void> },
  ) {
    this.task.next();
    for (const text of this.deltas) {
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text, id: 'answer' }) });
      yield chunk;
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

const agentOf = (
  task: Task,
  {
    saver,
    deltas,
    isGated = false,
  }: { saver?: BaseCheckpointSaver; deltas?: readonly string[]; isGated?: boolean } = {},
) =>
  createAgent({
    model: new Scripted(task, deltas),
    tools: [
      tool((input: z.infer<typeof inputSchema>) => task.execute(input), {
        name: toolName,
        description: toolDescription,
        schema: inputSchema,
      }),
    ],
    ...(isGated
      ? { middleware: [humanInTheLoopMiddleware({ interruptOn: { [toolName]: true } } as never) as never] }
      : {}),
    ...(saver === undefined ? {} : { checkpointer: saver }),
  });

const limits = { recursionLimit: 100_000, maxConcurrency: 64 };
const asked = { messages: [{ role: 'user', content: question }] };

const textOf = (state: { messages: { content: unknown }[] }): string => String(state.messages.at(-1)?.content);

let threads = 0;

/** Without a saver, or with one that keeps every step. */
export const langchain = (openSaver?: () => BaseCheckpointSaver): Contender => ({
  packages: ['langchain', '@langchain/core', '@langchain/langgraph'],
  prepare: (task) => {
    const saver = openSaver?.();
    const agent = agentOf(task, saver === undefined ? {} : { saver });
    return async () => {
      task.begin();
      threads += 1;
      const thread_id = `thread-${threads}`;
      task.check(textOf(await agent.invoke(asked, { ...limits, configurable: { thread_id } })));
      await saver?.deleteThread(thread_id);
    };
  },
  stream: (task, deltas) => {
    const saver = openSaver?.();
    const agent = agentOf(task, { deltas, ...(saver === undefined ? {} : { saver }) });
    return async () => {
      task.begin();
      threads += 1;
      const thread_id = `thread-${threads}`;
      const stream = await agent.stream(asked, { ...limits, streamMode: 'messages', configurable: { thread_id } });
      let count = 0;
      let text = '';
      for await (const [chunk] of stream) {
        if (chunk.content === '') continue;
        text += chunk.text;
        count += 1;
      }
      if (count !== deltas.length) throw new Error(`${count} deltas, not ${deltas.length}`);
      task.check(text);
      await saver?.deleteThread(thread_id);
    };
  },
  ...(openSaver === undefined
    ? {}
    : {
        pause: (task: Task) => {
          const saver = openSaver();
          const agent = agentOf(task, { saver, isGated: true });
          return async () => {
            task.begin();
            threads += 1;
            const thread_id = `thread-${threads}`;
            const state = await agent.invoke(asked, { ...limits, configurable: { thread_id } });
            if (!('__interrupt__' in state)) throw new Error('nobody is asked');
            // The saver holds it.
            return { saver, thread_id };
          };
        },
      }),
});

export const approve = new Command({ resume: { decisions: [{ type: 'approve' }] } });

export const contender = langchain();
export const inMemory = langchain(() => new MemorySaver());
