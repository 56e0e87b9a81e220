// The events of a turn: read at once, late, slowly, or not to the end. `npx node --conditions=agentchart-source examples/stream.ts`
import { type ModelMiddleware, createAgent } from 'agentchart';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

/** How much was read from the model. */
let pieces = 0;
const counted: ModelMiddleware = (next) => ({
  ...next,
  async *stream(request, options) {
    for await (const chunk of next.stream?.(request, options) ?? []) {
      pieces += 1;
      yield chunk;
    }
  },
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(about);
  const agent = createAgent({
    model,
    modelMiddleware: [counted],
    instructions: 'Numbers alone, with blanks between them.',
  });
  try {
    console.log('\nAs it comes, and for one more reader who comes late:');
    const session = await agent.open();
    const stream = agent.stream('Count to 20.', { session });
    let late: Promise<string[]> | undefined;
    const readLate = async (): Promise<string[]> => {
      const told: string[] = [];
      // What he has missed comes first, its text in one piece.
      for await (const event of session.stream()) if (event.type === 'text-delta') told.push(event.text);
      return told;
    };
    for await (const event of stream) {
      if (event.type !== 'text-delta') continue;
      process.stdout.write(escapeText(event.text));
      if (event.text.includes('9')) late ??= readLate();
    }
    console.log(`\n  late: ${escapeText((await late)?.join('|') ?? '')}`);

    console.log('\nSlowly: a model that is ahead of its reader waits for him.');
    pieces = 0;
    const slow = agent.stream('Count to 1000.');
    let read = '';
    for await (const event of slow) {
      if (event.type !== 'text-delta') continue;
      if (read === '') {
        await pause(300);
        console.log(`  after a pause: ${pieces} pieces were taken from the model`);
      }
      read += event.text;
    }
    console.log(`  in the end: ${pieces} pieces, and nothing is lost: ${read === (await slow.result).text}`);

    console.log('\nNot to the end: who leaves stops the turn, or lets it go on.');
    for (const onLeave of ['stop', 'detach'] as const) {
      const left = agent.stream('Count to 30.', { onLeave });
      for await (const event of left) if (event.type === 'text-delta') break;
      const { outcome, text } = await left.result;
      console.log(`  ${onLeave}: ${outcome.type} ${escapeText(text)}`.trimEnd());
    }
    return 0;
  } finally {
    await close();
  }
});
