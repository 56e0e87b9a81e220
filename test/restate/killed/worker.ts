// A worker that is killed: serves the agent of the kill test on the port that it is given, and writes down what it does, line by line.
import { appendFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { createAgent, textOf, tool } from '../../../src/index.ts';
import { restateWorker } from '../../../src/restate/index.ts';
import { forgetfulModel } from '../../support/models.ts';
import { type Noted, annotationsOf, toolNames } from './plan.ts';

const [port = '', file = ''] = process.argv.slice(2);

// One write each: lines of several processes do not mix.
const note = (noted: Noted): void => appendFileSync(file, `${JSON.stringify(noted)}\n`);

let asked = 0;
const tools = toolNames.map((name) =>
  tool({
    name,
    inputSchema: z.object({ ms: z.number() }),
    annotations: annotationsOf[name],
    execute: async ({ ms }, { sessionId, callId }) => {
      note({ type: 'begun', sessionId, callId, tool: name });
      await pause(ms);
      note({ type: 'ended', sessionId, callId, tool: name });
      return `${name} by ${process.pid}`;
    },
  }),
);
const model = forgetfulModel(({ messages }) => {
  const sessionId = textOf(messages[0] ?? { role: 'user', content: '' });
  asked += 1;
  const reply = `${process.pid}-${asked}`;
  const results = messages.filter(({ role }) => role === 'tool').length;
  note({ type: 'asked', sessionId, reply, results });
  if (results > 0) return `Done. (${reply})`;
  // Made of the session's number, so that every attempt asks for the same.
  const seed = Number(sessionId.replace(/\D/g, '')) + 1;
  return {
    text: reply,
    toolCalls: toolNames.map((name, index) => ({ name, input: { ms: 50 + ((seed * 137 * (index + 1)) % 900) } })),
  };
});

await restateWorker({ agents: createAgent({ name: 'killed', model, tools }) }).listen({ port: Number(port) });
flushCompileCache();
process.stdout.write('ready\n');
