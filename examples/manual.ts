// The loop, by hand: the agent hands every call to this program. `npx node --conditions=agentchart-source examples/manual.ts`
import { type RunResult, type ToolMessage, answerCall, callsOf, createAgent, tool } from 'agentchart';
import { z } from 'zod';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

const brewTime = tool({
  name: 'BrewTime',
  description: 'How long a drink takes',
  inputSchema: z.object({ drink: z.enum(['tea', 'coffee']) }),
  execute: ({ drink }) => ({ drink, minutes: drink === 'tea' ? 3 : 4 }),
});
const tools = [brewTime];
const longest = 5;

/** The results of all calls of a turn, in the order of the calls. */
const answerAll = async ({ messages, sessionId }: RunResult): Promise<ToolMessage> => {
  const reply = messages.at(-1);
  const calls = reply?.role === 'assistant' ? callsOf(reply) : [];
  for (const { toolName, input } of calls) console.log(`→ ${toolName} ${escapeText(JSON.stringify(input))}`);
  const content = await Promise.all(calls.map((call) => answerCall(call, { tools, messages, sessionId })));
  return { role: 'tool', content };
};

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(`${about}\n`);
  try {
    const agent = createAgent({ model, tools, autopilot: false });
    const session = await agent.open();
    let result = await agent.run('How long do tea and coffee take?', { session });
    for (let round = 0; result.outcome.type === 'tool-calls' && round < longest; round += 1) {
      result = await agent.run(await answerAll(result), { session });
    }
    console.log(escapeText(result.text));
    return result.outcome.type === 'answered' ? 0 : 1;
  } finally {
    await close();
  }
});
