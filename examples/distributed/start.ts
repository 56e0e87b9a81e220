// The expense agent over two workers and an engine, all on this machine and all from npm:
// `npx node --conditions=agentchart-source examples/distributed/start.ts`. A manager approves; the worker that pays is killed in the
// middle; the other one goes on, and the money moves once.
import { rm } from 'node:fs/promises';
import { restateSessions } from 'agentchart/restate';
import { startLocalModel } from '../local-model/start-local-model.ts';
import { escapeJson } from '../terminal/escape-text.ts';
import { runMain } from '../terminal/run-main.ts';
import { startBalancer } from './start-balancer.ts';
import { engineMissing, startEngine } from './start-engine.ts';
import { startWorker, type Worker } from './start-worker.ts';

const ledger = '.sessions/distributed-ledger.json';

await runMain(async () => {
  if (engineMissing !== false) {
    console.log(engineMissing);
    return 1;
  }
  await rm(ledger, { force: true });
  await using things = new AsyncDisposableStack();
  // The workers ask the model over HTTP, as they would ask any provider.
  const local = await startLocalModel();
  things.defer(local.close);
  const env = { MODEL: local.model, API_KEY: local.apiKey, OPENAI_URL: local.baseURL };

  let isLost = false;
  const onLine = (line: string, worker: Worker): void => {
    console.log(`  ${line}`);
    if (isLost || !line.includes('Transfer')) return;
    isLost = true;
    worker.kill();
    console.log(`  ${worker.name} is killed in the middle of it`);
  };
  const names = ['worker 1', 'worker 2'];
  const workers = await Promise.all(names.map((name) => startWorker({ name, ledger, env, onLine })));
  for (const { kill } of workers) things.defer(kill);
  const engine = things.use(await startEngine());
  const balancer = await startBalancer(workers.map(({ url }) => url));
  things.defer(balancer.close);
  await engine.register(balancer.url);
  console.log(`The engine takes calls at ${engine.ingress}; ${workers.length} workers serve it.`);

  // Any process that reaches the engine has the session: a web server, a script, a page of a manager.
  const sessions = restateSessions({ ingress: engine.ingress, agent: 'expense' });
  const session = await sessions.open('march trip');
  await session.send('Pay 8000 to Mei for the March trip.');
  for (const { callId, tool, input, inputHash } of (await session.settled()).pending) {
    console.log(`A manager approves ${tool} ${escapeJson(input)}`);
    await session.approve(callId, { inputHash, by: 'manager' });
  }
  const { text } = await session.settled();
  console.log(`Agent: ${text}`);
  return 0;
});
