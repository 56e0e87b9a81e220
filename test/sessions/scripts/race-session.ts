// Says its messages in a session in which another process says its own at the same time. Prints how many commits were taken and refused.
import { createAgent } from '../../../src/sessions/create-agent.ts';
import { sqliteStore } from '../../../src/stores/sqlite-store.ts';
import { textOf } from '../../../src/messages/message.ts';
import { forgetfulModel } from '../../support/models.ts';
import { call, calls, toolOf } from '../../support/tools.ts';

const [path = '', name = '', count = ''] = process.argv.slice(2);
const inner = sqliteStore(path);
let commits = 0;
const store = {
  ...inner,
  commit: async (commit: Parameters<typeof inner.commit>[0]) => {
    await inner.commit(commit);
    commits += 1;
  },
};
const agent = createAgent({
  store,
  model: forgetfulModel(({ messages }) => {
    const last = messages.findLast(({ role }) => role === 'user');
    const text = last === undefined ? '' : textOf(last);
    const isAsked = messages.at(-1)?.role === 'tool' || !text.endsWith('0');
    return isAsked ? `You said ${text}.` : calls(call('pay'));
  }),
  tools: [toolOf('pay', () => 'paid', { needsApproval: true, annotations: { idempotent: true } })],
});

const conflicts = { run: 0, send: 0, approve: 0, settled: 0 };

/** Says it where it is not there yet, and waits for the answer. Every way in is used. */
const say = async (text: string, number: number): Promise<void> => {
  let doing: keyof typeof conflicts = 'settled';
  try {
    const session = await agent.open('shared');
    const settle = async (): Promise<void> => {
      doing = 'settled';
      const { pending } = await session.settled();
      for (const { callId } of pending) {
        doing = 'approve';
        await session.approve(callId);
      }
      if (pending.length > 0) await settle();
    };
    if (session.status !== 'idle') await settle();
    if (session.messages.some((message) => message.role === 'user' && textOf(message) === text)) return;
    doing = number % 2 === 0 ? 'run' : 'send';
    if (doing === 'run') await agent.run(text, { session });
    else await session.send(text);
    await settle();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== 'session-conflict') throw error;
    conflicts[doing] += 1;
    // Not both at the same moment again.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
    await say(text, number);
  }
};

for (let number = 1; number <= Number(count); number++) await say(`${name} ${number}`, number);
await agent.close();
await inner.close();
process.stdout.write(JSON.stringify({ commits, conflicts }));
