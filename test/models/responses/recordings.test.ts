import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAgent, memoryStore, tool } from '../../../src/index.ts';
import { partsOf, textOf } from '../../../src/messages/message.ts';
import type { ModelReply } from '../../../src/models/chat-model.ts';
import { startReplayServer, type ScriptedReply } from '../../support/replay-server.ts';
import { callParts, reasoningOf, thrownBy } from '../ask.ts';
import { ask, askStreamed, inputOf, joined, modelOf, strictServer } from './ask.ts';

const folder = resolve(import.meta.dirname, '../../../../shared/wire/responses');
const isThere = existsSync(folder);
const files = isThere ? readdirSync(folder).toSorted() : [];
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

interface Entry {
  type: string;
  text?: string;
}
interface Item {
  id: string;
  type: string;
  call_id?: string;
  name?: string;
  arguments?: string;
  input?: string;
  phase?: string;
  encrypted_content?: string;
  content?: Entry[];
  summary?: Entry[];
}
interface Whole {
  model: string;
  output: Item[];
  usage: Record<'input_tokens' | 'output_tokens' | 'total_tokens', number> & {
    input_tokens_details: { cached_tokens: number };
    output_tokens_details: { reasoning_tokens: number };
  };
}

/** The streams of a file: some hold several replies of one conversation, one after the other. */
const streamsIn = (name: string): string[] =>
  read(name)
    .split(/(?=^event: response\.created$)/m)
    .filter((text) => text.trim() !== '');

/** What a stream says at its end. */
const endOf = (stream: string): Whole => {
  const line = stream.split('\n').findLast((each) => each.startsWith('data: {"type":"response.completed"'));
  return JSON.parse(line?.slice('data: '.length) ?? '{}').response;
};

const texts = (entries: Entry[] = []): string[] => entries.map((entry) => entry.text ?? '');
const ofType = ({ output }: Whole, type: RegExp): Item[] => output.filter((item) => type.test(item.type));

const argumentsIn = ({ arguments: args, input }: Item): string => args ?? input ?? '';

/** What a recording says, in our words, read without the code that is tested. */
const expected = (whole: Whole) => {
  const calls = ofType(whole, /^(function|custom_tool)_call$/);
  return {
    text: ofType(whole, /^message$/)
      .flatMap((item) => texts(item.content))
      .join(''),
    reasoning: ofType(whole, /^reasoning$/)
      .flatMap((item) => [...texts(item.summary), ...texts(item.content)])
      .join(''),
    calls: calls.map((item) => [
      item.call_id,
      item.name,
      item.arguments === undefined ? { input: item.input } : JSON.parse(item.arguments),
    ]),
    ids: whole.output.map((item) => item.id),
    finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
    model: whole.model,
    usage: {
      inputTokens: whole.usage.input_tokens,
      outputTokens: whole.usage.output_tokens,
      totalTokens: whole.usage.total_tokens,
      cachedInputTokens: whole.usage.input_tokens_details.cached_tokens,
      reasoningTokens: whole.usage.output_tokens_details.reasoning_tokens,
    },
  };
};

const idOf = (part: object): unknown => JSON.parse(JSON.stringify(part)).providerOptions['scripted.responses'].item.id;

const described = (reply: ModelReply) => ({
  text: textOf(reply.message),
  reasoning: reasoningOf(reply),
  calls: callParts(reply).map((part) => [part.toolCallId, part.toolName, part.input]),
  ids: partsOf(reply.message).map(idOf),
  finishReason: reply.finishReason,
  model: reply.model,
  usage: reply.usage,
});

const playedAs = async (name: string, how: Pick<ScriptedReply, 'pieceSize'>): Promise<void> => {
  for (const stream of streamsIn(name)) {
    const whole = endOf(stream);
    await using server = await startReplayServer([{ body: stream, ...how }]);
    const { reply, chunks } = await askStreamed(server);
    expect(described(reply)).toEqual(expected(whole));
    expect(joined(chunks, 'text-delta')).toBe(expected(whole).text);
    expect(joined(chunks, 'reasoning-delta')).toBe(expected(whole).reasoning);
    expect(joined(chunks, 'tool-input-delta')).toBe(
      ofType(whole, /^(function|custom_tool)_call$/)
        .map(argumentsIn)
        .join(''),
    );
  }
};

describe.skipIf(!isThere)(isThere ? 'recordings of Responses' : `recordings SKIPPED: no ${folder}`, () => {
  const wholes = files.filter((name) => name.endsWith('.json') && !name.includes('error'));
  const streams = files.filter((name) => name.endsWith('.sse') && !name.includes('error'));

  test('there are whole and streamed ones', () => {
    expect(wholes.length).toBeGreaterThan(4);
    expect(streams.length).toBeGreaterThan(5);
  });

  test.each(wholes)('%s, whole', async (name) => {
    await using server = await startReplayServer([{ json: JSON.parse(read(name)) }]);
    expect(described(await ask(server))).toEqual(expected(JSON.parse(read(name))));
  });

  test.each(streams)('%s, streamed', (name) => playedAs(name, {}));
  test.each(streams)('%s, streamed event by event', (name) => playedAs(name, { pieceSize: 'event' }));
  test.each(streams)('%s, streamed in pieces of 7 bytes', (name) => playedAs(name, { pieceSize: 7 }));

  test.each(['openai-error.1.json', 'openai-error.1.sse'])(
    'R40, R41: %s fails with the text of the provider',
    async (name) => {
      const json = name.endsWith('.json');
      const { error } = JSON.parse(read('openai-error.1.json'));
      await using server = await startReplayServer([json ? { status: 429, json: { error } } : { body: read(name) }]);
      expect(await thrownBy(askStreamed(server))).toMatchObject({
        code: 'model-request-failed',
        message: error.message,
        providerCode: 'insufficient_quota',
        transient: false,
      });
    },
  );

  test('R44: what was recorded goes back as it came, item by item', async () => {
    for (const name of [...wholes, ...streams]) {
      const bodies = name.endsWith('.json') ? [read(name)] : streamsIn(name);
      for (const body of bodies) {
        const { output }: Whole = name.endsWith('.json') ? JSON.parse(body) : endOf(body);
        const first = name.endsWith('.json') ? { json: JSON.parse(body) } : { body };
        await using server = await strictServer([first, { json: { output: [] } }]);
        const { reply } = await askStreamed(server);
        const stored = JSON.parse(JSON.stringify(reply.message));
        const results = callParts(reply).map((part) => ({
          ...part,
          type: 'tool-result',
          output: { type: 'text', value: 'x' },
        }));
        const tools = results.length === 0 ? [] : [JSON.parse(JSON.stringify({ role: 'tool', content: results }))];
        await ask(server, {
          messages: [{ role: 'user', content: 'go' }, stored, ...tools, { role: 'user', content: 'on' }],
        });
        const echoed = inputOf(server.requests[1]).slice(1, 1 + output.length);
        const plain = (item: unknown): unknown =>
          JSON.parse(
            JSON.stringify(item, (key, value: unknown) =>
              key === 'logprobs' || (key === 'encrypted_content' && name.endsWith('.sse')) ? undefined : value,
            ),
          );
        expect(echoed.map(plain)).toEqual(output.map(plain));
      }
    }
  });

  test('R44: a whole conversation: encrypted thoughts and calls go back with each request, through save and load', async () => {
    const bodies = streamsIn('openai-reasoning-encrypted-content.1.sse');
    await using server = await strictServer(bodies.map((body) => ({ json: endOf(body) })));
    const calculator = tool({
      name: 'calculator',
      description: 'Computes.',
      inputSchema: z.object({ a: z.number(), b: z.number(), op: z.enum(['add', 'multiply']) }),
      needsApproval: true,
      execute: ({ a, b, op }) => (op === 'add' ? a + b : a * b),
    });
    const agentOf = () =>
      createAgent({ model: modelOf(server, { store: false }), tools: [calculator], store: memoryStore() });
    const agent = agentOf();
    let result = await agent.run('12 plus 7, times 3, times 10', { session: 'kept' });
    let document = (await agent.open('kept')).toJSON();
    for (let round = 0; result.outcome.type === 'pending' && round < 9; round++) {
      // Another process each time: the session as text, opened by an agent that has never seen it.
      await using session = agentOf().restore(JSON.parse(JSON.stringify(document)));
      for (const { callId } of session.pending) await session.approve(callId);
      result = await session.settled();
      document = session.toJSON();
    }
    expect(result.outcome).toMatchObject({ type: 'answered' });
    expect(result.text).toBe('The final result is **570**.');
    const types = inputOf(server.requests.at(-1)).map((item) => item['type'] ?? item['role']);
    const round = ['function_call', 'function_call_output'];
    expect(types).toEqual(['user', 'reasoning', ...round, ...round, ...round]);
    const [, thought, first] = inputOf(server.requests.at(-1));
    expect(thought).toMatchObject({ id: expect.stringMatching(/^rs_/), encrypted_content: expect.any(String) });
    expect(first).toMatchObject({ id: expect.stringMatching(/^fc_/), call_id: expect.stringMatching(/^call_/) });
    expect(server.requests[0]?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
  });
});
