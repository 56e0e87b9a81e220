// Any model of the AI SDK runs the agent, and a page with its `useChat` shows the run and is asked for approvals.
// Runs without a key: the model is the AI SDK's mock, and its stream reader stands for the page.
import { createAgent, tool } from 'agentchart';
import { aiSdkModel, answerUIMessages } from 'agentchart/ai-sdk';
import { type UIMessage, isToolUIPart, readUIMessageStream, simulateReadableStream } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

type Piece = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer T> ? T : never;
const reply = (...pieces: Piece[]) => {
  const inputTokens = { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens, outputTokens: { total: 3, text: 3, reasoning: 0 } };
  const finish: Piece = { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage };
  return { stream: simulateReadableStream({ chunks: [...pieces, finish] }) };
};
const mock = new MockLanguageModelV4({
  doStream: [
    reply({ type: 'tool-call', toolCallId: 'p1', toolName: 'book', input: '{"city":"Bern"}' }),
    reply({ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'Your room in Bern is booked.' }),
  ],
});

const book = tool({
  name: 'book',
  description: 'Books a hotel room.',
  inputSchema: z.object({ city: z.string() }),
  needsApproval: true,
  execute: ({ city }) => `a room in ${city}`,
});
// In an application: aiSdkModel(anthropic('claude-sonnet-4-5')), or a model of any other provider.
const agent = createAgent({ model: aiSdkModel(mock), tools: [book] });

/** On the server: `createUIMessageStreamResponse({ stream: await answer({ id, messages }) })` is the reply to a POST of `useChat`. */
const answer = async ({ id, messages }: { id: string; messages: UIMessage[] }) =>
  answerUIMessages(await agent.open(id), messages);

/** The page: shows what comes, and answers what it is asked. */
const messages: UIMessage[] = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'A room in Bern, please.' }] }];
for (let isOpen = true; isOpen;) {
  isOpen = false;
  const last = messages.at(-1);
  const stream = await answer({ id: 'chat-1', messages });
  let message: UIMessage | undefined;
  const continued = last?.role === 'assistant' ? { message: last } : {};
  for await (const state of readUIMessageStream({ stream, ...continued })) message = state;
  if (message === undefined) break;
  messages[1] = message;
  for (const part of message.parts) {
    if (part.type === 'text') console.log(`Model: ${part.text}`);
    if (!isToolUIPart(part)) continue;
    console.log(`${part.type} ${JSON.stringify(part.input)}: ${part.state}`);
    if (part.state !== 'approval-requested') continue;
    isOpen = true;
    console.log('You:   yes');
    Object.assign(part, { state: 'approval-responded', approval: { ...part.approval, approved: true } });
  }
}
await agent.close();
