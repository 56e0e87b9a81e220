// The classic: one tool, one question. `npx node --conditions=agentchart-source examples/weather.ts`, with `--inspect` on a page as well.
import { createAgent, tool } from 'agentchart';
import { z } from 'zod';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';
import { showInspector } from './terminal/show-inspector.ts';

const question = 'What should I wear in Suzhou today?';

const getWeather = tool({
  name: 'GetWeather',
  description: 'The weather of a place, now',
  inputSchema: z.object({ location: z.string() }),
  annotations: { readOnly: true },
  // A real one would ask a weather service here.
  execute: ({ location }) => ({
    location,
    condition: 'light rain',
    celsius: 16,
    humidity: 82,
    wind: 'north-east, 3 Beaufort',
  }),
});

await runMain(
  async () => {
    const { model, about, close } = await chooseModel();
    console.log(`${about}\n\nYou:   ${question}\n`);
    const agent = createAgent({ model, tools: [getWeather] });
    const shown = process.argv.includes('--inspect') ? await showInspector({ agents: [agent] }) : undefined;
    try {
      const seen = shown?.inspect === undefined ? {} : { inspect: shown.inspect };
      const { text, iterations } = await agent.run(question, seen);
      console.log(`Agent: ${escapeText(text)}\n\n(rounds of tool calls: ${iterations})`);
      await shown?.stay();
      return 0;
    } finally {
      await shown?.close();
      await close();
    }
  },
  { flags: ['--inspect'] },
);
