import { expect, test } from 'vitest';
import { type AgentOptions, createAgent, memoryStore } from '../../src/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';

const pay = toolOf('pay', () => 'paid', { needsApproval: true });

const refusal = {
  code: 'another-agent',
  message:
    'session "order 7" is of agent "clerk", and this is agent "buyer"; open it with an agent of that name, or, if this one had it before, give createAgent formerNames: ["clerk"]',
};

/** A store with a session of the agent "clerk" that waits, and what makes other agents over that store. */
const kept = async () => {
  const store = memoryStore();
  const clerk = createAgent({ name: 'clerk', model: scriptedModel([calls(call('pay'))]), tools: [pay], store });
  await clerk.run('Pay.', { session: 'order 7' });
  const document = (await clerk.open('order 7')).toJSON();
  await clerk.close();
  const agentOf = (options: Partial<AgentOptions>) =>
    createAgent({ model: scriptedModel(['Done.']), tools: [pay], store, ...options });
  return { store, document, agentOf };
};

test('a session in a store is opened and run by an agent of its own name alone; any other one is told both names', async () => {
  const { store, agentOf } = await kept();
  const buyer = agentOf({ name: 'buyer' });
  await expect(buyer.open('order 7')).rejects.toMatchObject(refusal);
  await expect(buyer.run('Go on.', { session: 'order 7' })).rejects.toMatchObject(refusal);
  expect(await store.list()).toMatchObject([{ sessionId: 'order 7', agent: 'clerk', status: 'waiting', revision: 1 }]);
  await expect(agentOf({}).open('order 7')).rejects.toThrow('this is agent "agent"');
  expect((await agentOf({ name: 'clerk' }).open('order 7')).pending).toHaveLength(1);
});

test('a live session of an agent of another name is not run by this one, which would have that one answer', async () => {
  const { agentOf } = await kept();
  const clerk = agentOf({ name: 'clerk' });
  const session = await clerk.open('order 7');
  await expect(agentOf({ name: 'buyer' }).run('Go on.', { session })).rejects.toMatchObject(refusal);
  await expect(agentOf({ name: 'buyer' }).stream('Go on.', { session }).result).rejects.toMatchObject(refusal);
  expect(session.actor.getSnapshot().context.inbox).toEqual([]);
  const later = agentOf({ name: 'buyer', formerNames: ['clerk'] });
  expect((await later.run('Go on.', { session })).outcome).toEqual({ type: 'pending' });
});

test('an agent of another name can look at a session, and makes none of its own from it', async () => {
  const { store, agentOf } = await kept();
  const view = await agentOf({ name: 'buyer' }).open('order 7', { readOnly: true });
  expect(view.pending).toMatchObject([{ tool: 'pay' }]);
  await expect(view.fork()).rejects.toMatchObject(refusal);
  expect(await store.list()).toHaveLength(1);
});

test('a document goes on with the agent that it is handed to, whatever its name', async () => {
  const { document, agentOf } = await kept();
  const session = agentOf({ name: 'buyer', store: memoryStore() }).restore(document);
  await session.approve('call_1_0');
  expect((await session.settled()).text).toBe('Done.');
  expect(session.toJSON().agent).toBe('buyer');
});

test('an agent that was renamed goes on with what it kept under its former names, which then stands under the new one', async () => {
  const { store, agentOf } = await kept();
  const buyer = agentOf({ name: 'buyer', formerNames: ['cashier', 'clerk'] });
  const session = await buyer.open('order 7');
  await session.approve('call_1_0');
  expect((await session.settled()).text).toBe('Done.');
  expect(session.toJSON().agent).toBe('buyer');
  expect(await store.list()).toMatchObject([{ agent: 'buyer', status: 'settled' }]);
  await buyer.close();
  await expect(agentOf({ name: 'clerk' }).open('order 7')).rejects.toMatchObject({ code: 'another-agent' });
});

test('former names that are no list of names are refused', () => {
  expect(() => createAgent({ model: scriptedModel([]), formerNames: 'clerk' as never })).toThrow(
    'option "formerNames" must be an array of strings, got "clerk"',
  );
});
