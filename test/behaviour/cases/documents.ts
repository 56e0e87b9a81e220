import { describe, expect, test } from 'vitest';
import type { SessionDocument } from '../../../src/documents/document.ts';
import { createAgent } from '../../../src/sessions/create-agent.ts';
import type { AgentOptions } from '../../../src/sessions/agent-options.ts';
import { modelByHistory } from '../../support/models.ts';
import { rejection } from '../../support/sessions.ts';
import { F1, broken, call, calls, outsideTool, toolOf } from '../../support/tools.ts';
import { transcript } from '../../support/transcript.ts';
import { type Backend, type Cases, type Conversation, memoryBackend, resting } from '../backend.ts';

/** Without what no two runs have in common: when, which commit, which agent, and which id a message got. */
const comparable = (document: SessionDocument): unknown => {
  const text = JSON.stringify({ ...document, agent: '', createdAt: 0, revision: undefined });
  return JSON.parse(
    text.replaceAll(/"(at|since|ms|expiresAt)":\d+/g, '"$1":0').replaceAll(/"id":"[\w-]{21}"/g, '"id":"x"'),
  );
};

export const documents: Cases = (start) => {
  const options = (): AgentOptions => {
    const gate = toolOf('gate', () => ({ rows: [1, 2] }), { needsApproval: true });
    const inner = createAgent({ name: 'inner', model: modelByHistory([calls(call('gate')), 'inner']), tools: [gate] });
    return {
      model: modelByHistory([
        { text: 'I look.', ...calls(call('F1', {}, 'theirs'), call('broken')), usage: { totalTokens: 5 } },
        { ...calls(call('gate', { n: 1 }), call('ask'), call('inner', { prompt: 'help' })), reasoning: 'hm' },
        'world',
        'again',
      ]),
      tools: [F1, broken, gate, outsideTool('ask'), inner.asTool({ name: 'inner', description: 'asks' })],
      approvals: { hold: 'gated' },
    };
  };
  const id = 'documents/1';
  const steps: readonly ((session: Conversation) => Promise<unknown>)[] = [
    async (session) => {
      await session.send('hello');
      await session.settled();
    },
    async (session) => {
      await session.approve('call_2_0', { input: { n: 2 }, by: 'ann', remember: 'input' });
      await session.respond('call_2_1', { yes: true }, { by: 'bob' });
      const [{ callId } = { callId: '' }] = (await session.settled()).pending;
      await session.reject(callId, { reason: 'not inside' });
      await resting(session);
    },
    async (session) => {
      await session.send('more');
      await session.settled();
    },
  ];
  /** The document after each step. */
  const lived = async (begin: Backend['start'], isRestarted: boolean): Promise<unknown[]> => {
    const running = await begin(options());
    let session = await running.open(id);
    const taken: unknown[] = [];
    for (const step of steps) {
      await step(session);
      const before = await session.toJSON();
      taken.push(comparable(before));
      if (!isRestarted) continue;
      await running.restart();
      session = await running.open(id);
      expect(comparable(await session.toJSON())).toEqual(comparable(before));
    }
    return taken;
  };

  describe('documents and ids', () => {
    test('B134: the document of a session is the same whatever keeps it, at every step, over restarts', async () => {
      const reference = await lived(memoryBackend().start, false);
      expect(await lived(start, true)).toEqual(reference);
    });

    test('a session moves to another process by its document', async () => {
      const session = await (await start(options())).open();
      await session.send('hello');
      await session.settled();
      const moved = createAgent(options()).restore(await session.toJSON());
      expect(moved.pending).toEqual((await session.look()).pending);
      expect(transcript(moved.messages)).toEqual(transcript((await session.look()).messages));
    });

    test('B137: an id is data, whatever it looks like; two ids are two sessions', async () => {
      const paths = [
        '../../x',
        '/abs',
        'a/b',
        'a\\b',
        '.',
        '..',
        'a%2f..',
        '%',
        'a?b=c#d',
        ' ',
        '\n',
        '"quoted"',
        "it's; --",
      ];
      const words = [
        '\u00e9',
        'e\u0301',
        'A',
        'a',
        '__proto__',
        'constructor',
        '\u{1F600}\u200d\u{1F680}',
        '\u202e',
        '0',
        '00',
      ];
      const long = ['x'.repeat(1_000), 'y'.repeat(999), '\u{1F600}'.repeat(500), '"'.repeat(1_000)];
      const ids = [...paths, ...words, ...long];
      const running = await start({
        model: {
          name: 'echo',
          generate: async ({ messages }) => ({
            message: { role: 'assistant', content: `answer to ${JSON.stringify(messages.at(-1)?.content)}` },
            finishReason: 'stop',
          }),
        },
      });
      await Promise.all(
        ids.map(async (name, index) => {
          const session = await running.open(name);
          expect(session.id).toBe(name);
          await session.send(`question ${index}`);
          expect((await session.settled()).sessionId).toBe(name);
        }),
      );
      for (const [index, name] of ids.entries()) {
        const session = await running.open(name);
        expect(transcript((await session.look()).messages)).toHaveLength(2);
        expect(JSON.stringify((await session.look()).messages)).toContain(`question ${index}`);
        expect((await session.toJSON()).sessionId).toBe(name);
      }
    });

    test.each([
      ['empty', ''],
      ['too long', 'x'.repeat(1_001)],
      ['with NUL', 'a\u0000b'],
      ['half a pair', 'a\ud800'],
    ])('B137: an id that is none is refused: %s', async (_, given) => {
      const running = await start({ model: modelByHistory([]) });
      expect(await rejection(running.open(given))).toMatchObject({ code: 'invalid-option' });
    });

    test('a session that nobody began is idle, and there is nothing in it to decide', async () => {
      const session = await (await start({ model: modelByHistory([]) })).open('nobody');
      expect((await session.look()).status).toBe('idle');
      expect(await rejection(session.approve('call_1_0'))).toMatchObject({ code: 'unknown-call' });
      expect(await rejection(session.settled())).toMatchObject({ code: 'session-idle' });
    });

    test('large messages and results come back as they were', async () => {
      const large = `${'ü\u{1F600}"\\'.repeat(20_000)}\u2028`;
      const give = toolOf('give', () => large, { maxResultChars: 200_000 });
      const session = await (
        await start({ model: modelByHistory([calls(call('give')), large]), tools: [give] })
      ).open();
      await session.send(large);
      const { text, messages } = await session.settled();
      expect(text === large).toBe(true);
      expect(messages[0]?.content === large).toBe(true);
      expect(transcript(messages)[2] === `tool: ${large}`).toBe(true);
    });
  });
};
