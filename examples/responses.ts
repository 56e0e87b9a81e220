// OpenAI's Responses API. `npx node --conditions=agentchart-source examples/responses.ts`
import { createAgent } from 'agentchart';
import { openaiResponses } from 'agentchart/openai';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

await runMain(async () => {
  // Tools that the provider runs itself would stand here: providerTools: [{ type: 'web_search' }].
  const { model, about, close } = await chooseModel((server) => openaiResponses({ ...server, store: false }));
  console.log(about);
  const agent = createAgent({ model });
  try {
    const session = await agent.open();
    for (const question of ['The sum of 1 to 100?', 'And twice that?']) {
      console.log(`\n${question}`);
      let last = '';
      for await (const event of agent.stream(question, { session })) {
        if (event.type !== 'reasoning-delta' && event.type !== 'text-delta') continue;
        const said = event.type === 'text-delta' ? 'says' : 'thinks';
        process.stdout.write(
          `${last === said ? '' : `${last === '' ? '' : '\n'}  ${said}: `}${escapeText(event.text)}`,
        );
        last = said;
      }
      console.log();
    }
    // Thoughts stay with their message, and go back to the server that sent them with every request, so that it need not keep anything.
    const kinds = session.messages.map(({ role, content }) =>
      typeof content === 'string' ? role : `${role} (${content.map(({ type }) => type).join(', ')})`,
    );
    console.log(`\nkept: ${kinds.join('; ')}`);
    return 0;
  } finally {
    await close();
  }
});
