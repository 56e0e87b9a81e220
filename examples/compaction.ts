// A long conversation, of which a summary is sent. `npx node --conditions=agentchart-source examples/compaction.ts`
import { createAgent } from 'agentchart';
import { clearToolResults, compaction, summarize } from 'agentchart/compaction';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(`${about}\n`);
  try {
    const agent = createAgent({
      model,
      compaction: compaction({
        // Small numbers, to see something; a real one says { tokens: 100_000 }.
        when: { messages: 6 },
        strategies: [clearToolResults({ keep: { rounds: 3 } }), summarize({ keep: { messages: 2 } })],
      }),
      modelMiddleware: [
        (next) => ({
          ...next,
          generate: (request, options) => {
            console.log(`  sent: ${request.messages.map(({ role }) => role).join(', ')}`);
            return next.generate(request, options);
          },
        }),
      ],
    });
    const session = await agent.open();
    const events = session.events();
    const facts = ['drink is green tea', 'city is Suzhou', 'colour is blue'].map((fact) => `My favourite ${fact}.`);
    for (const question of [...facts, 'What shall I drink?']) {
      console.log(question);
      const { text } = await agent.run(question, { session });
      console.log(`  ${escapeText(text)}`);
    }
    console.log(`\nstored: ${session.messages.length} messages`);
    await session[Symbol.asyncDispose]();
    for await (const event of events) {
      if (event.type === 'compaction')
        console.log(`${event.by.join(', ')}: ${event.before} messages became ${event.after}`);
    }
    return 0;
  } finally {
    await close();
  }
});
