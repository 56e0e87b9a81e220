// The agent behind a web server, and a client of it: a message whose turn is streamed, an approval with edited arguments, and the rest of
// the turn by joining its stream. Runs without a key.
import { serve } from '@hono/node-server';
import { type AgentEvent, type PendingCall, createAgent, tool } from 'agentchart';
import { createHandler } from 'agentchart/server';
import { scriptedModel } from 'agentchart/testing';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';

const pay = tool({
  name: 'Pay',
  inputSchema: z.object({ to: z.string(), euros: z.number().positive() }),
  needsApproval: true,
  execute: ({ to, euros }) => `${euros} euros are on their way to ${to}`,
});
// In an application: openaiChat({ model: 'gpt-5-mini' }), or any other model.
const model = scriptedModel([
  { text: 'One moment.', toolCalls: [{ name: 'Pay', input: { to: 'Mei', euros: 80 } }] },
  'Mei is paid.',
]);
const agent = createAgent({ model, tools: [pay] });

const handler = createHandler({
  agent,
  basePath: '/agent',
  authorize: ({ request }) =>
    request.headers.get('authorization') === 'Bearer key-of-ann' ? { owner: 'ann' } : { refuse: 401 },
  onError: console.error,
});
// Any server of web-standard requests takes the handler as it is: Hono, Next, Deno, Bun, a worker.
const address = Promise.withResolvers<string>();
const server = serve({ fetch: handler, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  address.resolve(`http://127.0.0.1:${port}/agent/sessions/s1`),
);
const session = await address.promise;

const ask = (path: string, body?: unknown): Promise<Response> =>
  fetch(`${session}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: 'Bearer key-of-ann', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const show = async (response: Response): Promise<void> => {
  const lines = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of lines ?? []) {
    const event: AgentEvent = JSON.parse(data);
    if (event.type === 'tool-result') console.log(`${event.tool}: ${JSON.stringify(event.result.output)}`);
    if (event.type === 'finish') console.log(`Agent: ${event.result.text || event.result.outcome.type}`);
  }
};
await show(await ask('/messages', { message: 'Pay Mei 80 euros.' }));
const { pending }: { pending: PendingCall[] } = await (await ask('/approvals')).json();
for (const { callId, inputHash, tool: name, input } of pending) {
  console.log(`You:   ${name} ${JSON.stringify(input)}? Yes, but only 8.`);
  await ask(`/approvals/${callId}`, { decision: 'approve', inputHash, input: { to: 'Mei', euros: 8 } });
}
await show(await ask('/events'));
server.close();
await agent.close();
