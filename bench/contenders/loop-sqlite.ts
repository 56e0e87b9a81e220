import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contender } from '../harness/contender.ts';
import { question } from '../harness/task.ts';
import { type LoopMessage, replyOf, runLoop } from './loop.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-loop-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const openTable = (): ((message: LoopMessage) => void) => {
  files += 1;
  const database = new DatabaseSync(join(folder, `${files}.db`));
  // As our own store has it.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE messages (body TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO messages (body) VALUES (?)');
  return (message) => void insert.run(JSON.stringify(message));
};

/** The loop by hand that appends each message to a table before the next step: the least that keeps a conversation. */
export const contender: Contender = {
  packages: [],
  isStored: true,
  prepare: (task) => {
    const replies = task.replies.map(replyOf);
    const append = openTable();
    return async () => {
      task.begin();
      const messages: LoopMessage[] = [{ role: 'user', content: question }];
      let written = 0;
      const write = (): void => {
        for (const message of messages.slice(written)) append(message);
        written = messages.length;
      };
      const text = await runLoop(
        async () => {
          write();
          return replies[task.next()] ?? replyOf({});
        },
        (input) => {
          write();
          return task.execute(input);
        },
        messages,
      );
      write();
      task.check(text);
    };
  },
};
