import { expect, test } from 'vitest';
import type { ModelSettings } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { inBothModes } from '../support/run.ts';
import { F1, V, broken, call, calls, heldTool, toolOf } from '../support/tools.ts';
import { results, transcript } from '../support/transcript.ts';
import { scriptedModel } from './script.ts';

test('R1/D45: the same for what one run sets', async () => {
  const agent = createAgent({ model: scriptedModel([]) });
  await expect(agent.run('hello', { limits: { maxIterations: 0 } })).rejects.toMatchObject({
    code: 'invalid-option',
    message: expect.stringContaining('limits.maxIterations'),
  });
});

inBothModes('defaults', (run) => {
  test('R1/L02: 40 rounds, then one more model call', async () => {
    const model = scriptedModel([...Array.from({ length: 40 }, (_, i) => calls(call('V', { i }))), 'so far']);
    const { result } = await run(createAgent({ model, tools: [V] }), 'hello');
    expect(result.iterations).toBe(40);
    expect(result.outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
  });

  test('R1/L02: three failing rounds are reported, errors are not detailed, an unknown tool does not end the turn', async () => {
    const model = scriptedModel([calls(call('broken')), calls(call('nope')), calls(call('broken')), 'world']);
    const { result } = await run(createAgent({ model, tools: [broken] }), 'hello');
    expect(results(result.messages)).toEqual([
      'Error: the tool failed.',
      expect.stringContaining('there is no tool'),
      'Error: the tool failed.',
    ]);
    expect(result.text).toBe('world');
  });

  test('R1/L02: nothing is asked of people, everything called is run', async () => {
    const model = scriptedModel([calls(call('F1')), 'world']);
    const { result } = await run(createAgent({ model, tools: [F1] }), 'hello');
    expect(result.outcome).toEqual({ type: 'answered' });
  });

  test('R14/M31: an agent without options sends the messages and nothing else', async () => {
    const model = scriptedModel(['world']);
    await run(createAgent({ model }), 'hello');
    expect(model.requests).toEqual([{ messages: [{ role: 'user', content: 'hello' }] }]);
  });

  test('M32: what a run sets beats what the agent sets, field by field, and only for that run', async () => {
    const model = scriptedModel(['one', 'two']);
    const own: ModelSettings = { temperature: 0, seed: 1, providerOptions: { metadata: 'own' } };
    const agent = createAgent({ model, tools: [F1], toolChoice: 'auto', settings: own });
    const { session } = await run(agent, 'hello', {
      toolChoice: 'none',
      settings: { seed: 2, providerOptions: { metadata: 'of the run' } },
    });
    await run(agent, 'more', { session });
    expect(model.requests.map(({ settings, toolChoice }) => ({ settings, toolChoice }))).toEqual([
      { settings: { temperature: 0, seed: 2, providerOptions: { metadata: 'of the run' } }, toolChoice: 'none' },
      { settings: own, toolChoice: 'auto' },
    ]);
  });

  test('R2/L20: the options that were given are the same afterwards, also at a limit', async () => {
    const model = scriptedModel([calls(call('F1')), 'so far']);
    const tools = [F1];
    const options = { model, tools, toolChoice: 'auto' as const, limits: { maxIterations: 1 } };
    const before = { ...options };
    await run(createAgent(options), 'hello');
    expect(options).toEqual(before);
    expect(options.tools).toBe(tools);
    expect(tools).toEqual([F1]);
    expect(tools[0]).toBe(F1);
  });

  test('R21/L19: in the last call our tools go, what the provider runs itself stays', async () => {
    const settings: ModelSettings = { providerOptions: { web_search_options: {} } };
    const model = scriptedModel([calls(call('F1')), 'so far']);
    await run(createAgent({ model, tools: [F1], settings, limits: { maxIterations: 1 } }), 'hello');
    expect(model.requests.map(({ tools, settings: sent }) => [tools?.length, sent])).toEqual([
      [1, settings],
      [undefined, settings],
    ]);
  });

  test('LC35: a text, a message and a list of messages are the same request', async () => {
    const model = scriptedModel(['world', 'world', 'world']);
    const agent = createAgent({ model });
    const message = { role: 'user' as const, content: 'hello' };
    for (const input of ['hello', message, [message]]) await run(agent, input);
    const [first, ...others] = model.requests;
    for (const other of others) expect(other).toEqual(first);
    await expect(run(agent, [])).rejects.toMatchObject({ code: 'invalid-message' });
  });

  test('R2/LC41: instructions of concurrent runs do not mix', async () => {
    const seen = new Map<string, string | undefined>();
    const held = heldTool('held');
    const model = scriptedModel(
      Array.from({ length: 4 }, () => ({ messages, instructions }) => {
        const [first] = transcript(messages);
        const last = messages.at(-1)?.role === 'tool';
        if (last) seen.set(first ?? '', instructions);
        return last ? 'world' : calls(call('held'));
      }),
    );
    const agent = createAgent({ model, tools: [held.tool], instructions: ({ context }) => `For ${String(context)}.` });
    const both = Promise.all([run(agent, 'a', { context: 'ann' }), run(agent, 'b', { context: 'bob' })]);
    await held.whenBegun(2);
    held.end(0);
    held.end(1);
    await both;
    expect(Object.fromEntries(seen)).toEqual({ 'user: a': 'For ann.', 'user: b': 'For bob.' });
  });

  test('R7/LC8: every call of a round is an actor of its own', async () => {
    const held = heldTool('held');
    const model = scriptedModel([calls(call('held'), call('held', { n: 1 }), call('held', { n: 2 })), 'world']);
    const agent = createAgent({ model, tools: [held.tool] });
    const session = await agent.open('mine');
    const running = run(agent, 'hello', { session });
    await held.whenBegun(3);
    const children = Object.keys(session.actor.getSnapshot().children);
    expect(children.filter((id) => id.startsWith('call_'))).toEqual(['call_1_0', 'call_1_1', 'call_1_2']);
    for (const index of [2, 0, 1]) held.end(index);
    await running;
    expect(Object.keys(session.actor.getSnapshot().children)).toEqual(['wake']);
  });

  test('LC14: a tool reads the history and what the application gave to this turn', async () => {
    const seen: unknown[] = [];
    const look = toolOf('look', (_, { messages, context }) => {
      seen.push(transcript(messages), context);
    });
    const context = { user: 'ann', log: new Map() };
    const model = scriptedModel([calls(call('look')), 'world']);
    const { session } = await run(createAgent({ model, tools: [look] }), 'hello', { context });
    expect(seen).toEqual([['user: hello'], context]);
    expect(seen[1]).toBe(context);
    expect(JSON.stringify(session.toJSON())).not.toContain('ann');
  });
});
