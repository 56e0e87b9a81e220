import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentError } from '../../src/errors.ts';
import type { InputSchema } from '../../src/tools/input-schema.ts';
import { inputJsonSchema } from '../../src/tools/json-schema.ts';
import { createToolRegistry } from '../../src/tools/tool-registry.ts';
import { tool } from '../../src/tools/tool.ts';

const of = (schema: InputSchema) => inputJsonSchema('f', schema);

const refusal = (schema: InputSchema): string => {
  try {
    of(schema);
  } catch (error) {
    if (error instanceof AgentError && error.code === 'invalid-schema') return error.message;
    throw error;
  }
  throw new Error('the schema was taken');
};

describe('what is sent', () => {
  test('optional, default, nullable, enums, descriptions and records are said in JSON schema words', () => {
    const schema = z.object({
      must: z.string().describe('Needed'),
      may: z.string().optional(),
      fall: z.number().default(3),
      none: z.string().nullable(),
      one: z.enum(['a', 'b']),
      lit: z.literal([1, null]),
      rec: z.record(z.string(), z.number()),
      pair: z.tuple([z.string(), z.number()]),
    });
    expect(of(schema)).toEqual({
      type: 'object',
      properties: {
        must: { type: 'string', description: 'Needed' },
        may: { type: 'string' },
        fall: { type: 'number', default: 3 },
        none: { type: ['string', 'null'] },
        one: { type: 'string', enum: ['a', 'b'] },
        lit: { enum: [1, null] },
        rec: { type: 'object', additionalProperties: { type: 'number' } },
        pair: {
          type: 'array',
          prefixItems: [{ type: 'string' }, { type: 'number' }],
          items: false,
          minItems: 2,
          maxItems: 2,
        },
      },
      required: ['must', 'none', 'one', 'lit', 'rec', 'pair'],
    });
  });

  test('B60: a nested discriminated union is sent as anyOf, and no $schema is sent', () => {
    const sent = of(
      z.object({
        r: z.discriminatedUnion('type', [
          z.object({ type: z.literal('once') }),
          z.object({ type: z.literal('weekly'), d: z.number() }),
        ]),
      }),
    );
    expect(JSON.stringify(sent)).not.toMatch(/oneOf|\$schema/);
    expect(sent).toMatchObject({ properties: { r: { anyOf: [{ type: 'object' }, { required: ['type', 'd'] }] } } });
  });

  test('B60: oneOf beside anyOf keeps both', () => {
    const a = [{ type: 'string' }];
    const b = [{ minLength: 1 }];
    const jsonSchema = { type: 'object', properties: { x: { anyOf: a, oneOf: b } } };
    expect(of({ jsonSchema })['properties']).toEqual({ x: { anyOf: a, allOf: [{ anyOf: b }] } });
  });

  test('words of JSON schema that are names or data of the tool are left alone', () => {
    const jsonSchema = {
      type: 'object',
      properties: { oneOf: { type: 'string' }, $schema: { default: { oneOf: [1], $schema: 'x' } } },
    };
    expect(of({ jsonSchema })).toEqual(jsonSchema);
  });

  test('a strict object says additionalProperties false', () => {
    expect(of(z.strictObject({ a: z.strictObject({}) }))).toMatchObject({
      additionalProperties: false,
      properties: { a: { additionalProperties: false } },
    });
  });

  test('B57: the side that is read is sent: of a transform, a coercion, a codec or a pipe', () => {
    const sent = of(
      z.object({
        length: z.string().transform((text) => text.length),
        day: z.iso.date().transform((text) => new Date(text)),
        count: z.coerce.number(),
        when: z.codec(z.string(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() }),
      }),
    );
    expect(sent).toMatchObject({
      properties: {
        length: { type: 'string' },
        day: { type: 'string' },
        count: { type: 'number' },
        when: { type: 'string' },
      },
    });
  });

  test('B62: recursive schemas keep their references', () => {
    const Node = z.object({
      name: z.string(),
      get kids() {
        return z.array(Node);
      },
    });
    expect(of(Node)).toMatchObject({ type: 'object', properties: { kids: { items: { $ref: '#' } } } });
    expect(of(z.object({ root: Node }))).toMatchObject({
      properties: { root: { $ref: '#/$defs/__schema0' } },
      $defs: { __schema0: { properties: { kids: { items: { $ref: '#/$defs/__schema0' } } } } },
    });
    const A = z.object({
      get b() {
        return B.optional();
      },
    });
    const B = z.object({
      get a() {
        return A.optional();
      },
    });
    expect(of(A)).toMatchObject({ properties: { b: { properties: { a: { $ref: '#' } } } } });
    interface Tree {
      kids: Tree[];
    }
    const lazy: z.ZodType<Tree, Tree> = z.lazy(() => z.object({ kids: z.array(lazy) }));
    expect(of(lazy)).toMatchObject({ type: 'object', properties: { kids: { items: { $ref: '#' } } } });
  });

  test('a named root stands in its own place', () => {
    expect(of(z.object({ a: z.string() }).meta({ id: 'JsonSchemaTestRoot' }))).toMatchObject({
      type: 'object',
      properties: { a: { type: 'string' } },
    });
  });

  test('arktype and valibot give the same shape', () => {
    const expected = { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } }, required: ['a'] };
    expect(of(type({ a: 'string', 'n?': 'number' }))).toEqual(expected);
    expect(of(toStandardJsonSchema(v.object({ a: v.string(), n: v.optional(v.number()) })))).toEqual(expected);
  });

  test('an object without properties gets an empty list of them', () => {
    expect(of({ jsonSchema: { type: 'object' } })).toEqual({ type: 'object', properties: {} });
    expect(of(z.record(z.string(), z.number()))).toMatchObject({ type: 'object', properties: {} });
  });
});

describe('B57: what has no JSON form is refused when the tool is made', () => {
  test.each<[string, z.ZodType, string]>([
    ['date', z.date(), 'Date cannot be represented'],
    ['coerced date', z.coerce.date(), 'Date cannot'],
    ['bigint', z.bigint(), 'BigInt cannot'],
    ['bigint default', z.bigint().default(0n), 'BigInt'],
    ['bigint literal', z.literal(9_007_199_254_740_993n), 'BigInt literals'],
    ['map', z.map(z.string(), z.string()), 'Map cannot'],
    ['set', z.set(z.string()), 'Set cannot'],
    ['undefined', z.undefined(), 'Undefined cannot'],
    ['instance', z.instanceof(Uint8Array), 'Custom types cannot'],
    ['symbol', z.symbol(), 'Symbols cannot'],
    ['NaN', z.nan(), 'NaN cannot'],
    ['file', z.file(), 'File cannot'],
    ['optional date', z.date().optional(), 'Date cannot'],
    ['date in a union', z.union([z.string(), z.date()]), 'Date cannot'],
  ])('%s: the message names tool, path and reason', (_name, schema, reason) => {
    expect(refusal(z.object({ list: z.array(z.object({ x: schema })) }))).toMatch(
      new RegExp(
        `^tool "f": inputSchema has no JSON schema form at "list\\[\\]\\.x": .*${reason}.* Use a type that JSON has`,
      ),
    );
  });

  test.each([
    [z.object({ a: z.record(z.string(), z.date()) }), '"a.*"'],
    [z.object({ 'odd key': z.tuple([z.string(), z.bigint()]) }), '"["odd key"][]"'],
    [type({ a: { when: 'Date' } }), '"a.when"'],
    [type({ n: 'bigint[]' }), '"n[]"'],
    [type({ n: '1n' }), '"n"'],
    [type({ n: 'Map' }), '"n"'],
    [toStandardJsonSchema(v.object({ a: v.array(v.object({ d: v.date() })) })), '"a[].d"'],
    [toStandardJsonSchema(v.object({ l: v.literal(3n) })), '"l"'],
  ])('case %#: the path is told by every library', (schema: InputSchema, path) => {
    expect(refusal(schema)).toContain(`at ${path}:`);
  });

  test('a library that can not tell the place still names the tool and the reason', () => {
    const standard = {
      version: 1 as const,
      vendor: 'mine',
      validate: (value: unknown) => ({ value }),
      jsonSchema: {
        input: () => {
          throw new Error('no such type');
        },
      },
    };
    expect(refusal({ '~standard': standard })).toContain(
      'tool "f": inputSchema has no JSON schema form: no such type.',
    );
  });
});

describe('B60: the root must be an object', () => {
  test.each<[string, InputSchema]>([
    [
      'discriminated union',
      z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
    ],
    ['union', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ['string', z.string()],
    ['array', z.array(z.string())],
    ['nullable object', z.object({}).nullable()],
    ['any', z.any()],
    ['arktype string', type('string')],
    ['object with anyOf', { jsonSchema: { type: 'object', anyOf: [{ required: ['a'] }] } }],
    ['list of types', { jsonSchema: { type: ['object', 'null'] } }],
    ['empty', { jsonSchema: {} }],
  ])('%s is refused', (_name, schema) => {
    expect(refusal(schema)).toMatch(/^tool "f": inputSchema must be an object at its root, found .* Put the value/);
  });

  test('an intersection of objects and a transformed object are objects', () => {
    expect(of(z.object({ a: z.string() }).and(z.object({ b: z.string() })))).toMatchObject({ required: ['a', 'b'] });
    expect(of(z.object({ a: z.string() }).transform(() => 1))).toMatchObject({ type: 'object' });
  });
});

test('B57/B60: one bad tool names itself, and the others are usable', () => {
  const made = [z.object({ a: z.string() }), z.object({ when: z.date() }), z.object({})].map((inputSchema, index) => {
    try {
      return tool({ name: `t${index}`, inputSchema });
    } catch (error) {
      return String(error);
    }
  });
  const bad = made.filter((one) => typeof one === 'string');
  expect(bad).toHaveLength(1);
  expect(bad[0]).toContain('tool "t1"');
  expect(bad[0]).toContain('"when"');
  const others = made.filter((one) => typeof one !== 'string');
  expect(createToolRegistry(others).names()).toEqual(['t0', 't2']);
});
