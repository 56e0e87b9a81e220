import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent, tool } from '../../src/index.ts';
import {
  type CrashScenario,
  type ExploreOptions,
  type ScriptedAnswer,
  crashEverywhere,
  explore,
  scriptedModel,
  storeContract,
} from '../../src/testing/index.ts';
import { rejection } from '../support/sessions.ts';

const refused = (message: string) => ({ code: 'invalid-option', message: expect.stringContaining(message) });
const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

const call = (given: object) => ({ toolCalls: [given] });

describe('a script that is none is refused where it is written', () => {
  test.each<[string, unknown, string]>([
    ['arguments under another name', [call({ name: 't', arguments: { a: 1 } })], 'there is no option "arguments"'],
    ['a tool under another name', ['hello', call({ tool: 't' })], 'answer 2: toolCalls[0]: there is no option "tool"'],
    ['a call without a name', [call({ input: {} })], 'option "name" must be a string, got undefined'],
    ['a call that is a text', [{ toolCalls: ['t'] }], 'toolCalls[0]: options must be an object, got "t"'],
    ['calls that are no list', [{ toolCalls: { name: 't' } }], 'option "toolCalls" must be an array'],
    ['a field that nobody knows', [{ texts: 'hello' }], 'there is no option "texts"'],
    ['an answer that is nothing', ['hello', null], 'answer 2 must be a text, or a reply such as'],
    ['an answer that is a list', [['hello']], 'answer 1 must be a text'],
    ['no list', undefined, 'the script must be a list of answers'],
    ['a set', new Set(['hello']), 'the script must be a list of answers'],
    ['a text', 'hello', 'the script must be a list of answers'],
  ])('%s', (_, answers, message) => {
    expect(thrownBy(() => scriptedModel(answers as ScriptedAnswer[]))).toMatchObject(refused(message));
  });

  test('what a function gives is looked at when it is asked', async () => {
    const model = scriptedModel([() => call({ name: 't', args: {} }) as never]);
    const agent = createAgent({ model, retry: { attempts: 1 } });
    expect((await rejection(agent.run('hello'))).message).toContain('what answer 1 gave: toolCalls[0]: there is no');
  });

  test('options that nobody knows', () => {
    expect(thrownBy(() => scriptedModel([], { named: 'm' } as object))).toMatchObject(refused('"named"'));
  });
});

test('what is no scenario, no agent and no result is refused by crashEverywhere, and options that are none', async () => {
  const agent: CrashScenario['agent'] = ({ options }) => createAgent({ ...options, model: scriptedModel(['hello']) });
  const drive: CrashScenario['drive'] = async (session) => {
    if (session.status === 'idle') void session.send('hello');
    return session.settled();
  };
  const wrong: [unknown, string][] = [
    [undefined, 'the scenario must be a scenario'],
    [{ agent }, 'the functions agent and drive'],
    [{ agent: () => ({ run: drive }), drive }, 'takes agents that createAgent made'],
    [{ agent, drive: async () => undefined }, 'what drive gives must be the result of the last turn'],
  ];
  for (const [scenario, message] of wrong)
    expect(await rejection(crashEverywhere(scenario as CrashScenario))).toMatchObject(refused(message));
  const options = { point: () => true } as object;
  expect(await rejection(crashEverywhere({ agent, drive }, options))).toMatchObject(refused('"point"'));
});

describe('explore refuses options that would test nothing, or that would put the blame on the chart', () => {
  const model = scriptedModel([]);
  const pay = tool({ name: 'Pay', inputSchema: z.object({}), execute: () => 1 });
  const { machine } = createAgent({ model, tools: [pay] });

  test.each<[string, unknown, string]>([
    ['a tool that the agent does not have', { calls: [['Pya']] }, 'names "Pya", which is none of the agent\'s tools'],
    ['an option that nobody knows', { call: [['Pay']] }, 'explore: there is no option "call"; known here: calls'],
    ['names that are in no list', { calls: ['Pay'] }, 'option "calls" must be an array of lists of names of tools'],
    ['a reply that calls nothing', { calls: [[]] }, 'option "calls" must be'],
    ['a limit that nobody knows', { limits: { maxIteration: 1 } }, 'there is no option "limits.maxIteration"'],
    ['a limit out of bounds', { limits: { maxIterations: 0 } }, '"limits.maxIterations" must be an integer ≥ 1, got 0'],
    ['no room for a state', { maxStates: 0 }, 'option "maxStates" must be an integer ≥ 1'],
    ['what is no object', 'Pay', 'options must be an object'],
  ])('%s', (_, options, message) => {
    expect(thrownBy(() => explore(machine, options as ExploreOptions))).toMatchObject(refused(message));
    const copy = machine.provide({ guards: { hasQueued: () => false } });
    expect(thrownBy(() => explore(copy, options as ExploreOptions))).toMatchObject(refused(message));
  });
});

test('what is no machine is refused by explore, and what opens no store by the contract of stores', async () => {
  for (const machine of [undefined, {}])
    expect(thrownBy(() => explore(machine as never))).toMatchObject(refused('give agent.machine'));
  const [first] = storeContract;
  for (const open of [undefined, () => undefined, () => ({ read: () => undefined })])
    expect(await rejection(first?.run(open as never) ?? Promise.resolve())).toMatchObject(
      refused('what opens a store'),
    );
});
