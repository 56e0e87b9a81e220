import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ModelReply } from '../../src/models/chat-model.ts';
import { textOf } from '../../src/messages/message.ts';
import { startReplayServer, type ScriptedReply } from '../support/replay-server.ts';
import { ask, askStreamed, callParts, reasoningOf, thrownBy } from './ask.ts';

const folder = resolve(import.meta.dirname, '../../../shared/wire/chat');
const isThere = existsSync(folder);
const files = isThere ? readdirSync(folder).filter((name) => /(?<!expected)\.(json|sse)$/.test(name)) : [];
const recordings = files.filter((name) => !name.includes('error'));

interface Expected {
  text: string;
  reasoning: string;
  toolCalls: { id: string; name: string; arguments: string }[];
  finishReason: string;
  usage: { promptTokens: number; completionTokens: number; totalTokens: number };
}

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const expectedOf = (name: string): Expected => JSON.parse(read(`${name}.expected.json`));

/** Our reply in the words of the recordings. */
const described = (reply: ModelReply) => ({
  text: textOf(reply.message),
  reasoning: reasoningOf(reply),
  toolCalls: callParts(reply).map((part) => ({ id: part.toolCallId, name: part.toolName, arguments: part.input })),
  finishReason: reply.finishReason.replaceAll('-', '_'),
  usage: {
    promptTokens: reply.usage?.inputTokens,
    completionTokens: reply.usage?.outputTokens,
    totalTokens: reply.usage?.totalTokens,
  },
});

const parsed = ({ toolCalls, ...rest }: Expected) => ({
  ...rest,
  toolCalls: toolCalls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
});

const played = async (name: string, how: Pick<ScriptedReply, 'pieceSize'>): Promise<void> => {
  const expected = expectedOf(name);
  await using server = await startReplayServer([{ body: read(name), ...how }]);
  const { reply, chunks } = await askStreamed(server);
  expect(described(reply)).toEqual(parsed(expected));
  const joined = (type: string): string =>
    chunks.map((chunk) => (chunk.type === type && 'text' in chunk ? chunk.text : '')).join('');
  expect(joined('text-delta')).toBe(expected.text);
  expect(joined('reasoning-delta')).toBe(expected.reasoning);
  // The raw argument text, byte for byte as the provider sent it.
  expect(joined('tool-input-delta')).toBe(expected.toolCalls.map((call) => call.arguments).join(''));
};

describe.skipIf(!isThere)(isThere ? 'recordings of real providers' : `recordings SKIPPED: no ${folder}`, () => {
  test('there are whole and streamed ones', () => {
    expect(recordings.filter((name) => name.endsWith('.json')).length).toBeGreaterThan(10);
    expect(recordings.filter((name) => name.endsWith('.sse')).length).toBeGreaterThan(10);
  });

  test.each(recordings.filter((name) => name.endsWith('.json')))('%s, whole', async (name) => {
    await using server = await startReplayServer([{ json: JSON.parse(read(name)) }]);
    expect(described(await ask(server))).toEqual(parsed(expectedOf(name)));
  });

  const streams = recordings.filter((name) => name.endsWith('.sse'));
  test.each(streams)('%s, streamed', (name) => played(name, {}));
  test.each(streams)('%s, streamed event by event', (name) => played(name, { pieceSize: 'event' }));
  // What is long is cut as well in every way, in fewer pieces.
  test.each(streams)('%s, streamed in small pieces', (name) =>
    played(name, { pieceSize: read(name).length > 30_000 ? 61 : 7 }),
  );

  test('an error reply becomes a ModelError with the text of the provider', async () => {
    const name = 'reasoning-model-legacy-parameter-error.json';
    await using server = await startReplayServer([{ status: 400, json: JSON.parse(read(name)) }]);
    const { error } = JSON.parse(read(`${name}.expected.json`));
    expect(await thrownBy(ask(server))).toMatchObject({
      code: 'model-request-failed',
      message: error.message,
      status: 400,
      transient: false,
      providerCode: error.code,
    });
  });
});
