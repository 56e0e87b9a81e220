// An agent on the screen, and on the inspector's page. It compares two cities at once, asks before it books, and can be left and resumed.
//   npm start -- [question]     ask the trip agent
//     --yes                     approve what needs approval
//     --no, --reason TEXT       reject it
//     --resume FILE             go on with a session that Ctrl-C left
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Session } from 'agentchart';
import { chooseModel } from './terminal/choose-model.ts';
import { type Decider, createDecider } from './terminal/create-decider.ts';
import { createPrinter } from './terminal/create-printer.ts';
import { escapeText } from './terminal/escape-text.ts';
import { leaveFileOnInterrupt } from './terminal/leave-file-on-interrupt.ts';
import { runMain } from './terminal/run-main.ts';
import { saveSession } from './terminal/save-session.ts';
import { showInspector } from './terminal/show-inspector.ts';
import { UsageError } from './terminal/usage-error.ts';

import { createTripAgent, tripQuestion } from './trip.ts';

const options = {
  yes: { type: 'boolean' },
  no: { type: 'boolean' },
  reason: { type: 'string' },
  resume: { type: 'string' },
} as const;

/** Shows every event until the turn rests, and decides what waits on the way. */
const follow = async (session: Session, decide: Decider, question: string | undefined): Promise<void> => {
  const printer = createPrinter();
  const decideAll = async (): Promise<void> => {
    printer.endText();
    for (let [call] = session.pending; call !== undefined; [call] = session.pending) await decide(session, call);
  };
  const events = session.events();
  if (question !== undefined) await session.send(question);
  if (session.status === 'settled') {
    console.log(escapeText((await session.settled()).text));
    return;
  }
  if (session.status === 'waiting') await decideAll();
  for await (const event of events) {
    printer.event(event);
    if (event.type !== 'finish') continue;
    if (event.result.outcome.type !== 'pending') break;
    await decideAll();
  }
  printer.endText();
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const { resume } = values;
  if (resume !== undefined && !existsSync(resume)) {
    throw new UsageError(
      `There is no file ${resume}. Ctrl-C while the agent works or waits writes the session to .sessions/ID.json and names the file.`,
    );
  }
  const { model, about, close } = await chooseModel();
  console.log(about);
  const stops = [close];
  try {
    const agent = createTripAgent(model);
    const question = resume === undefined ? positionals.join(' ') || tripQuestion : undefined;
    const inspector = await showInspector({ agents: [agent] });
    stops.push(inspector.close);
    const { inspect } = inspector;
    const seen = inspect === undefined ? {} : { inspect };
    const session =
      resume === undefined ? await agent.open(undefined, seen) : agent.restore(readFileSync(resume, 'utf8'), seen);
    console.log(question === undefined ? `Going on with ${resume}\n` : `You:   ${question}\n`);
    const stopLeaving = leaveFileOnInterrupt(session, resume ?? `.sessions/${session.id}.json`);
    await follow(session, createDecider(values), question);
    if (resume !== undefined) saveSession(resume, session);
    const { outcome, iterations, usage: tokens } = await session.settled();
    const counted = tokens.totalTokens === undefined ? '' : `; tokens: ${tokens.totalTokens}`;
    console.log(`\n(${outcome.type}; rounds of tool calls: ${iterations}${counted})`);
    const stays = inspector.stay();
    stopLeaving();
    await stays;
    return outcome.type === 'answered' ? 0 : 1;
  } finally {
    for (const stop of stops) await stop();
  }
};

await runMain(main, { flags: 'own' });
