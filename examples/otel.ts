// A turn as spans: it waits for a human, and another process goes on with it. `npx node --conditions=agentchart-source examples/otel.ts`
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { context, trace } from '@opentelemetry/api';
import { type ChatModel, createAgent, tool } from 'agentchart';
import { withTelemetry } from 'agentchart/otel';
import { z } from 'zod';
import { chooseModel } from './terminal/choose-model.ts';
import { escapeText } from './terminal/escape-text.ts';
import { runMain } from './terminal/run-main.ts';

/** In place of a real exporter: a line for each span when it ends. */
const print = (span: ReadableSpan): void => {
  const { name, attributes, links, parentSpanContext } = span;
  const tokens = attributes['gen_ai.usage.output_tokens'];
  const about = [
    `span ${span.spanContext().spanId.slice(0, 4)}`,
    parentSpanContext === undefined ? undefined : `in ${parentSpanContext.spanId.slice(0, 4)}`,
    ...links.map((link) => `goes on from ${link.context.spanId.slice(0, 4)}`),
    attributes['agentchart.outcome'],
    tokens === undefined ? undefined : `${String(tokens)} tokens out`,
  ];
  console.log(`  ${escapeText(name).padEnd(24)} ${about.filter((each) => each !== undefined).join(', ')}`);
};
const exporter = { export: (spans: ReadableSpan[]) => spans.forEach(print), shutdown: async () => undefined };

// What an application does once, at its start.
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));

const tools = [
  tool({ name: 'GetBalance', inputSchema: z.object({}), execute: () => ({ balance: 20_000 }) }),
  tool({
    name: 'Transfer',
    inputSchema: z.object({ to: z.string(), amount: z.number() }),
    needsApproval: true,
    execute: ({ to, amount }) => ({ to, amount, balance: 20_000 - amount }),
  }),
];
const createClerk = (model: ChatModel) => createAgent(withTelemetry({ name: 'clerk', model, tools }));

await runMain(async () => {
  const { model, about, close } = await chooseModel();
  console.log(`${about}\n\nOne process asks:`);
  try {
    const first = createClerk(model);
    const { sessionId } = await first.run('Pay 300 to Mei for the taxi.');
    const document = JSON.stringify(await first.open(sessionId));

    console.log('\nAnother one goes on:');
    const session = createClerk(model).restore(document);
    for (const { callId } of session.pending) await session.approve(callId, { by: 'ann' });
    console.log(`\n${escapeText((await session.settled()).text)}`);
    return 0;
  } finally {
    await close();
  }
});
