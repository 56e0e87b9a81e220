import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelRequest } from '../../src/models/chat-model.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ToolList } from '../../src/tools/tool.ts';
import { expectWhole, inBothModes } from '../support/run.ts';
import { reopened, saved } from '../support/sessions.ts';
import { call, calls, toolOf } from '../support/tools.ts';
import { results } from '../support/transcript.ts';

/** A tool that changes the list of tools when it runs. */
const changing = (change: (tools: ToolList) => void) =>
  toolOf('A', (_, ctx) => {
    change(ctx.tools);
    return 'A ran';
  });
const B = toolOf('B', () => 'B ran');
const otherB = toolOf('B', () => 'the other B ran');
const shown = (request: ModelRequest | undefined): string[] => (request?.tools ?? []).map(({ name }) => name);

inBothModes('R12: tools change while a turn runs', (run) => {
  test('R12/L57: a tool adds one; the model sees it with its next call and runs it', async () => {
    const model = scriptedModel([calls(call('A')), calls(call('B')), 'done']);
    const { result } = await run(createAgent({ model, tools: [changing((tools) => tools.add(B))] }), 'go');
    expect(results(result.messages)).toEqual(['A ran', 'B ran']);
    expect(model.requests.map(shown)).toEqual([['A'], ['A', 'B'], ['A', 'B']]);
    model.assertFinished();
  });

  test('R12: the round that runs is not touched: a call of the tool in the same reply is unknown', async () => {
    const model = scriptedModel([calls(call('A'), call('B')), calls(call('B')), 'done']);
    const agent = createAgent({ model, tools: [changing((tools) => tools.add(B))], concurrency: 1 });
    const { result } = await run(agent, 'go');
    expect(results(result.messages)).toEqual(['A ran', expect.stringContaining('no tool named "B"'), 'B ran']);
  });

  test('R12/L59: a tool replaces another; the old one never runs again in this turn, and the next turn has it back', async () => {
    const model = scriptedModel([calls(call('A'), call('B')), calls(call('B')), 'done', calls(call('B')), 'again']);
    const agent = createAgent({ model, tools: [changing((tools) => tools.add(otherB)), B] });
    const { result, session } = await run(agent, 'go');
    expect(results(result.messages)).toEqual(['A ran', 'B ran', 'the other B ran']);
    const { result: next } = await run(agent, 'more', { session });
    expect(results(next.messages)).toEqual(['B ran']);
    model.assertFinished();
  });

  test('R12/L60: beside tools that are not advertised', async () => {
    const X = toolOf('X', () => 'X ran');
    const model = scriptedModel([calls(call('A')), calls(call('B'), call('X')), 'done']);
    const agent = createAgent({ model, tools: [changing((tools) => tools.add(B))], extraTools: [X] });
    const { result } = await run(agent, 'go');
    expect(results(result.messages)).toEqual(['A ran', 'B ran', 'X ran']);
    expect(model.requests.flatMap(shown)).not.toContain('X');
  });

  test('R12/L62: tools that do not change run round after round', async () => {
    const model = scriptedModel([calls(call('B')), calls(call('B')), calls(call('B')), 'done']);
    const { result } = await run(createAgent({ model, tools: [B] }), 'go');
    expect(results(result.messages)).toEqual(['B ran', 'B ran', 'B ran']);
    expect(model.requests.map(shown)).toEqual([['B'], ['B'], ['B'], ['B']]);
  });

  test('R12/L63: a tool takes all away: a call after that is unknown, the loop goes on, no list is sent', async () => {
    const model = scriptedModel([calls(call('A')), calls(call('B')), 'done']);
    const { result } = await run(createAgent({ model, tools: [changing((tools) => tools.clear()), B] }), 'go');
    expect(results(result.messages)).toEqual(['A ran', 'Error: there is no tool named "B". There are no tools.']);
    expect(model.requests[1]).not.toHaveProperty('tools');
    expect(result.text).toBe('done');
  });

  test('R12/L65: a plain tool is swapped for one that needs approval: it is asked for, the old one does not run', async () => {
    const gatedB = toolOf('B', () => 'gated B ran', { needsApproval: true });
    const model = scriptedModel([calls(call('A')), calls(call('B')), 'done']);
    const agent = createAgent({ model, tools: [changing((tools) => tools.add(gatedB)), B] });
    const { result, session } = await run(agent, 'go');
    expect(result.pending).toMatchObject([{ tool: 'B', needs: 'approval' }]);
    expect(results(result.messages)).toEqual(['A ran']);
    await session.approve('call_2_0');
    expect(results((await session.settled()).messages)).toEqual(['A ran', 'gated B ran']);
  });

  test('R12: one tool is taken away and brought back by its name', async () => {
    const model = scriptedModel([
      calls(call('A', { to: 'remove' })),
      calls(call('B')),
      calls(call('A')),
      calls(call('B')),
      'done',
    ]);
    const A = toolOf('A', ({ to }, ctx) => (to === 'remove' ? ctx.tools.remove('B') : ctx.tools.add('B')));
    const { result } = await run(createAgent({ model, tools: [A, B] }), 'go');
    expect(results(result.messages)[1]).toContain('Known tools: A.');
    expect(results(result.messages)[3]).toBe('B ran');
    expect(model.requests.map(shown)).toEqual([['A', 'B'], ['A'], ['A'], ['A', 'B'], ['A', 'B']]);
  });

  test('R12: changes of one round count in call order; those of a call that failed do not', async () => {
    const A = toolOf('A', ({ to }, ctx) => {
      if (to === 'B') ctx.tools.add(B);
      if (to === 'other') ctx.tools.add(otherB);
      if (to === 'fail') {
        ctx.tools.clear();
        throw new Error('no');
      }
    });
    const model = scriptedModel([
      calls(call('A', { to: 'B' }), call('A', { to: 'other' }), call('A', { to: 'fail' })),
      calls(call('B')),
      'done',
    ]);
    const { result } = await run(createAgent({ model, tools: [A] }), 'go');
    expect(results(result.messages).at(-1)).toBe('the other B ran');
  });

  test('R12: where all tools are taken away the structured answer can still be given', async () => {
    const clear = changing((tools) => tools.clear());
    const model = scriptedModel([calls(call('A')), calls(call('final_answer', { n: 1 }))]);
    const agent = createAgent({ model, tools: [clear, B], output: z.object({ n: z.number() }) });
    const { result } = await run(agent, 'go');
    expect(shown(model.requests[1])).toEqual(['final_answer']);
    expect(result.output).toEqual({ n: 1 });
  });

  test('R12: nor can the tool of the answer be taken away or replaced', async () => {
    const A = toolOf('A', (_, ctx) => {
      ctx.tools.remove('final_answer');
      ctx.tools.add(toolOf('final_answer', () => 'mine'));
    });
    const model = scriptedModel([calls(call('A')), calls(call('final_answer', { n: 1 }))]);
    const { result } = await run(createAgent({ model, tools: [A], output: z.object({ n: z.number() }) }), 'go');
    expect(results(result.messages)[0]).toMatch(/^Error/);
    expect(result.output).toEqual({ n: 1 });
  });
});

describe('R12: over a restore', () => {
  const gate = toolOf('gate', () => 'gate ran', { needsApproval: true });
  const X = toolOf('X', () => 'X ran');

  test('an extra tool that was added by its name is still there', async () => {
    const A = changing((tools) => tools.add('X'));
    const asking = scriptedModel([calls(call('A')), calls(call('gate'))]);
    const agent = createAgent({ model: asking, tools: [A, gate], extraTools: [X] });
    const { sessionId } = await agent.run('go');
    expect(asking.requests.map(shown)).toEqual([
      ['A', 'gate'],
      ['A', 'gate', 'X'],
    ]);
    const model = scriptedModel([calls(call('X')), 'done']);
    const document = saved(await agent.open(sessionId));
    const later = createAgent({ model, tools: [A, gate], extraTools: [X] }).restore(document);
    await later.approve('call_2_0');
    const result = await later.settled();
    expect(results(result.messages)).toEqual(['A ran', 'gate ran', 'X ran']);
    expect(shown(model.requests[0])).toEqual(['A', 'gate', 'X']);
    expectWhole(later.messages);
  });

  test('a live one is gone: it is not shown, a call of it is unknown, and the old one of its name does not come back', async () => {
    const A = changing((tools) => tools.add(otherB));
    const agent = createAgent({ model: scriptedModel([calls(call('A')), calls(call('gate'))]), tools: [A, gate, B] });
    const { sessionId } = await agent.run('go');
    const document = saved(await agent.open(sessionId));
    const model = scriptedModel([calls(call('B')), 'done']);
    const later = createAgent({ model, tools: [A, gate, B] }).restore(document);
    await later.approve('call_2_0');
    const result = await later.settled();
    expect(shown(model.requests[0])).toEqual(['A', 'gate']);
    expect(results(result.messages)[2]).toContain('no tool named "B"');
    expectWhole(later.messages);
  });

  test('in the same process the live one goes on', async () => {
    const model = scriptedModel([calls(call('A')), calls(call('gate')), calls(call('B')), 'done']);
    const agent = createAgent({ model, tools: [changing((tools) => tools.add(B)), gate] });
    const { sessionId } = await agent.run('go');
    const later = reopened(agent, await agent.open(sessionId));
    await later.approve('call_2_0');
    expect(results((await later.settled()).messages)).toEqual(['A ran', 'gate ran', 'B ran']);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a tool that `tool()` did not make', { name: 'B', description: 'x' }],
    ['a number', 5],
    ['a name that no tool of the agent has', 'Nobody'],
  ])('R12: adding %s fails the call, says what is wanted, and changes nothing', async (_, added) => {
    const A = changing((tools) => tools.add(added as never));
    const model = scriptedModel([calls(call('A')), 'done']);
    const { messages } = await createAgent({ model, tools: [A], detailedErrors: true }).run('go');
    expect(results(messages)[0]).toMatch(/ctx\.tools\.add.* tool /);
    expect(shown(model.requests[1])).toEqual(['A']);
  });

  test('an agent cannot be added live; the tool that tries has failed and says how to do it', async () => {
    const inner = createAgent({ model: scriptedModel([]) });
    const A = changing((tools) => tools.add(inner.asTool({ name: 'inner', description: 'x' })));
    const agent = createAgent({ model: scriptedModel([calls(call('A')), 'done']), tools: [A], detailedErrors: true });
    expect(results((await agent.run('go')).messages)[0]).toContain('extraTools');
  });
});
