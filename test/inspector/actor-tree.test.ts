import { expect, test } from 'vitest';
import { createAgent } from '../../src/index.ts';
import { type TreeNode, actorTree } from '../../src/inspector/actor-tree.ts';
import { createRecorder } from '../../src/inspector/index.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { viewOf } from './support.ts';

const namesIn = ({ actor, children }: TreeNode): string[] => [actor.id, ...children.flatMap(namesIn)];

test.each([
  ['one that expires has its alarm', 60_000, true],
  ['one that does not has none', undefined, false],
])('a call that waits for somebody: %s', async (_name, expireAfter, hasAlarm) => {
  const recorder = createRecorder();
  const agent = createAgent({
    model: scriptedModel([calls(call('pay'))]),
    tools: [toolOf('pay', () => 'paid', { needsApproval: true })],
    ...(expireAfter === undefined ? {} : { approvals: { expireAfter } }),
  });
  await agent.run('pay', { inspect: recorder.inspect });
  const [session] = Object.values(viewOf(recorder.log).sessions);
  const tree = session === undefined ? undefined : actorTree(session);
  const names = tree === undefined ? [] : namesIn(tree);
  expect(names.some((name) => name.includes('call_1_0'))).toBe(true);
  expect(names.includes('expiry')).toBe(hasAlarm);
  await agent.close();
});
