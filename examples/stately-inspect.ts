// XState's own inspector on our machine: its WebSocket inspector and a receiver in one process.
// `npx node --conditions=agentchart-source examples/stately-inspect.ts`
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createWebSocketInspector, createWebSocketReceiver } from '@statelyai/inspect';
import { createAgent, tool } from 'agentchart';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { chooseModel } from './terminal/choose-model.ts';
import { runMain } from './terminal/run-main.ts';

const getWeather = tool({
  name: 'GetWeather',
  inputSchema: z.object({ location: z.string() }),
  execute: ({ location }) => ({
    location,
    condition: 'light rain',
    celsius: 16,
    humidity: 82,
    wind: 'north-east, 3 Beaufort',
  }),
});

/** Hands what one client says to the others; on this machine only. */
const startRelay = async (): Promise<WebSocketServer> => {
  const relay = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  relay.on('connection', (client) => {
    client.on('message', (data, isBinary) => {
      for (const other of relay.clients) if (other !== client) other.send(data, { binary: isBinary });
    });
  });
  await once(relay, 'listening');
  return relay;
};

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(`${about}\n`);
  const relay = await startRelay();
  const url = `ws://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const { subscribe } = createWebSocketReceiver({ server: url });
  await once(relay, 'connection');
  const inspector = createWebSocketInspector({
    url,
    // It sends the whole context with every snapshot: what grows stays here. Actors that are no machines have none.
    sanitizeContext: (context) => ({ ...context, messages: [] }),
  });
  await once(relay, 'connection');
  try {
    const agent = createAgent({ model, tools: [getWeather] });
    const isOver = new Promise<void>((resolve) => {
      subscribe((event) => {
        if (event.type === '@xstate.actor') console.log(`actor    ${event.name}`);
        if (event.type !== '@xstate.snapshot') return;
        const { value } = event.snapshot as { value?: unknown };
        if (value !== undefined) console.log(`snapshot ${JSON.stringify(value)}`);
        if (JSON.stringify(value) === '{"done":"answered"}') resolve();
      });
    });
    await agent.run('What should I wear in Suzhou today?', { inspect: inspector.inspect });
    await isOver;
    return 0;
  } finally {
    inspector.stop();
    for (const client of relay.clients) client.terminate();
    relay.close();
    await close();
  }
});
