import { type } from 'arktype';
import * as v from 'valibot';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { jsonSchema } from 'ai';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { AgentError } from '../../src/errors.ts';
import { tool, type ToolContext, type ToolOptions } from '../../src/tools/tool.ts';

const problem = (make: () => unknown): { code: string; message: string } => {
  try {
    make();
  } catch (error) {
    if (error instanceof AgentError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('nothing was thrown');
};

/** As JavaScript would call it: without the help of types. */
const untyped = (options: Record<string, unknown>): { code: string; message: string } =>
  problem(() => tool(options as unknown as ToolOptions));

const good = { name: 'f', description: 'd', inputSchema: z.object({}) };

test('a tool has documented defaults and is frozen, also inside', () => {
  const made = tool(good);
  expect(made).toMatchObject({
    name: 'f',
    description: 'd',
    inputSchema: { type: 'object', properties: {} },
    needsApproval: false,
    timeout: undefined,
    execute: undefined,
    retry: { attempts: 1, initialDelay: 500, maxDelay: 30_000 },
    sequential: false,
    returnDirect: false,
    annotations: {},
    onInterrupted: 'report',
    maxResultChars: 100_000,
    toModelOutput: undefined,
  });
  for (const part of [made, made.retry, made.annotations, made.inputSchema, made.inputSchema['properties']]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

test('retry without attempts means three tries', () => {
  expect(tool({ ...good, retry: {} }).retry).toEqual({ attempts: 3, initialDelay: 500, maxDelay: 30_000 });
});

test('R2: what the caller gives is neither changed nor shared', () => {
  const schema = { $schema: 'x', type: 'object', properties: { a: { oneOf: [{ type: 'string' }, { type: 'null' }] } } };
  const annotations = { readOnly: true };
  const options = { name: 'f', inputSchema: { jsonSchema: schema }, annotations };
  const before = structuredClone(schema);
  const made = tool(options);
  expect(schema).toEqual(before);
  expect(Object.isFrozen(schema) || Object.isFrozen(annotations) || Object.isFrozen(options)).toBe(false);
  schema.properties.a.oneOf.pop();
  annotations.readOnly = false;
  expect(made.inputSchema).toEqual({
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
  });
  expect(made.annotations).toEqual({ readOnly: true });
});

describe('options are checked', () => {
  test.each(['github.get file', 'a/b', 'x'.repeat(80), '', 'naïve', 'a\n', 7, undefined])(
    'B56: the name %j is refused',
    (name) => {
      const { code, message } = untyped({ ...good, name });
      expect(code).toBe('invalid-tool');
      expect(message).toContain('option "name" must be 1 to 64');
    },
  );

  test.each(['a', 'A-b_9', 'x'.repeat(64)])('B56: the name %j is taken', (name) => {
    expect(tool({ ...good, name }).name).toBe(name);
  });

  test.each([
    ['timeout', 0],
    ['timeout', -1],
    ['timeout', Number.NaN],
    ['timeout', Number.POSITIVE_INFINITY],
    ['timeout', '3'],
    ['timeout', 2 ** 31],
    ['maxResultChars', 0],
    ['maxResultChars', 1.5],
    ['maxResultChars', '9'],
    ['sequential', 'yes'],
    ['returnDirect', 1],
    ['needsApproval', 'always'],
    ['execute', {}],
    ['toModelOutput', 'text'],
    ['description', 5],
    ['onInterrupted', 'ignore'],
    ['retry', 3],
    ['retry', null],
    ['annotations', []],
  ])('R1: %s = %j is refused, naming tool, option and value', (option, value) => {
    const { code, message } = untyped({ ...good, [option]: value });
    expect(code).toBe('invalid-tool');
    expect(message).toMatch(new RegExp(`^tool "f": option "${option}" must be .+, got .+`));
  });

  test.each([
    ['retry', { attempts: 0 }, 'retry.attempts'],
    ['retry', { attempts: 1.5 }, 'retry.attempts'],
    ['retry', { initialDelay: -1 }, 'retry.initialDelay'],
    ['retry', { maxDelay: Number.NaN }, 'retry.maxDelay'],
    ['retry', { when: true }, 'retry.when'],
    ['retry', { tries: 3 }, 'retry.tries'],
    ['annotations', { readOnly: 'yes' }, 'annotations.readOnly'],
    ['annotations', { readOnlyHint: true }, 'annotations.readOnlyHint'],
  ])('R1: %s = %j is refused at %s', (option, value, path) => {
    const { code, message } = untyped({ ...good, [option]: value });
    expect(code).toBe('invalid-tool');
    expect(message).toContain(`option "${path}"`);
  });

  test('an unknown option is refused, and the known ones are listed', () => {
    const { message } = untyped({ ...good, parameters: {} });
    expect(message).toContain('tool "f": unknown option "parameters"; known: name, description, inputSchema');
    expect(untyped({ ...good, constructor: 1 }).message).toContain('unknown option "constructor"');
  });

  test('a tool needs a schema', () => {
    expect(untyped({ name: 'f' })).toEqual({
      code: 'invalid-tool',
      message: 'tool "f": option "inputSchema" is missing; a tool without parameters takes z.object({})',
    });
    expect(untyped({ name: 'f', inputSchema: 'string' }).code).toBe('invalid-tool');
    expect(problem(() => tool(undefined as unknown as ToolOptions)).code).toBe('invalid-tool');
  });

  test('a schema without JSON schema is refused with the way out', () => {
    expect(untyped({ name: 'f', inputSchema: v.object({}) })).toEqual({
      code: 'invalid-schema',
      message:
        'tool "f": inputSchema (valibot) gives no JSON schema. Wrap it in toStandardJsonSchema() of @valibot/to-json-schema.',
    });
    expect(untyped({ name: 'f', inputSchema: mini.object({}) }).message).toContain('not zod/mini');
    expect(untyped({ name: 'f', inputSchema: { type: 'object' } }).message).toContain('goes under the key jsonSchema');
    expect(untyped({ name: 'f', inputSchema: { a: z.string() } }).message).toContain('schemas go into z.object()');
    expect(untyped({ name: 'f', inputSchema: { jsonSchema: 'x' } }).code).toBe('invalid-schema');
    expect(untyped({ name: 'f', inputSchema: { jsonSchema: {}, validate: 1 } }).code).toBe('invalid-schema');
    expect(untyped({ name: 'f', inputSchema: { jsonSchema: {}, check: () => 1 } }).message).toContain(
      'unknown key "check"',
    );
    expect(untyped({ name: 'f', inputSchema: jsonSchema({ type: 'object' }) }).code).toBe('invalid-schema');
    const circular: Record<string, unknown> = { type: 'object' };
    circular['properties'] = { self: circular };
    expect(untyped({ name: 'f', inputSchema: { jsonSchema: circular } }).message).toContain('is not plain JSON');
  });
});

describe('types', () => {
  test('execute and needsApproval get the output of a zod schema, toModelOutput what execute gives', () => {
    tool({
      name: 'f',
      inputSchema: z.object({
        n: z.string().transform(Number),
        page: z.number().default(1),
        tag: z.string().optional(),
      }),
      execute: async (input, ctx) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number; page: number; tag?: string | undefined }>();
        expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
        return { sum: input.n + input.page };
      },
      needsApproval: (input) => input.n > 3,
      toModelOutput: (output) => {
        expectTypeOf(output).toEqualTypeOf<{ sum: number }>();
        return { type: 'text', value: String(output.sum) };
      },
    });
  });

  test('arktype, valibot and a validate function are inferred as well; a plain JSON schema is a record', () => {
    tool({
      name: 'f',
      inputSchema: type({ a: 'string', 'b?': 'number' }),
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ a: string; b?: number }>(),
    });
    tool({
      name: 'f',
      inputSchema: toStandardJsonSchema(v.object({ a: v.optional(v.string(), 'x') })),
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ a: string }>(),
    });
    tool({
      name: 'f',
      inputSchema: { jsonSchema: { type: 'object' }, validate: async (input) => ({ a: Number(input['a']) }) },
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ a: number }>(),
    });
    tool({
      name: 'f',
      inputSchema: { jsonSchema: { type: 'object' } },
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>(),
    });
  });

  test('an async iterable gives its item type', () => {
    tool({
      name: 'f',
      inputSchema: z.object({}),
      execute: async function* () {
        yield 1;
        yield 2;
      },
      toModelOutput: (output) => {
        expectTypeOf(output).toEqualTypeOf<number>();
        return { type: 'json', value: output };
      },
    });
  });
});
