import {
  createUIMessageStreamResponse,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdkModel, answerUIMessages, hasAllDecisions } from '../../src/ai-sdk/index.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { Agent } from '../../src/sessions/agent.ts';
import { tool } from '../../src/tools/tool.ts';
import { ChatPage } from './chat-page.ts';
import { call, mockModel, whole } from './mock.ts';

/** A route of a web server, as an application would write it. */
const routeOf =
  (agent: Agent) =>
  async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const body = typeof init?.body === 'string' ? init.body : '';
    const { id, messages }: { id: string; messages: UIMessage[] } = JSON.parse(body);
    const session = await agent.open(id);
    return createUIMessageStreamResponse({ stream: await answerUIMessages(session, messages) });
  };

const pageOf = (agent: Agent): ChatPage =>
  new ChatPage({
    transport: new DefaultChatTransport({ fetch: routeOf(agent) }),
    sendAutomaticallyWhen: (given) => hasAllDecisions(given) || lastAssistantMessageIsCompleteWithToolCalls(given),
  });

/** Answers by an approval or a result start a request of their own: waits until the page is at rest. */
const resting = async (page: ChatPage): Promise<void> => {
  await expect.poll(() => page.status).toBe('ready');
};

const weather = tool({
  name: 'weather',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
});
const pay = tool({
  name: 'pay',
  inputSchema: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: ({ amount }) => ({ paid: amount }),
});

const asksToPay = () =>
  mockModel(
    whole([
      { type: 'reasoning', text: 'two things' },
      { type: 'text', text: 'I look.' },
      call('p1', 'weather', { city: 'Bern' }),
      call('p2', 'pay', { amount: 5 }),
    ]),
    whole([{ type: 'text', text: 'All done.' }]),
    whole([{ type: 'text', text: 'Bye.' }]),
  );

test('a page with useChat sees a run with two calls and an approval, answers, and goes on in the same message', async () => {
  const agent = createAgent({ model: aiSdkModel(asksToPay()), tools: [weather, pay] });
  const page = pageOf(agent);
  await page.sendMessage({ text: 'go' });
  expect(page.error).toBeUndefined();
  expect(page.text()).toBe('I look.');
  expect(page.tools()).toEqual([
    ['weather', 'input-available', { city: 'Bern' }, undefined],
    ['pay', 'approval-requested', { amount: 5 }, undefined],
  ]);

  await page.addToolApprovalResponse({ id: 'call_1_1', approved: true });
  await expect.poll(() => page.text()).toContain('All done.');
  await resting(page);
  expect(page.error).toBeUndefined();
  expect(page.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  expect(page.tools()).toEqual([
    ['weather', 'output-available', { city: 'Bern' }, 'rain in Bern'],
    ['pay', 'output-available', { amount: 5 }, { paid: 5 }],
  ]);

  await page.sendMessage({ text: 'thanks' });
  expect(page.text()).toBe('Bye.');
  const session = await agent.open(page.id);
  const roles = session.messages.map(({ role }) => role).join(' ');
  expect(roles).toBe('user assistant tool assistant user assistant');
});

test('a rejection with its reason reaches the model, and the page shows the call as denied', async () => {
  const model = asksToPay();
  const page = pageOf(createAgent({ model: aiSdkModel(model), tools: [weather, pay] }));
  await page.sendMessage({ text: 'go' });
  await page.addToolApprovalResponse({ id: 'call_1_1', approved: false, reason: 'too much' });
  await expect.poll(() => page.text()).toContain('All done.');
  await resting(page);
  expect(page.error).toBeUndefined();
  expect(page.tools()[1]).toEqual(['pay', 'output-denied', { amount: 5 }, undefined]);
  expect(JSON.stringify(model.doStreamCalls[1]?.prompt)).toContain('Tool call invocation rejected. too much');
});

test('R13: a tool that the page answers', async () => {
  const locate = tool({ name: 'locate', inputSchema: z.object({}) });
  const model = mockModel(whole([call('p1', 'locate')]), whole([{ type: 'text', text: 'You are in Bern.' }]));
  const page = pageOf(createAgent({ model: aiSdkModel(model), tools: [locate] }));
  await page.sendMessage({ text: 'where am I?' });
  expect(page.tools()).toEqual([['locate', 'input-available', {}, undefined]]);
  await page.addToolOutput({ tool: 'locate', toolCallId: 'call_1_0', output: { city: 'Bern' } });
  await expect.poll(() => page.text()).toBe('You are in Bern.');
  await resting(page);
  expect(page.error).toBeUndefined();
  expect(page.tools()).toEqual([['locate', 'output-available', {}, { city: 'Bern' }]]);
});

test('calls of an agent inside a call are asked on the page, and end with the call around them', async () => {
  const inner = createAgent({
    model: aiSdkModel(mockModel(whole([call('i1', 'pay', { amount: 7 })]), whole([{ type: 'text', text: 'paid 7' }]))),
    tools: [pay],
  });
  const helper = inner.asTool({ name: 'helper', description: 'pays' });
  const model = mockModel(whole([call('p1', 'helper', { prompt: 'pay' })]), whole([{ type: 'text', text: 'Done.' }]));
  const page = pageOf(createAgent({ model: aiSdkModel(model), tools: [helper] }));
  await page.sendMessage({ text: 'go' });
  expect(page.error).toBeUndefined();
  expect(page.tools()).toMatchObject([
    ['helper', 'input-available', { prompt: 'pay' }, undefined],
    ['pay', 'approval-requested', { amount: 7 }, undefined],
  ]);
  await page.addToolApprovalResponse({ id: 'call_1_0-call_1_0', approved: true });
  await expect.poll(() => page.text()).toBe('Done.');
  await resting(page);
  expect(page.error).toBeUndefined();
  expect(page.text()).toBe('Done.');
  expect(page.tools()).toMatchObject([
    ['helper', 'output-available', { prompt: 'pay' }, 'paid 7'],
    ['pay', 'output-available', { amount: 7 }, undefined],
  ]);
});

test('a failure of the turn is an error of the page, without the words of the provider', async () => {
  const page = pageOf(createAgent({ model: aiSdkModel(mockModel()), retry: { attempts: 1 } }));
  await page.sendMessage({ text: 'go' });
  expect(page.status).toBe('error');
  expect(page.error?.message).toBe('An error occurred.');
});

test('a request that has nothing to add ends at once, and a message behind an open approval does not hang', async () => {
  const agent = createAgent({ model: aiSdkModel(asksToPay()), tools: [weather, pay] });
  const page = pageOf(agent);
  await page.sendMessage({ text: 'go' });
  await page.sendMessage();
  expect(page.status).toBe('ready');
  await page.sendMessage({ text: 'and?' });
  expect(page.status).toBe('ready');
  expect((await agent.open(page.id)).status).toBe('waiting');
});

test('R29: an answer to arguments that have changed is refused, and no message is sent', async () => {
  const agent = createAgent({ model: aiSdkModel(asksToPay()), tools: [weather, pay] });
  const page = pageOf(agent);
  await page.sendMessage({ text: 'go' });
  for (const part of page.lastMessage?.parts ?? []) {
    if (part.type === 'tool-pay' && part.state === 'approval-requested')
      part.approval.descriptor = { inputHash: 'other' };
  }
  await page.addToolApprovalResponse({ id: 'call_1_1', approved: true });
  await expect.poll(() => page.error?.message).toContain('call_1_1');
  expect((await agent.open(page.id)).pending).toHaveLength(1);
});
