// The classic: one tool, one question. `npx node --conditions=agentchart-source examples/weather.ts`, with `--inspect` on a page as well.
import { createAgent, tool } from 'agentchart';
import { z } from 'zod';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';
import { showInspector } from './terminal/show-inspector.ts';

const getWeather = tool({
  name: 'GetWeather',
  description: 'The weather of a place, now',
  inputSchema: z.object({ location: z.string() }),
  annotations: { readOnly: true },
  // A real one would ask a weather service here.
  execute: ({ location }) => ({ location, condition: '小雨', celsius: 16, humidity: 82, wind: '东北风 3 级' }),
});

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(`${about}\n`);
  const agent = createAgent({ model, tools: [getWeather] });
  const shown = process.argv.includes('--inspect') ? await showInspector({ agents: [agent] }) : undefined;
  try {
    const seen = shown?.inspect === undefined ? {} : { inspect: shown.inspect };
    const { text, iterations } = await agent.run('根据当前苏州的天气给我一些穿衣建议。', seen);
    console.log(`${escapeText(text)}\n\n(rounds of tool calls: ${iterations})`);
    await shown?.stay();
    return 0;
  } finally {
    await shown?.close();
    await close();
  }
});
