import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelChunk } from '../../../src/models/chat-model.ts';
import { createResponseAssembly } from '../../../src/models/openai/responses/response-assembly.ts';
import type { JsonObject } from '../../../src/messages/json.ts';
import { partsOf, textOf } from '../../../src/messages/message.ts';
import { added, call, completed, customCall, done, type Item, message, piece, reasoning } from './events.ts';
import { joined } from './ask.ts';

const json = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

/** In pieces of whole characters, as servers do. */
const splitAt = (whole: string, cuts: readonly number[]): string[] => {
  const text = Array.from(whole);
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end).join(''));
};

type Kind = 'message' | 'reasoning' | 'call' | 'custom';

interface Said {
  kind: Kind;
  text: string;
  cuts: number[];
  /** Which of the events that repeat what was said are sent. */
  repeats: { text: boolean; item: boolean };
}

const kinds: Record<Kind, { make: (text: string, index: number) => Item; name: string; field: string }> = {
  message: { make: (text, index) => message(text, { id: `m${index}` }), name: 'output_text', field: 'text' },
  reasoning: {
    make: (text, index) => reasoning(text, { id: `r${index}` }),
    name: 'reasoning_summary_text',
    field: 'text',
  },
  call: { make: (text, index) => call('f', text, `c${index}`), name: 'function_call_arguments', field: 'arguments' },
  custom: { make: (text, index) => customCall('g', text, `c${index}`), name: 'custom_tool_call_input', field: 'input' },
};

const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const anySaid: fc.Arbitrary<Said> = fc.record({
  kind: fc.constantFrom<Kind>('message', 'reasoning', 'call', 'custom'),
  text: anyText,
  cuts: fc.array(fc.nat(200), { maxLength: 6 }),
  repeats: fc.record({ text: fc.boolean(), item: fc.boolean() }),
});

const queueOf = ({ kind, text, cuts, repeats }: Said, index: number): Item[] => {
  const { make, name, field } = kinds[kind];
  return [
    added(index, { ...make('', index), ...(kind === 'message' ? { content: [] } : {}) }),
    ...splitAt(text, cuts).map((each) => piece(index, name, each, { item_id: make('', index)['id'] })),
    ...(repeats.text ? [{ type: `response.${name}.done`, output_index: index, [field]: text }] : []),
    ...(repeats.item ? [done(index, make(text, index))] : []),
  ];
};

/** Every item's events stay in order, and items begin in order; which comes next is for `picks` to say. */
const interleave = (queues: Item[][], picks: readonly number[]): Item[] => {
  const rest = queues.map((queue) => [...queue]);
  const mixed = rest.flatMap((queue) => queue.splice(0, 1));
  for (let turn = 0; rest.some((queue) => queue.length > 0); turn++) {
    const open = rest.filter((queue) => queue.length > 0);
    const next = open[(picks[turn % picks.length] ?? 0) % open.length]?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return mixed;
};

test('any items, cut and interleaved in any way, with or without repeats, come out as they were', () => {
  const anyPicks = fc.array(fc.nat(4), { minLength: 1, maxLength: 20 });
  const anyItems = fc.array(anySaid, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(anyItems, anyPicks, fc.boolean(), (said, picks, isLastEmpty) => {
      const items = said.map(({ kind, text }, index) => kinds[kind].make(text, index));
      const assembly = createResponseAssembly('p');
      const chunks: ModelChunk[] = [];
      const events = [...interleave(said.map(queueOf), picks), completed(isLastEmpty ? [] : items)];
      for (const event of events) chunks.push(...assembly.add(json(event)));
      expect(assembly.isComplete()).toBe(true);

      const whole = createResponseAssembly('p');
      const atOnce = whole.add(json({ output: items }));
      const { message: reply } = assembly.reply();
      expect(textOf(reply)).toBe(textOf(whole.reply().message));
      const shape = (parts: typeof reply): unknown[] =>
        partsOf(parts).map((part) => ({ ...part, providerOptions: undefined }));
      expect(shape(reply)).toEqual(shape(whole.reply().message));
      const texts = (kind: Kind): string => said.map((each) => (each.kind === kind ? each.text : '')).join('');
      // Two messages at once are told as they come; one alone, and everything in sum, is told as it is.
      const units = (text: string): string => Array.from(text).toSorted().join('');
      const told = (kind: Kind, text: string): void => {
        const isAlone = said.filter((each) => each.kind === kind).length === 1;
        expect(isAlone ? text : units(text)).toBe(isAlone ? texts(kind) : units(texts(kind)));
      };
      told('message', joined(chunks, 'text-delta'));
      told('reasoning', joined(chunks, 'reasoning-delta'));
      const calls = said.filter(({ kind }) => kind === 'call' || kind === 'custom');
      calls.forEach(({ text }, index) => {
        const own = chunks.filter((chunk) => chunk.type === 'tool-input-delta' && chunk.index === index);
        expect(joined(own, 'tool-input-delta')).toBe(text);
      });
      expect(joined(atOnce, 'text-delta')).toBe(texts('message'));
    }),
    { numRuns: 200 },
  );
});

test('whatever a server sends, nothing but a ModelError is thrown', () => {
  const type = fc.constantFrom(
    'response.created',
    'response.output_item.added',
    'response.output_item.done',
    'response.output_text.delta',
    'response.function_call_arguments.done',
    'response.completed',
    'response.failed',
    'error',
  );
  const item = fc.record(
    {
      type: fc.constantFrom('message', 'reasoning', 'function_call', 'x_call', 'x'),
      id: fc.jsonValue(),
      content: fc.jsonValue(),
      name: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const anyEvent = fc.record(
    {
      type,
      output_index: fc.jsonValue(),
      item: fc.oneof(item, fc.jsonValue()),
      delta: fc.jsonValue(),
      response: fc.oneof(fc.record({ output: fc.array(item) }), fc.jsonValue()),
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(fc.array(anyEvent), (list) => {
      const assembly = createResponseAssembly('p');
      try {
        for (const event of list) assembly.add(json(event));
        assembly.reply();
      } catch (error) {
        expect(error).toMatchObject({ name: 'ModelError' });
      }
    }),
  );
});
