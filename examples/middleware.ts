// Around turns, model calls and tool runs. `npx node --conditions=agentchart-source examples/middleware.ts`
import { type AgentMiddleware, type ToolMiddleware, createAgent, tool } from 'agentchart';
import { type LogEntry, cache, logging, rateLimit } from 'agentchart/middleware';
import { z } from 'zod';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

const getWeather = tool({
  name: 'GetWeather',
  description: 'The weather of a place, now',
  inputSchema: z.object({ location: z.string() }),
  annotations: { readOnly: true },
  execute: ({ location }) => ({ location, condition: 'light rain', celsius: 16 }),
});

/** Answers itself: no model is asked, and the session hears nothing of it. */
const guard: AgentMiddleware = (next) => async (turn) =>
  /password/i.test(JSON.stringify(turn.messages)) ? turn.answer('I do not talk about passwords.') : next(turn);

/** Changes what a tool gets. */
const simplify: ToolMiddleware = (next) => (run) => {
  const { location } = run.input as { location: string };
  return next({ ...run, input: { location: location.replace(/市$/, '') } });
};

const print = ({ event, tool: name, model, outcome, usage }: LogEntry): void => {
  const what = [name ?? model, outcome].filter((each) => each !== undefined).join(': ');
  const tokens = usage?.inputTokens === 0 ? ' (nothing spent: it was kept)' : '';
  console.log(`  ${event.padEnd(10)} ${escapeText(what)}${tokens}`);
};

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(about);
  const log = logging({ to: print });
  const agent = createAgent({
    model,
    tools: [getWeather],
    // The first of a list is the outermost: what the guard answers is logged as well, and what was kept waits for nobody.
    agentMiddleware: [log.turn, guard],
    modelMiddleware: [log.model, cache(), rateLimit({ requests: 20, concurrency: 2 })],
    toolMiddleware: [log.tool, simplify],
  });
  try {
    const weather = 'What should I wear in Suzhou today?';
    for (const question of [weather, weather, 'What is the password?']) {
      console.log(`\n${question}`);
      const { text } = await agent.run(question);
      console.log(escapeText(text));
    }
    return 0;
  } finally {
    await close();
  }
});
