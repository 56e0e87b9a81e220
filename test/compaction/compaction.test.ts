import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Strategy,
  clearToolResults,
  compaction,
  estimateTokens,
  keepLast,
  summarize,
} from '../../src/compaction/index.ts';
import { type Message, textOf } from '../../src/messages/message.ts';
import { repairHistory } from '../../src/messages/history.ts';
import { violations } from '../../src/messages/violations.ts';
import type { Compacted, CompactionRequest } from '../../src/models/compaction.ts';
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts';
import { anyMessages, deepFreeze } from '../messages/arbitrary-history.ts';
import { results, transcript } from '../support/transcript.ts';

const user = (content: string): Message => ({ role: 'user', content });
const said = (content: string): Message => ({ role: 'assistant', content });
const system = (content: string): Message => ({ role: 'system', content });
const round = (id: string, ...values: string[]): Message[] => [
  {
    role: 'assistant',
    content: values.map((_, index) => ({
      type: 'tool-call',
      toolCallId: `${id}_${index}`,
      toolName: 'read',
      input: { id },
    })),
  },
  {
    role: 'tool',
    content: values.map((value, index) => ({
      type: 'tool-result',
      toolCallId: `${id}_${index}`,
      toolName: 'read',
      output: { type: 'text', value },
    })),
  },
];
/** `n` questions and answers. */
const talk = (n: number, from = 0): Message[] =>
  Array.from({ length: n }, (_, index) => [user(`q${index + from}`), said(`a${index + from}`)]).flat();

const never = new AbortController().signal;
const run = (
  strategies: Strategy[],
  messages: readonly Message[],
  {
    when = { tokens: 1 },
    ...request
  }: Partial<CompactionRequest> & { when?: { messages?: number; tokens?: number } } = {},
): Promise<Compacted> => {
  const { compact } = compaction({ when, strategies });
  return Promise.resolve(compact({ messages, model: scriptedModel([]), signal: never, ...request }));
};

describe('a window', () => {
  test('R49: the last messages stay, the first system message and the user’s message that they answer as well', async () => {
    const messages = [system('S'), ...talk(3), user('last'), ...round('c', 'x'), said('done')];
    const { messages: sent, by } = await run([keepLast({ messages: 1 })], messages);
    expect(transcript(sent)).toEqual(['system: S', 'user: last', 'assistant: done']);
    expect(by).toEqual(['keep-last']);
  });

  test.each([
    [1, ['system: S', 'user: q', 'assistant: read{"id":"b"} | read{"id":"b"}', 'tool: 3 | 4']],
    [3, ['system: S', 'user: q', 'assistant: read{"id":"b"} | read{"id":"b"}', 'tool: 3 | 4']],
    [
      4,
      [
        'system: S',
        'user: q',
        'assistant: read{"id":"a"}',
        'tool: 1',
        'assistant: read{"id":"b"} | read{"id":"b"}',
        'tool: 3 | 4',
      ],
    ],
  ])('B71: with %i messages kept a call and its results stay together', async (messages, expected) => {
    const given = [system('S'), ...talk(2), user('q'), ...round('a', '1'), ...round('b', '3', '4')];
    const { messages: sent } = await run([keepLast({ messages })], given);
    expect(transcript(sent)).toEqual(expected);
  });

  test('R49: rounds are replies with their results', async () => {
    const messages = [user('q'), ...round('a', '1'), ...round('b', '2'), ...round('c', '3')];
    const { messages: sent } = await run([keepLast({ rounds: 2 })], messages);
    expect(transcript(sent)).toEqual(['user: q', ...transcript(messages).slice(3)]);
    expect((await run([keepLast({ rounds: 3 })], messages)).messages).toEqual([messages[0], ...messages.slice(1)]);
    expect((await run([keepLast({ rounds: 4 })], messages)).messages).toEqual(messages);
  });

  test('R49: a call that a provider answers in a later reply is not parted from its result', async () => {
    const search = {
      type: 'tool-call',
      toolCallId: 'p',
      toolName: 'search',
      input: {},
      providerExecuted: true,
    } as const;
    const found = {
      type: 'tool-result',
      toolCallId: 'p',
      toolName: 'search',
      output: { type: 'text', value: 'x' },
    } as const;
    const messages: Message[] = [
      ...talk(1),
      user('q'),
      { role: 'assistant', content: [search] },
      ...round('a', '1'),
      { role: 'assistant', content: [found, { type: 'text', text: 'done' }] },
    ];
    const { messages: sent } = await run([keepLast({ messages: 1 })], messages);
    expect(violations(sent)).toEqual([]);
    expect(sent).toEqual(messages.slice(2));
  });

  test('R49: what was cut stays cut, and the window moves on when there is too much again', async () => {
    const strategies = [keepLast({ messages: 2 })];
    const when = { messages: 6 };
    const first = await run(strategies, talk(4), { when });
    expect(transcript(first.messages)).toEqual(['user: q3', 'assistant: a3']);
    const second = await run(strategies, talk(6), { when, memory: first.memory });
    expect(transcript(second.messages)).toEqual(transcript(talk(6).slice(6)));
    expect(second).toMatchObject({ by: [] });
    expect(second.memory).toBeUndefined();
    const third = await run(strategies, talk(7), { when, memory: first.memory });
    expect(transcript(third.messages)).toEqual(['user: q6', 'assistant: a6']);
  });
});

describe('clearing results', () => {
  test('R49: old results become a note, calls and short results stay', async () => {
    const long = 'x'.repeat(200);
    const messages = [user('q'), ...round('a', long, 'short'), ...round('b', long), said('done')];
    const { messages: sent } = await run([clearToolResults({ keep: { rounds: 2 } })], messages);
    expect(results(sent)).toEqual([expect.stringContaining('cleared'), 'short', long]);
    expect(sent).toHaveLength(messages.length);
    expect(violations(sent)).toEqual([]);
    expect(results(messages)[0]).toBe(long);
  });

  test('R49: where there is nothing to clear nothing is done', async () => {
    const { by, memory } = await run(
      [clearToolResults({ keep: { messages: 1 } })],
      [user('q'), ...round('a', 'x'), ...talk(2)],
    );
    expect({ by, memory }).toEqual({ by: [], memory: undefined });
  });

  test('R49: the same message is cleared to the same object, so that caches hold', async () => {
    const messages = [user('q'), ...round('a', 'x'.repeat(200)), ...round('b', 'y')];
    const { compact } = compaction({ when: { messages: 1 }, strategies: [clearToolResults({ keep: { rounds: 1 } })] });
    const request = { messages, model: scriptedModel([]), signal: never };
    const first = await compact(request);
    const second = await compact({ ...request, memory: first.memory });
    expect(second.messages[2]).toBe(first.messages[2]);
    expect(results(second.messages)[0]).toContain('cleared');
  });
});

describe('a summary', () => {
  const summary = (answers: readonly ScriptedAnswer[]) => {
    const model = scriptedModel(answers);
    const strategies = [summarize({ model, keep: { messages: 2 } })];
    return {
      model,
      run: (messages: readonly Message[], memory?: Compacted['memory']) =>
        run(strategies, messages, { when: { messages: 5 }, memory }),
    };
  };

  test('R49: it is made once, kept, and grows by what has become old since', async () => {
    const made = summary(['N1', 'N2']);
    const first = await made.run([system('S'), ...talk(3)]);
    expect(transcript(first.messages)).toEqual([
      'system: S',
      expect.stringMatching(/^user: Notes .*\n\nN1$/s),
      'user: q2',
      'assistant: a2',
    ]);
    const second = await made.run([system('S'), ...talk(3), user('q3')], first.memory);
    expect(transcript(second.messages).slice(1)).toEqual([
      expect.stringContaining('N1'),
      'user: q2',
      'assistant: a2',
      'user: q3',
    ]);
    expect(made.model.requests).toHaveLength(1);
    const third = await made.run([system('S'), ...talk(6)], second.memory ?? first.memory);
    expect(transcript(third.messages).slice(1)).toEqual([expect.stringContaining('N2'), 'user: q5', 'assistant: a5']);
    const [one, two] = made.model.requests.map(({ messages }) => textOf(messages[0] ?? user('')));
    for (const text of ['user: q0', 'assistant: a1']) expect(one).toContain(text);
    expect(one).not.toMatch(/system: S|q2/);
    expect(two).toMatch(/N1.*user: q2.*assistant: a4/s);
    expect(two).not.toMatch(/q1|q5/);
    expect(JSON.stringify(third.memory).length).toBeLessThan(200);
    made.model.assertFinished();
  });

  test.each<[string, ScriptedAnswer]>([
    ['that fails', new Error('down')],
    ['that says nothing', ' '],
    ['that is cut off', { text: 'half', finishReason: 'length' }],
    ['that is refused', { text: 'no', finishReason: 'content-filter' }],
    ['that the model declines', { text: 'I cannot help with that.', refusal: 'I cannot help with that.' }],
  ])('R49: a model call %s changes nothing, and is told', async (_, answer) => {
    const made = summary([answer]);
    const messages = talk(4);
    const { messages: sent, by, memory, errors } = await made.run(messages);
    expect(sent).toEqual(messages);
    expect({ by, memory }).toEqual({ by: [], memory: undefined });
    expect(errors).toHaveLength(1);
  });

  test('R49: after a failed summary the next strategy has its turn', async () => {
    const model = scriptedModel([new Error('down')]);
    const strategies = [summarize({ model, keep: { messages: 2 } }), keepLast({ messages: 4 })];
    const { messages, by, errors } = await run(strategies, talk(5), { when: { messages: 8 } });
    expect(transcript(messages)).toEqual(transcript(talk(5).slice(6)));
    expect(by).toEqual(['keep-last']);
    expect(errors).toHaveLength(1);
  });

  test('B73: an orphan call in the middle is mended before anything is sent or summed up', async () => {
    const made = summary(['N1']);
    const orphan = round('c', 'x').slice(0, 1);
    const { messages } = await made.run([user('q'), ...orphan, user('go on'), ...talk(2)]);
    expect(violations(messages)).toEqual([]);
    expect(textOf(made.model.requests[0]?.messages[0] ?? user(''))).toContain('interrupted');
    expect(violations(made.model.requests[0]?.messages ?? [])).toEqual([]);
  });

  test('R49: the model that the agent asks is the default; calls, files and long results are told in short', async () => {
    const model = scriptedModel(['N']);
    const file = { type: 'file', data: 'aGk=', mediaType: 'image/png' } as const;
    const messages: Message[] = [{ role: 'user', content: [file] }, ...round('c', 'x'.repeat(9000)), ...talk(1)];
    await run([summarize({ keep: { messages: 1 } })], messages, { model });
    const text = textOf(model.requests[0]?.messages[0] ?? user(''));
    expect(text).toMatch(/\[file: image\/png\].*\[calls read: \{"id":"c"\}\].*\[read gave: xxx/s);
    expect(text.length).toBeLessThan(5000);
  });

  test('an abort while it is made is no failure of it', async () => {
    const stop = new AbortController();
    const model = scriptedModel([
      () => {
        stop.abort(new Error('stopped'));
        throw new Error('aborted');
      },
    ]);
    const running = run([summarize({ model, keep: { messages: 1 } })], talk(2), { signal: stop.signal });
    await expect(running).rejects.toThrow('stopped');
  });
});

describe('what is kept of it', () => {
  test('R49: it finds its place again where messages have come before it, and is dropped where its place is gone', async () => {
    const strategies = [keepLast({ messages: 2 })];
    const when = { messages: 6 };
    const { memory } = await run(strategies, talk(4), { when });
    const shifted = await run(strategies, [user('new'), ...talk(4), user('q')], { when, memory });
    expect(transcript(shifted.messages)).toEqual(['user: q3', 'assistant: a3', 'user: q']);
    const gone = await run(strategies, talk(2, 100), { when, memory });
    expect(gone.messages).toEqual(talk(2, 100));
  });

  test.each([null, 1, 'x', {}, { reaches: 1 }, { reaches: [null, { name: 'keep-last' }], counted: 'x' }])(
    'what another compaction kept is nothing to it: %j',
    async (memory) => {
      const { messages } = await run([keepLast({ messages: 2 })], talk(2), { when: { messages: 9 }, memory });
      expect(messages).toEqual(talk(2));
    },
  );
});

describe('when', () => {
  const strategies = [keepLast({ messages: 2 })];
  const usage = { inputTokens: 90, outputTokens: 10 };

  test.each([
    ['what the provider counted and what is new is more', { tokens: 100 }, usage, true],
    ['it is not', { tokens: 120 }, usage, false],
    ['nobody has counted, and the guess is more', { tokens: 25 }, undefined, true],
    ['the guess is not', { tokens: 1000 }, undefined, false],
    ['one of two bounds is passed', { tokens: 1000, messages: 4 }, undefined, true],
  ])('R49: %s', async (_, when, counted, isShorter) => {
    const messages = [...talk(2), user('a question of some length')];
    const { messages: sent } = await run(strategies, messages, { when, usage: counted });
    expect(sent.length < messages.length).toBe(isShorter);
  });

  test('R49: a tokenizer of the application is asked in place of both', async () => {
    const countTokens = (messages: readonly Message[]): number => messages.length * 10;
    const given = { messages: talk(3), model: scriptedModel([]), signal: never, usage: { inputTokens: 1_000_000 } };
    for (const [tokens, length] of [
      [60, 6],
      [59, 2],
    ] as const) {
      const { compact } = compaction({ when: { tokens }, strategies, countTokens });
      expect((await compact(given)).messages).toHaveLength(length);
    }
  });

  test('R49: what was counted before the last cut is not taken for what is sent now', async () => {
    const counted = { inputTokens: 900, outputTokens: 100 };
    const when = { tokens: 500 };
    const first = await run([keepLast({ messages: 4 })], talk(4), { when, usage: counted });
    expect(first.by).toEqual(['keep-last']);
    const again = await run([keepLast({ messages: 4 })], talk(5), { when, usage: counted, memory: first.memory });
    expect(again.by).toEqual([]);
    expect(again.messages).toHaveLength(6);
  });

  test('R49: the strategies go on in order, as far as it needs', async () => {
    const long = 'x'.repeat(4000);
    const messages = [user('q'), ...round('a', long), ...round('b', 'y'), ...talk(2)];
    const both = [clearToolResults({ keep: { rounds: 1 } }), keepLast({ messages: 2 })];
    expect((await run(both, messages, { when: { tokens: 500 } })).by).toEqual(['clear-tool-results']);
    expect((await run(both, messages, { when: { tokens: 20 } })).by).toEqual(['clear-tool-results', 'keep-last']);
    expect((await run(both, messages, { when: { tokens: 9000 }, isTooLong: true })).by).toHaveLength(2);
  });

  test('the estimate counts text, calls, results and files', () => {
    const file = { type: 'file', data: 'aGk=', mediaType: 'image/png' } as const;
    expect(estimateTokens([user('x'.repeat(400))])).toBe(104);
    expect(estimateTokens([{ role: 'user', content: [file] }])).toBe(1004);
    expect(estimateTokens(round('a', 'x'.repeat(400)))).toBeGreaterThan(110);
  });
});

test.each([
  [{ when: {}, strategies: [keepLast({ messages: 1 })] }, 'when'],
  [{ when: { tokens: 0 }, strategies: [keepLast({ messages: 1 })] }, 'when.tokens'],
  [{ when: { words: 1 }, strategies: [keepLast({ messages: 1 })] }, 'when.words'],
  [{ when: { tokens: 1 }, strategies: [] }, 'strategies'],
  [{ when: { tokens: 1 }, strategies: [keepLast({ messages: 1 }), keepLast({ rounds: 1 })] }, 'keep-last'],
  [{ when: { messages: 10 }, strategies: [keepLast({ messages: 10 })] }, 'when.messages'],
])('R1: an option out of bounds is refused with its name: %j', (options, named) => {
  expect(() => compaction(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }));
  expect(() => compaction(options as never)).toThrow(named);
});

test.each([undefined, {}, { messages: 0 }, { messages: 1.5 }, { messages: 1, rounds: 1 }, { words: 1 }])(
  'R1: what is to be kept must be said: %j',
  (keep) => {
    for (const make of [() => keepLast(keep as never), () => summarize({ keep: keep as never })]) {
      expect(make).toThrow(expect.objectContaining({ code: 'invalid-option' }));
    }
  },
);

test('R49: whatever the history and the strategies, what is sent is whole, ends as it did, and nothing is changed', async () => {
  const keep = fc.oneof(
    fc.record({ messages: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ rounds: fc.integer({ min: 1, max: 3 }) }),
  );
  await fc.assert(
    fc.asyncProperty(anyMessages, anyMessages, keep, keep, keep, async (given, more, a, b, c) => {
      const model = scriptedModel(Array.from({ length: 4 }, () => 'notes'));
      const strategies = [clearToolResults({ keep: a }), summarize({ model, keep: b }), keepLast(c)];
      const first = await run(strategies, deepFreeze(given), { isTooLong: true });
      for (const messages of [given, [...given, ...more]]) {
        const { messages: sent } = await run(strategies, deepFreeze(messages), {
          memory: first.memory,
          isTooLong: true,
        });
        const whole = repairHistory(messages);
        expect(violations(sent)).toEqual([]);
        expect(sent.at(-1)?.role).toEqual(whole.at(-1)?.role);
        for (const role of ['system', 'user'] as const) {
          const must =
            role === 'system' ? whole.find((each) => each.role === role) : whole.findLast((each) => each.role === role);
          if (must !== undefined) expect(sent).toContain(must);
        }
      }
    }),
    { numRuns: 200 },
  );
});
