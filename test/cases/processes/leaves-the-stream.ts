// Run by a test in a process of its own, without a handler for rejections: leaves a stream in one way, then must exit by itself.
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { openaiChat } from '../../../src/models/openai/openai-chat.ts';
import { callPiece, delta, sse, sseOpen, startReplayServer } from '../../support/replay-server.ts';
import { toolOf } from '../../support/tools.ts';

const way = process.argv[2] ?? '';
const isDuringTool = way === 'abort-during-tool';
const server = await startReplayServer([
  isDuringTool
    ? { body: sse(delta({ tool_calls: [callPiece(0, 'c1', 'slow', '{}')] }, 'tool_calls')) }
    : { body: sseOpen(delta({ content: 'one ' }), delta({ content: 'two ' })), pieceSize: 'event', then: 'stay-open' },
]);
const model = openaiChat({ model: 'scripted', baseURL: server.baseURL, apiKey: 'key' });
const aborting = new AbortController();
let isToolAborted = false;
const slow = toolOf('slow', (_, { signal }) => {
  const ended = new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      isToolAborted = true;
      reject(signal.reason as Error);
    });
  });
  aborting.abort();
  return ended;
});
const stream = createAgent({ model, tools: [slow] }).stream('go', { signal: aborting.signal });

const leave = async (): Promise<void> => {
  for await (const { type } of stream) {
    if (type !== 'text-delta') continue;
    if (way === 'break') break;
    if (way === 'throw') throw new Error('the reader broke');
    if (way === 'abort') aborting.abort();
  }
};
await leave().catch((error: unknown) => {
  if (way !== 'throw') throw error;
});
const wasCut = isDuringTool ? isToolAborted : await server.requests[0]?.closed;
await server.close();
console.log(JSON.stringify({ way, wasCut }));
