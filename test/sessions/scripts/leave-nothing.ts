// Prints how many bytes a run that is over leaves behind where only young objects are collected.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { createAgent, memoryStore, tool } from '../../../src/index.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;
const store = memoryStore();
const agent = createAgent({
  store,
  model: {
    name: 'scripted',
    generate: async ({ messages }) => {
      const isOver = messages.at(-1)?.role === 'tool';
      const calls = [1, 2, 3].map((id) => ({
        type: 'tool-call' as const,
        toolCallId: `${id}`,
        toolName: 'look',
        input: { id },
      }));
      return isOver
        ? { message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }, finishReason: 'stop' }
        : { message: { role: 'assistant', content: calls }, finishReason: 'tool-calls' };
    },
  },
  tools: [tool({ name: 'look', inputSchema: z.object({ id: z.number() }), execute: ({ id }) => `entry ${id}` })],
});
const run = async (times: number): Promise<void> => {
  for (let left = times; left > 0; left -= 1) {
    const { sessionId } = await agent.run('Look.');
    await store.delete(sessionId);
  }
};
const used = (): number => {
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  return process.memoryUsage().heapUsed;
};

await run(100);
gc({ type: 'major' });
const runs = 300;
const before = used();
await run(runs);
console.log(JSON.stringify({ left: Math.round((used() - before) / runs) }));
