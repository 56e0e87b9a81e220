import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentError } from '../../src/errors.ts';
import { createToolRegistry } from '../../src/tools/tool-registry.ts';
import { tool, type ApprovalContext, type Tool } from '../../src/tools/tool.ts';

const named = (name: string, rest: { needsApproval?: Tool['needsApproval']; description?: string } = {}): Tool =>
  tool({ name, inputSchema: z.object({}), ...rest });

const ctx: ApprovalContext = { callId: 'c', sessionId: 's', messages: [], context: undefined };

const asks = async (one: Tool | undefined): Promise<boolean | undefined> =>
  typeof one?.needsApproval === 'function' ? one.needsApproval({}, ctx) : one?.needsApproval;

test('only advertised tools are shown to the model, in order; extra tools can be run', () => {
  const a = named('a', { description: 'A' });
  const b = named('b');
  const registry = createToolRegistry([b, a], [named('hidden')]);
  expect(registry.names()).toEqual(['b', 'a']);
  expect(registry.definitions()).toEqual([
    { name: 'b', inputSchema: b.inputSchema },
    { name: 'a', description: 'A', inputSchema: a.inputSchema },
  ]);
  expect(registry.get('hidden')?.name).toBe('hidden');
  expect(registry.get('a')).toBe(a);
});

test.each(['functions.bash', 'bash<|channel|>commentary', ' bash', 'bash ', 'Bash', 'toString', '__proto__', ''])(
  'R18/B48: %j is not the tool "bash"',
  (name) => {
    expect(createToolRegistry([named('bash')]).get(name)).toBeUndefined();
  },
);

describe('B56: two tools of one name', () => {
  test.each([
    [[named('f'), named('f')], [], 'tools has two tools named "f"'],
    [[], [named('f'), named('f')], 'extraTools has two tools named "f"'],
  ])('case %# is an error, not last one wins', (tools, extraTools, message) => {
    expect(() => createToolRegistry(tools, extraTools)).toThrow(AgentError);
    expect(() => createToolRegistry(tools, extraTools)).toThrow(message);
  });

  test('L07: of a name in both lists the advertised one runs', () => {
    const first = named('f');
    expect(createToolRegistry([first], [named('f')]).get('f')).toBe(first);
  });

  test('D40: of a name in both lists approval is asked if either asks', async () => {
    const both = (a: Tool['needsApproval'], b: Tool['needsApproval']) =>
      asks(createToolRegistry([named('f', { needsApproval: a })], [named('f', { needsApproval: b })]).get('f'));
    expect(await both(false, true)).toBe(true);
    expect(await both(true, () => false)).toBe(true);
    expect(
      await both(
        () => false,
        async () => true,
      ),
    ).toBe(true);
    expect(
      await both(
        () => true,
        () => false,
      ),
    ).toBe(true);
    expect(
      await both(
        () => false,
        () => false,
      ),
    ).toBe(false);
    expect(await both(false, () => true)).toBe(true);
    await expect(
      both(
        () => false,
        () => Promise.reject(new Error('x')),
      ),
    ).rejects.toThrow('x');
  });
});

test('what is no tool is refused with its place', () => {
  const wrongs: unknown[] = [undefined, null, 'f', {}, { name: 'f', execute: () => 1 }];
  for (const wrong of wrongs) {
    expect(() => createToolRegistry([named('a'), wrong as Tool])).toThrow('tools[1] is no tool: make it with tool()');
  }
  expect(() => createToolRegistry({} as Tool[])).toThrow('tools must be an array');
});

test('R2: the lists are copied', () => {
  const tools = [named('a')];
  const registry = createToolRegistry(tools);
  tools.push(named('b'));
  expect(registry.get('b')).toBeUndefined();
  expect(registry.names()).toEqual(['a']);
});
