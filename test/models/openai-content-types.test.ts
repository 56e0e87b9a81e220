import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/messages/message.ts';
import { completion, sse, startReplayServer } from '../support/replay-server.ts';
import { askStreamed } from './ask.ts';
import { failed, hi } from './played.ts';

const whole = JSON.stringify(completion({ role: 'assistant', content: 'hi' }));
const answer = async (body: string, type: string): Promise<string> => {
  const headers = { 'content-type': type };
  await using server = await startReplayServer([{ body, headers }]);
  return textOf((await askStreamed(server)).reply.message);
};

describe('what a server answers where a stream was asked for', () => {
  test.each(['application/json', 'Application/JSON', 'application/problem+json', 'text/plain', 'text/html'])(
    'a whole reply as %s is read as one',
    async (type) => {
      expect(await answer(whole, type)).toBe('hi');
      expect(await answer(`\uFEFF \r\n${whole}`, type)).toBe('hi');
    },
  );

  test.each(['text/event-stream', 'Text/Event-Stream; charset=utf-8', 'application/json', 'text/plain'])(
    'a stream as %s is read as one',
    async (type) => {
      expect(await answer(sse(hi), type)).toBe('hi');
      expect(await answer(`: busy\n\n${sse(hi)}`, type)).toBe('hi');
    },
  );

  test.each(['text/html', 'application/json'])('anything else as %s is a broken reply', async (type) => {
    const headers = { 'content-type': type };
    for (const body of ['', '<html>busy</html>', '{"oops', 'null'])
      expect(await failed({ body, headers })).toMatchObject({ code: 'model-stream-broken', transient: true });
  });
});
