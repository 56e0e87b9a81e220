import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../src/messages/message.ts';
import type { JsonObject } from '../../src/messages/json.ts';
import { portableSchema } from '../../src/models/openai/schema-walk.ts';
import { dropOptionalNulls, strictSchema } from '../../src/models/openai/strict-schema.ts';
import { completion, startReplayServer, wholeCall } from '../support/replay-server.ts';
import { ask, callsIn } from './ask.ts';
import { sent } from './sent.ts';

const jsonSchema = (schema: z.ZodType): JsonObject =>
  JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })));

const search = z.object({
  q: z.string(),
  limit: z.number().optional(),
  page: z.number().default(1),
  tag: z.string().nullable(),
});
const tool = { name: 'search', inputSchema: jsonSchema(search) };

/** Every object schema in a schema. */
const objects = (value: unknown): JsonObject[] => {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'properties' in value && 'type' in value ? [JSON.parse(JSON.stringify(value))] : [];
  return [...own, ...Object.values(value).flatMap(objects)];
};

describe('strict tools', () => {
  test('B59: strict on: nulls of optional fields do not reach the tool, a null that is meant does', async () => {
    const args = '{"q":"cats","limit":null,"page":null,"tag":null}';
    const json = completion({ tool_calls: [wholeCall('c1', 'search', args)] }, 'tool_calls');
    await using server = await startReplayServer([{ json }]);
    const [[, , input] = []] = callsIn(await ask(server, { tools: [tool] }, { strict: true }));
    expect(input).toEqual({ q: 'cats', tag: null });
    expect(search.parse(input)).toEqual({ q: 'cats', page: 1, tag: null });
  });

  test('B59: strict off: arguments are left alone, and no strict is sent', async () => {
    const json = completion({ tool_calls: [wholeCall('c1', 'search', '{"q":"cats","tag":null}')] });
    await using server = await startReplayServer([{ json }]);
    expect(callsIn(await ask(server, { tools: [tool] }))).toEqual([['c1', 'search', { q: 'cats', tag: null }]]);
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain('strict');
  });

  test('B59: every property is required and no other allowed, at every level', async () => {
    const nested = z.object({
      list: z.array(z.object({ a: z.string().optional() })).optional(),
      either: z.discriminatedUnion('type', [
        z.object({ type: z.literal('once') }),
        z.object({ type: z.literal('weekly'), day: z.number().optional() }),
      ]),
    });
    const body = await sent({ tools: [{ name: 'n', inputSchema: jsonSchema(nested) }] }, { strict: true });
    expect(body).toMatchObject({ tools: [{ function: { strict: true } }] });
    const found = objects(body['tools']).filter((schema) => schema.type === 'object');
    expect(found).toHaveLength(4);
    for (const schema of found) {
      expect(schema.additionalProperties).toBe(false);
      expect(schema.required).toEqual(Object.keys(Object(schema.properties)));
    }
  });

  test('no default and no oneOf goes out in strict mode; an optional field may be null', () => {
    expect(strictSchema(tool.inputSchema)).toEqual({
      type: 'object',
      properties: {
        q: { type: 'string' },
        limit: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        page: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        tag: { type: ['string', 'null'] },
      },
      required: ['q', 'limit', 'page', 'tag'],
      additionalProperties: false,
    });
  });

  test('a tool that strict mode cannot describe goes out as it is, beside the others', async () => {
    const open = jsonSchema(z.object({ headers: z.record(z.string(), z.string()) }));
    const tools = [{ name: 'open', inputSchema: open }, tool];
    expect(await sent({ tools }, { strict: true })).toMatchObject({
      tools: [{ function: { name: 'open', strict: false } }, { function: { name: 'search', strict: true } }],
    });
    expect(strictSchema({ type: 'object', properties: { any: { description: 'any' } } })).toBeUndefined();
  });

  test('B60: nested unions go out as anyOf, without $schema', () => {
    const union = z.object({ r: z.discriminatedUnion('type', [z.object({ type: z.literal('once') })]) });
    const schema = portableSchema(jsonSchema(union));
    expect(JSON.stringify(schema)).not.toMatch(/oneOf|\$schema/);
    expect(JSON.stringify(schema)).toContain('anyOf');
  });

  test('a property that is named like a keyword is left alone', () => {
    const schema = { type: 'object', properties: { oneOf: { type: 'string', default: { oneOf: [1] } } } };
    expect(portableSchema(schema)).toEqual(schema);
  });

  test('nulls are dropped in lists, unions, references and recursions, and only where they stand for "not given"', () => {
    const Node = z.object({
      name: z.string(),
      note: z.string().optional(),
      blank: z.string().nullable().optional(),
      get kids() {
        return z.array(Node).optional();
      },
    });
    const value = { name: 'a', note: null, blank: null, kids: [{ name: 'b', note: null, blank: null, kids: null }] };
    expect(dropOptionalNulls(value, jsonSchema(Node))).toEqual({
      name: 'a',
      blank: null,
      kids: [{ name: 'b', blank: null }],
    });
    const union = z.object({
      r: z.discriminatedUnion('type', [
        z.object({ type: z.literal('a'), x: z.number().nullable() }),
        z.object({ type: z.literal('b'), x: z.number().optional() }),
      ]),
    });
    expect(dropOptionalNulls({ r: { type: 'a', x: null } }, jsonSchema(union))).toEqual({ r: { type: 'a', x: null } });
    expect(dropOptionalNulls({ r: { type: 'b', x: null } }, jsonSchema(union))).toEqual({ r: { type: 'b' } });
  });

  test('strict output: the text of the answer is as the schema of the caller knows it', async () => {
    const text = '{"q":"cats","limit":null,"page":2,"tag":null}';
    await using server = await startReplayServer([{ json: completion({ content: text }) }]);
    const output = { name: 'out', schema: tool.inputSchema };
    const reply = await ask(server, { output }, { strict: true });
    expect(JSON.parse(textOf(reply.message))).toEqual({ q: 'cats', page: 2, tag: null });
    expect(server.requests[0]?.body).toMatchObject({ response_format: { json_schema: { name: 'out', strict: true } } });
  });
});
