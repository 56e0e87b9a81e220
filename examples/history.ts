// A history that is kept elsewhere: in a table of yours. `npx node --conditions=agentchart-source examples/history.ts`
import { DatabaseSync } from 'node:sqlite';
import { type HistoryProvider, type Message, createAgent } from 'agentchart';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

const database = new DatabaseSync(':memory:');
database.exec('create table said (session text, place integer, message text, primary key (session, place)) strict');

const history: HistoryProvider = {
  load: ({ sessionId }) =>
    database
      .prepare('select message from said where session = ? order by place')
      .all(sessionId)
      .map(({ message }) => JSON.parse(String(message)) as Message),
  // After a crash the same messages come a second time: a place that is taken is written again.
  append: ({ sessionId, position, messages }) => {
    const insert = database.prepare('insert or replace into said values (?, ?, ?)');
    for (const [index, message] of messages.entries()) insert.run(sessionId, position + index, JSON.stringify(message));
  },
};

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(`${about}\n`);
  try {
    const agent = createAgent({ model, history });
    for (const question of [
      'My favourite drink is green tea.',
      'My favourite city is Suzhou.',
      'What shall I drink?',
    ]) {
      const { text } = await agent.run(question, { session: 'ann' });
      console.log(`${question}\n  ${escapeText(text)}`);
    }
    const session = await agent.open('ann');
    const rows = database.prepare('select count(*) as rows from said').get();
    console.log(`\n${session.messages.length} messages in the session, ${String(rows?.['rows'])} in the table`);
    return 0;
  } finally {
    await close();
  }
});
