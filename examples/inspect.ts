// The live inspector: open the address that it prints, and decide there. `npx node --conditions=agentchart-source examples/inspect.ts`
import { waitFor } from 'xstate';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';
import { showInspector } from './terminal/show-inspector.ts';
import { createTripAgent, tripQuestion } from './trip.ts';

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  const agent = createTripAgent(model);
  console.log(about);
  const inspector = await showInspector({ agents: [agent] });
  try {
    const { sessionId, outcome } = await agent.run(tripQuestion, {
      ...(inspector.inspect && { inspect: inspector.inspect }),
    });
    if (outcome.type === 'pending') console.log('It waits for you, on that page.\n');
    const session = await agent.open(sessionId);
    await waitFor(session.actor, (snapshot) => snapshot.hasTag('settled'));
    const result = await session.settled();
    console.log(escapeText(result.text));
    await inspector.stay();
    return 0;
  } finally {
    await inspector.close();
    await close();
  }
});
