// A context provider that remembers a person over sessions. `npx node --conditions=agentchart-source examples/memory.ts`
import { type ContextProvider, createAgent, textOf } from 'agentchart';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

interface Person {
  name: string;
}

/** A real one would keep its facts in a database, and let a model find them. */
const createMemory = (): ContextProvider => {
  const facts = new Map<string, string[]>();
  return {
    name: 'memory',
    // Before a turn: what is known of whoever asks. It holds for this turn and is not stored in the session.
    beforeTurn: ({ context }) => {
      const known = facts.get((context as Person).name) ?? [];
      return known.length === 0 ? undefined : { instructions: `What you know of the user:\n${known.join('\n')}` };
    },
    // After it, whatever became of it: what there is to learn.
    afterTurn: ({ context, result }) => {
      const { name } = context as Person;
      const said = result.messages.filter(({ role }) => role === 'user').map(textOf);
      const learned = said.filter((text) => text.startsWith('My favourite'));
      facts.set(name, [...(facts.get(name) ?? []), ...learned]);
    },
  };
};

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(`${about}\n`);
  try {
    const agent = createAgent({ model, contextProviders: [createMemory()] });
    // Each `run` without a session is a conversation of its own.
    const ask = async (name: string, question: string): Promise<void> => {
      const { text, messages } = await agent.run(question, { context: { name } satisfies Person });
      console.log(`${name}: ${question}\n  ${escapeText(text)} (${messages.length} messages stored)`);
    };
    await ask('Ann', 'My favourite drink is green tea.');
    await ask('Ann', 'What shall I drink?');
    await ask('Bo', 'What shall I drink?');
    return 0;
  } finally {
    await close();
  }
});
