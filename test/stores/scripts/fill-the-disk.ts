// Commits until the store refuses, then reads what is there, and tries once more. Prints what happened.
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { commitOf } from '../../../src/testing/store-case.ts';

const [path = ''] = process.argv.slice(2);
const session = { agent: 'agent', sessionId: 'full' };
const store = sqliteStore(path);
const refusal = async (revision: number): Promise<{ code?: string; message?: string } | undefined> =>
  await store.commit(commitOf(session, revision, { messages: [`"${'x'.repeat(20_000)}"`] })).then(
    () => undefined,
    ({ code, message }: { code?: string; message?: string }) => ({
      ...(code && { code }),
      ...(message && { message }),
    }),
  );
let confirmed = 0;
let first;
while (first === undefined && confirmed < 1000) {
  first = await refusal(confirmed + 1);
  if (first === undefined) confirmed += 1;
}
const read = await store.read(session.sessionId);
const second = await refusal(confirmed + 1);
process.stdout.write(
  JSON.stringify({ confirmed, first, second, revision: read?.revision, messages: read?.messages.length }),
);
