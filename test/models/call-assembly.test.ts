import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCallAssembly } from '../../src/models/openai/call-assembly.ts';
import type { JsonValue } from '../../src/messages/json.ts';

const assembled = (lists: JsonValue[][], tools: string[] = []): [string, string, string][] => {
  const assembly = createCallAssembly(new Set(tools));
  for (const list of lists) assembly.add(list);
  return assembly.calls().map((call) => [call.id, call.name, call.text]);
};

const byId = ([a = '']: string[], [b = '']: string[]): number => a.localeCompare(b);

const callArbitrary = fc.record({
  name: fc.stringMatching(/^[a-z_]{1,12}$/),
  text: fc.dictionary(fc.string(), fc.jsonValue()).map((input) => JSON.stringify(input)),
  cuts: fc.array(fc.nat(200), { maxLength: 6 }),
});

const splitAt = (text: string, cuts: readonly number[]): string[] => {
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
};

/** Every call's pieces stay in order; which call comes next is for `picks` to say. */
const interleave = <T>(queues: T[][], picks: readonly number[]): T[] => {
  const rest = queues.map((queue) => [...queue]);
  const mixed: T[] = [];
  for (let turn = 0; rest.some((queue) => queue.length > 0); turn++) {
    const open = rest.filter((queue) => queue.length > 0);
    const next = open[(picks[turn % picks.length] ?? 0) % open.length]?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return mixed;
};

describe('call assembly', () => {
  const anyCalls = fc.array(callArbitrary, { minLength: 1, maxLength: 5 });
  const anyPicks = fc.array(fc.nat(4), { minLength: 1, maxLength: 20 });

  test('any calls, cut and interleaved in any way, come out as they were', () => {
    fc.assert(
      fc.property(anyCalls, anyPicks, fc.boolean(), fc.nat(3), (calls, picks, isNameRepeated, firstIndex) => {
        const queues = calls.map((call, position) => {
          const index = position + firstIndex;
          const opening = { index, id: `c${index}`, type: 'function', function: { name: call.name, arguments: '' } };
          const name = isNameRepeated ? call.name : '';
          const pieces = splitAt(call.text, call.cuts).map((text) => ({ index, function: { name, arguments: text } }));
          return [opening, ...pieces];
        });
        const lists = interleave(queues, picks).map((piece) => [piece]);
        const expected = calls.map((call, index) => [`c${index + firstIndex}`, call.name, call.text]);
        expect(assembled(lists).toSorted(byId)).toEqual(expected.toSorted(byId));
      }),
    );
  });

  test('any calls without an index, cut in any way, come out in order', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const pieces = calls.flatMap((call, index) =>
          splitAt(call.text, call.cuts).map((text, piece) =>
            piece === 0
              ? { id: `c${index}`, function: { name: call.name, arguments: text } }
              : { function: { arguments: text } },
          ),
        );
        const expected = calls.map((call, index) => [`c${index}`, call.name, call.text]);
        expect(assembled(pieces.map((piece) => [piece]))).toEqual(expected);
      }),
    );
  });

  test('whatever a server sends, nothing is thrown', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (lists) => {
        const assembly = createCallAssembly(new Set());
        for (const list of lists) assembly.add(JSON.parse(JSON.stringify(list)));
        assembly.calls();
      }),
    );
  });

  test('two calls of one list without index and id are two calls', () => {
    const list = [{ function: { name: 'f', arguments: '{"a":1}' } }, { function: { name: 'f', arguments: '{"a":2}' } }];
    expect(assembled([list])).toEqual([
      ['', 'f', '{"a":1}'],
      ['', 'f', '{"a":2}'],
    ]);
  });

  test('an id that comes late is taken', () => {
    const lists = [[{ index: 0, function: { name: 'f' } }], [{ index: 0, id: 'c1', function: { arguments: '{}' } }]];
    expect(assembled(lists)).toEqual([['c1', 'f', '{}']]);
  });

  test('a last piece that repeats id and name adds nothing', () => {
    const lists = [
      [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a":1}' } }],
      [{ index: 0, id: 'c1', function: { name: 'f', arguments: '' } }],
    ];
    expect(assembled(lists)).toEqual([['c1', 'f', '{"a":1}']]);
  });

  test('unknown fields of a call are kept, those of its function too', () => {
    const assembly = createCallAssembly(new Set());
    assembly.add([
      { index: 0, id: 'c1', extra_content: { google: { thought_signature: 'S' } }, function: { name: 'f', note: 1 } },
    ]);
    assembly.add([{ index: 0, function: { arguments: '{}' } }]);
    expect(assembly.calls()[0]?.extra).toEqual({
      extra_content: { google: { thought_signature: 'S' } },
      function: { note: 1 },
    });
  });
});
