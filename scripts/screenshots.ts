// Draws the inspector's main views into docs: an agent runs on this machine, and a Chromium looks at it. CHROMIUM names one elsewhere.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createAgent, tool } from '../src/index.ts';
import { startInspector } from '../src/inspector/index.ts';
import { scriptedModel } from '../src/testing/scripted-model.ts';
import { chromiumPath, startBrowser } from '../test/support/browser.ts';
import { press } from '../test/inspector/page-actions.ts';
import { buildPage } from './build-page.ts';

const root = join(import.meta.dirname, '..');
if (chromiumPath === undefined) {
  console.error('There is no Chromium here: set CHROMIUM to its path.');
  process.exit(1);
}

const weather: Record<string, object> = {
  Suzhou: { condition: 'light rain', celsius: 16, rainChance: 80 },
  Hangzhou: { condition: 'partly cloudy', celsius: 19, rainChance: 10 },
};

const getWeather = tool({
  name: 'GetWeather',
  description: 'The weather of a city, today',
  inputSchema: z.object({ location: z.string() }),
  retry: { attempts: 3, initialDelay: 120 },
  execute: async ({ location }, { attempt }) => {
    await sleep(location === 'Suzhou' ? 260 : 180);
    if (location === 'Suzhou' && attempt === 1) throw new Error('the weather service is busy');
    return { location, ...weather[location] };
  },
});
const bookTrain = tool({
  name: 'BookTrain',
  description: 'Books train tickets and pays for them',
  inputSchema: z.object({ from: z.string(), to: z.string(), seats: z.number().int().min(1).max(9) }),
  needsApproval: true,
  execute: async ({ to, seats }) => {
    await sleep(200);
    return { train: 'G7349', to, seats, price: 73 * seats };
  },
});
const findHotel = tool({
  name: 'FindHotel',
  description: 'Rooms for one night',
  inputSchema: z.object({ district: z.string() }),
  execute: async ({ district }, { callIndex }) => {
    await sleep(60 + ((callIndex * 37) % 90));
    return { district, rooms: callIndex % 5 };
  },
});

const tools = [getWeather, bookTrain, findHotel];
const limits = { maxIterations: 8, maxTokens: 20_000, deadline: 60_000 };
const districts = ['West Lake', 'Xihu', 'Gongshu', 'Binjiang', 'Yuhang', 'Shangcheng', 'Xiaoshan', 'Linping'];

const model = scriptedModel([
  {
    text: 'I look at both cities at once.',
    toolCalls: [
      { name: 'GetWeather', input: { location: 'Suzhou' } },
      { name: 'GetWeather', input: { location: 'Hangzhou' } },
    ],
    usage: { inputTokens: 812, outputTokens: 64 },
  },
  {
    text: 'Hangzhou is drier. I look for a room, and book a train.',
    toolCalls: districts.map((district) => ({ name: 'FindHotel', input: { district } })),
    usage: { inputTokens: 1_210, outputTokens: 148 },
  },
  {
    text: 'There are rooms. Now the train.',
    toolCalls: [{ name: 'BookTrain', input: { from: 'Shanghai', to: 'Hangzhou', seats: 1 } }],
    usage: { inputTokens: 1_980, outputTokens: 48 },
  },
  {
    text: 'Hangzhou stays dry. Your train G7349 is booked for 146 yuan; there are rooms at West Lake. Have a good day!',
    usage: { inputTokens: 2_104, outputTokens: 71 },
  },
]);

const made = createAgent({ name: 'trip', model, tools, limits, concurrency: 4 });
await buildPage(join(root, 'dist', 'inspector', 'page'));
const inspector = await startInspector({ agents: [{ ...made, tools, limits }] });
const browser = await startBrowser();
// Nothing is half on its way in a picture.
const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
const shoot = async (name: string): Promise<void> => {
  await sleep(600);
  await page.screenshot({ path: join(root, 'docs', `inspector-${name}.png`) });
};

try {
  await page.goto(inspector.url);
  const older = await made.open('monday', { inspect: inspector.inspect });
  const session = await made.open('shanghai-hangzhou', { inspect: inspector.inspect });
  await session.send(
    'I am in Shanghai. Compare the weather in Suzhou and Hangzhou, then book me a train to the drier one.',
  );
  await session.settled();
  await page.waitForSelector('[data-approve]');
  await shoot('approval');

  for (let step = 0; step < 12; step += 1) await page.keyboard.press('ArrowLeft');
  await press(page, '.tabs', 'Round');
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot('past-dark');

  await page.emulateMedia({ colorScheme: 'light' });
  await page.keyboard.press('l');
  await page.waitForSelector('[data-approve]:not(:disabled)');
  await press(page, '.approval', 'Edit…');
  await page.waitForSelector('.approval textarea');
  await press(page, '.tabs', 'State');
  await page.$eval('[data-state="agent.awaiting-approval"]', (state) =>
    state.dispatchEvent(new MouseEvent('click', { bubbles: true })),
  );
  const written = await page.inputValue('.approval textarea');
  await page.fill('.approval textarea', written.replace('"seats": 1', '"seats": 12'));
  await shoot('edit');
  await older[Symbol.asyncDispose]();
} finally {
  await browser.close();
  await inspector.close();
  await made.close();
}
