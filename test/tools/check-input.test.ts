import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkInput, type InputCheck } from '../../src/tools/check-input.ts';
import type { InputSchema } from '../../src/tools/input-schema.ts';
import { createValidator } from '../../src/tools/validator.ts';

const check = async (schema: InputSchema, input: unknown): Promise<InputCheck> =>
  checkInput(createValidator(schema), input);

const issuesOf = async (schema: InputSchema, input: unknown) => {
  const result = await check(schema, input);
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.value)}`);
  return result.issues;
};

const empty = z.object({});
const query = z.object({ q: z.string() });

describe('R17/B38: nothing in place of arguments', () => {
  test.each(['', '  \n', 'null', ' null ', null, undefined])(
    '%j runs a tool whose schema accepts {}',
    async (input) => {
      expect(await check(empty, input)).toEqual({ ok: true, value: {} });
      expect(await check(z.object({ n: z.number().default(2) }), input)).toEqual({ ok: true, value: { n: 2 } });
    },
  );

  test.each(['', '  \n', 'null', null, undefined])('%j names the missing fields of another schema', async (input) => {
    expect(await issuesOf(z.object({ q: z.string(), n: z.number() }), input)).toEqual([
      { path: 'q', message: 'Invalid input: expected string, received undefined' },
      { path: 'n', message: 'Invalid input: expected number, received undefined' },
    ]);
  });
});

describe('R17/B42/B45: text that is not one JSON object never runs a tool, also where the schema accepts {}', () => {
  test.each([
    '{"a":',
    '{"a":1}{"a":2}',
    '```json\n{"path":"a.txt"}\n```',
    '{"path":"a.txt"} trailing text',
    "{'a':1}",
    '{"cmd":"a\\vb"}',
    'undefined',
    'hello',
    '[]',
    '[{"a":1}]',
    '3',
    'true',
    '""',
    '"null"',
    '"{\\"q\\":1}"',
    '\ufeff{}',
  ])('%j', async (input) => {
    const issues = await issuesOf(empty, input);
    expect(issues).toHaveLength(1);
    expect(issues[0]?.path).toBe('');
    expect(issues[0]?.message).toMatch(/^not one JSON object: ./);
    expect(issues[0]?.message.length).toBeLessThan(260);
  });

  test.each([[[]], [3], [true], [new Date()], [new Map()], [10n], [() => 1], [Symbol('x')]])(
    'the value %o is no object either',
    async (input) => {
      expect((await issuesOf(empty, input))[0]?.message).toMatch(/^not one JSON object: found an? /);
    },
  );

  test('any text either is one JSON object (or nothing), or is refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.json().map(JSON.stringify)),
        async (text) => {
          const result = await check(z.looseObject({}), text);
          let value: unknown;
          try {
            value = text.trim() === '' ? null : JSON.parse(text);
          } catch {
            value = 'unreadable';
          }
          const isObject = typeof value === 'object' && !Array.isArray(value);
          if (!JSON.stringify(value).includes('__proto__')) expect(result.ok).toBe(isObject);
          if (result.ok) expect(result.value).toEqual(value ?? {});
        },
      ),
    );
  });
});

test('B40: an object is checked as it is, and text of it alike', async () => {
  const write = z.object({ path: z.string(), n: z.number() });
  const value = { path: 'a.txt', n: 1 };
  expect(await check(write, value)).toEqual({ ok: true, value });
  expect(await check(write, JSON.stringify(value))).toEqual({ ok: true, value });
});

describe('B41: data is never repaired', () => {
  test('an array in a text is refused where an array is wanted, and stays a text where a text is', async () => {
    expect(await issuesOf(z.object({ todos: z.array(z.unknown()) }), '{"todos":"[{\\"t\\":\\"x\\"}]"}')).toEqual([
      { path: 'todos', message: 'Invalid input: expected array, received string' },
    ]);
    const text = z.object({ text: z.string() });
    expect(await check(text, '{"text":"[1,2]"}')).toEqual({ ok: true, value: { text: '[1,2]' } });
    expect(await check(text, '{"text":"42"}')).toEqual({ ok: true, value: { text: '42' } });
  });

  test('arguments that are encoded twice are told so', async () => {
    expect((await issuesOf(z.object({ q: z.number() }), '"{\\"q\\":1}"'))[0]?.message).toContain(
      'do not encode the arguments twice',
    );
  });
});

test('B59: in the non-strict form fields may be left out, and null is only for what is nullable', async () => {
  const schema = z.object({
    q: z.string(),
    limit: z.number().optional(),
    page: z.number().default(1),
    tag: z.string().nullable(),
  });
  expect(await check(schema, { q: 'cats', tag: null })).toEqual({ ok: true, value: { q: 'cats', page: 1, tag: null } });
  expect(await issuesOf(schema, { q: 'cats', limit: null, tag: null })).toEqual([
    { path: 'limit', message: 'Invalid input: expected number, received null' },
  ]);
});

test('B62: recursive arguments are checked three levels deep', async () => {
  const Node = z.object({
    name: z.string(),
    get kids() {
      return z.array(Node);
    },
  });
  const leaf = (name: unknown) => ({ name, kids: [] });
  const tree = (name: unknown) => ({ name: 'a', kids: [{ name: 'b', kids: [leaf('c'), leaf(name)] }] });
  expect(await check(Node, tree('d'))).toEqual({ ok: true, value: tree('d') });
  expect(await issuesOf(Node, tree(4))).toMatchObject([{ path: 'kids[0].kids[1].name' }]);
});

describe('B63: asynchronous and failing checks', () => {
  const schema = z.object({ id: z.string().refine(async (id) => id === 'ok', 'must be "ok"') });

  test('an async refinement decides', async () => {
    expect(await check(schema, { id: 'ok' })).toEqual({ ok: true, value: { id: 'ok' } });
    expect(await issuesOf(schema, { id: 'no' })).toEqual([{ path: 'id', message: 'must be "ok"' }]);
  });

  test('a refinement that throws or rejects is an issue', async () => {
    const message = 'the check of the arguments failed: db is down';
    const throwing = z.object({
      id: z.string().refine(() => {
        throw new Error('db is down');
      }),
    });
    expect(await issuesOf(throwing, { id: 'x' })).toEqual([{ path: '', message }]);
    const rejecting = z.object({ id: z.string().refine(async () => Promise.reject(new Error('db is down'))) });
    expect(await issuesOf(rejecting, { id: 'x' })).toEqual([{ path: '', message }]);
  });

  test('a refinement runs once on input that fits, async or not', async () => {
    const seen: string[] = [];
    const note = (id: string) => seen.push(id) > 0;
    await check(z.object({ id: z.string().refine(note) }), { id: 'sync' });
    await check(z.object({ id: z.string().refine(async (id) => note(id)) }), { id: 'async' });
    expect(seen).toEqual(['sync', 'async']);
  });

  test('a validator that answers nonsense is an issue, not a throw', async () => {
    for (const answer of [undefined, null, 5, { issues: 7 }, { issues: [null] }, Promise.resolve()]) {
      const result = checkInput(() => answer as never, {});
      expect((await result).ok).toBe(false);
    }
  });

  test('a synchronous schema answers at once, without a promise', () => {
    for (const inputSchema of [query, type({ q: 'string' }), toStandardJsonSchema(v.object({ q: v.string() }))]) {
      expect(checkInput(createValidator(inputSchema), { q: 'x' })).toEqual({ ok: true, value: { q: 'x' } });
      expect(checkInput(createValidator(inputSchema), {})).toMatchObject({ ok: false });
    }
  });
});

describe('issues', () => {
  test('arktype and valibot name fields and expectations', async () => {
    expect(await issuesOf(type({ a: { b: 'string[]' } }), { a: { b: ['x', 1] } })).toEqual([
      { path: 'a.b[1]', message: 'a.b[1] must be a string (was a number)' },
    ]);
    const schema = toStandardJsonSchema(v.object({ a: v.object({ b: v.array(v.string()) }) }));
    expect(await issuesOf(schema, { a: { b: ['x', 1] } })).toEqual([
      { path: 'a.b[1]', message: 'Invalid type: Expected string but received 1' },
    ]);
  });

  test('a union tells what each option wanted', async () => {
    const schema = z.object({ 'odd key': z.union([z.string(), z.object({ a: z.number() })]) });
    expect(await issuesOf(schema, { 'odd key': { a: 'x' } })).toEqual([
      {
        path: '["odd key"]',
        message:
          'Invalid input; no option fits: Invalid input: expected string, received object | a: Invalid input: expected number, received string',
      },
    ]);
  });

  test('many issues are counted, not all told', async () => {
    const issues = await issuesOf(z.object({ n: z.array(z.number()) }), { n: Array.from({ length: 500 }, () => 'x') });
    expect(issues).toHaveLength(21);
    expect(issues[20]).toEqual({ path: '', message: 'and 480 more' });
  });

  test('a lone surrogate and a huge key do not get into an issue', async () => {
    const issues = await issuesOf(z.strictObject({}), { [`\ud83d${'k'.repeat(9_000)}`]: 1 });
    expect(issues[0]?.message.isWellFormed()).toBe(true);
    expect(issues[0]?.message.length).toBeLessThanOrEqual(500);
  });
});

describe('keys that set a prototype', () => {
  test.each(['{"__proto__":{"polluted":1}}', '{"a":[{"b":{"__proto__":{"polluted":1}}}]}', '{"\\u005f_proto__":1}'])(
    '%s is refused',
    async (text) => {
      for (const schema of [z.looseObject({}), { jsonSchema: { type: 'object' } }]) {
        for (const input of [text, JSON.parse(text)]) {
          expect((await issuesOf(schema, input))[0]?.message).toContain('"__proto__" is not allowed');
        }
      }
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  test('"constructor" is a key like any other', async () => {
    const result = await check(z.looseObject({}), '{"constructor":{"prototype":{"polluted":1}}}');
    expect(result).toEqual({ ok: true, value: { constructor: { prototype: { polluted: 1 } } } });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

test('R2: what a tool does to its input does not reach the history', async () => {
  const input = { list: [{ a: 1 }] };
  for (const schema of [z.object({ list: z.any() }), { jsonSchema: { type: 'object' } }]) {
    const result = await check(schema, input);
    if (result.ok) (result.value as typeof input).list.push({ a: 2 });
    expect(input).toEqual({ list: [{ a: 1 }] });
  }
});

test('input that is nested beyond the stack or circular is an issue', async () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  expect((await check(z.looseObject({}), circular)).ok).toBe(false);
  expect((await check(z.looseObject({}), `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).ok).toBe(false);
});

describe('a plain JSON schema', () => {
  const object = (properties: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
    jsonSchema: { type: 'object', properties, ...rest },
  });
  const N = {
    type: 'object',
    properties: { v: { type: 'number' }, k: { type: 'array', items: { $ref: '#/$defs/N' } } },
    required: ['v'],
  };

  test.each<[string, InputSchema, unknown, unknown]>([
    [
      'optional',
      object({ a: { type: 'string' }, b: { type: 'number' } }, { required: ['a'] }),
      { a: 'x', c: 1 },
      { b: 1 },
    ],
    ['nested', object({ o: object({ e: { enum: ['x', 1, null] } }).jsonSchema }), { o: { e: null } }, { o: { e: 2 } }],
    ['anyOf', object({ u: { anyOf: [{ type: 'string' }, { type: 'null' }] } }), { u: null }, { u: 3 }],
    ['closed', object({ a: {} }, { additionalProperties: false }), { a: 1 }, { b: 1 }],
    ['typed rest', object({}, { additionalProperties: { type: 'number' } }), { b: 1 }, { b: 'x' }],
    [
      '$defs',
      object({ n: { $ref: '#/$defs/N' } }, { $defs: { N } }),
      { n: { v: 1, k: [{ v: 2 }] } },
      { n: { v: 1, k: [{}] } },
    ],
    [
      'definitions',
      object({ n: { $ref: '#/definitions/S' } }, { definitions: { S: { type: 'string' } } }),
      { n: 's' },
      { n: 1 },
    ],
    [
      'self',
      object({ k: { type: 'array', items: { $ref: '#' } } }, { additionalProperties: false }),
      { k: [{ k: [] }] },
      { k: [{ z: 1 }] },
    ],
    ['pattern', object({ p: { type: 'string', pattern: '^a+$' } }), { p: 'aa' }, { p: 'b' }],
  ])('%s is checked', async (_name, schema, right, wrong) => {
    expect(await check(schema, right)).toEqual({ ok: true, value: right });
    expect((await check(schema, wrong)).ok).toBe(false);
  });

  test('only checks: a default fills nothing in', async () => {
    expect(await check(object({ a: { type: 'number', default: 3 } }), {})).toEqual({ ok: true, value: {} });
  });

  test.each<[string, Record<string, unknown>]>([
    ['if/then', JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}')],
    ['not', { properties: { a: { not: { type: 'string' } } } }],
    ['object const', { properties: { a: { const: { x: 1 } } } }],
    ['external reference', { properties: { a: { $ref: 'https://example.org/a' } } }],
  ])('%s, which zod can not convert, lets every object pass and nothing else', async (_name, rest) => {
    const schema = { jsonSchema: { type: 'object', ...rest } };
    expect(await check(schema, { a: { x: 1 } })).toEqual({ ok: true, value: { a: { x: 1 } } });
    expect((await check(schema, '[1]')).ok).toBe(false);
  });

  test('two schemas with one id are no clash', async () => {
    const schema = {
      jsonSchema: { id: 'Same', $id: 'Same', type: 'object', properties: { a: { type: 'string', id: 'S' } } },
    };
    expect((await check(schema, { a: 'x' })).ok).toBe(true);
    expect((await check(structuredClone(schema), { a: 1 })).ok).toBe(false);
  });

  test('validate gives the value, or refuses by a throw: issues are shown, else the message', async () => {
    const jsonSchema = { type: 'object' };
    expect(checkInput(createValidator({ jsonSchema, validate: (input) => ({ got: input['a'] }) }), '{"a":1}')).toEqual({
      ok: true,
      value: { got: 1 },
    });
    expect(await check({ jsonSchema, validate: async () => 7 }, {})).toEqual({ ok: true, value: 7 });
    expect(await issuesOf({ jsonSchema, validate: (input) => query.parse(input) }, {})).toMatchObject([{ path: 'q' }]);
    const refusing = async () => Promise.reject(new Error('a must be even'));
    expect((await issuesOf({ jsonSchema, validate: refusing }, {}))[0]?.message).toContain('a must be even');
  });
});
