// Brings several sessions of one SQLite file to their end at the same time, and notes all that it does in a file for each.
import { appendFileSync, writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { createLife } from '../../../src/testing/crash-life.ts';
import { load } from '../../testing/scenarios.ts';

const [path = '', folder = '', name = '', ids = '[]'] = process.argv.slice(2);
const store = sqliteStore(path);
flushCompileCache();
process.stdout.write('works\n');
await Promise.all(
  (JSON.parse(ids) as string[]).map(async (sessionId) => {
    const { options } = createLife({
      store,
      name,
      log: (event) => appendFileSync(join(folder, `${sessionId}.log`), `${JSON.stringify(event)}\n`),
      reach: async () => undefined,
      isDead: () => false,
    });
    const agent = await load.agent({ options, sessionId });
    const session = await agent.open(sessionId);
    const { outcome, text } = await load.drive(session, agent);
    writeFileSync(
      join(folder, `${sessionId}.end`),
      JSON.stringify({ result: { outcome, text }, messages: session.messages }),
    );
    await agent.close();
  }),
);
await store.close();
