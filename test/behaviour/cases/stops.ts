import { describe, expect, test } from 'vitest';
import { violations } from '../../../src/messages/violations.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { forgetfulModel } from '../../support/models.ts';
import { rejection } from '../../support/sessions.ts';
import { F1, call, calls, heldTool, toolOf } from '../../support/tools.ts';
import { results, transcript } from '../../support/transcript.ts';
import { type Cases, queued, resting, seen } from '../backend.ts';

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

export const stops: Cases = (start) => {
  describe('stop and cancel', () => {
    test('R35: while the model thinks its request is aborted; the session takes the next message', async () => {
      const asked = Promise.withResolvers<AbortSignal>();
      const model = scriptedModel([
        (_, { signal }) => {
          asked.resolve(signal);
          return untilAborted(signal);
        },
        'two',
      ]);
      const session = await (await start({ model })).open();
      await session.send('hello');
      const signal = await asked.promise;
      await session.stop('enough');
      expect((await session.settled()).outcome).toEqual({ type: 'stopped', reason: 'enough' });
      await seen(session, () => signal.aborted);
      await session.send('more');
      expect((await session.settled()).text).toBe('two');
      expect(violations((await session.look()).messages)).toEqual([]);
    });

    test('R35: a tool that runs is told; all calls of the round settle', async () => {
      const began = Promise.withResolvers<AbortSignal>();
      const obedient = toolOf('obedient', (_, { signal }) => {
        began.resolve(signal);
        return untilAborted(signal);
      });
      const model = scriptedModel([calls(call('F1'), call('obedient'), call('F1', { n: 1 }))]);
      const session = await (await start({ model, tools: [F1, obedient], concurrency: 1 })).open();
      await session.send('hello');
      const signal = await began.promise;
      await session.stop();
      const { outcome, messages } = await session.settled();
      expect(outcome).toEqual({ type: 'stopped' });
      expect(results(messages)).toEqual([
        'Result 1',
        'Error: the call was stopped while it ran; its outcome is unknown.',
        'Error: the call was stopped before it started.',
      ]);
      await seen(session, () => signal.aborted);
    });

    test('R35: a tool that does not listen is left behind; what it says later is dropped', async () => {
      const held = heldTool('held');
      const model = scriptedModel([calls(call('held')), 'two']);
      const session = await (await start({ model, tools: [held.tool], stopGrace: 30 })).open();
      await session.send('hello');
      await held.whenBegun(1);
      await session.stop();
      const { status, messages } = await session.look();
      expect(status).toBe('settled');
      expect(results(messages)).toEqual(['Error: the call was stopped while it ran; its outcome is unknown.']);
      held.end(0, 'too late');
      await session.send('more');
      expect((await session.settled()).text).toBe('two');
      expect(JSON.stringify((await session.look()).messages)).not.toContain('too late');
    });

    test('R36: one call is cancelled, the round goes on with the others', async () => {
      const held = heldTool('held');
      const model = scriptedModel([calls(call('held', { n: 0 }), call('held', { n: 1 })), 'world']);
      const session = await (await start({ model, tools: [held.tool], stopGrace: 30 })).open();
      await session.send('hello');
      await held.whenBegun(2);
      const first = held.begun.findIndex(({ callIndex }) => callIndex === 0);
      expect(await rejection(session.cancel('call_9_9'))).toMatchObject({ code: 'unknown-call' });
      await session.cancel('call_1_0');
      await seen(session, () => held.begun[first]?.signal.aborted === true);
      expect(held.begun[1 - first]?.signal.aborted).toBe(false);
      held.end(1 - first, 'done');
      const { text, messages } = await resting(session);
      expect(text).toBe('world');
      expect(results(messages)).toEqual([expect.stringContaining('cancelled'), 'done']);
    });

    test('a turn that was stopped is gone on with by `retry`; one that answered is not', async () => {
      const held = heldTool('held');
      const model = scriptedModel([calls(call('held')), 'world']);
      const session = await (await start({ model, tools: [held.tool], stopGrace: 0 })).open();
      await session.send('hello');
      await held.whenBegun(1);
      await session.stop();
      await session.retry();
      expect((await resting(session)).text).toBe('world');
      expect(await rejection(session.retry())).toMatchObject({ code: 'nothing-to-retry' });
      await session.stop();
    });
  });

  describe('messages while a turn runs', () => {
    const busy = async (answers: readonly string[]) => {
      const held = heldTool('held');
      const model = scriptedModel([calls(call('held')), ...answers]);
      const session = await (await start({ model, tools: [held.tool], stopGrace: 0 })).open();
      await session.send('go');
      await held.whenBegun(1);
      return { held, session };
    };

    test('R34: one that queues starts the next turn', async () => {
      const { held, session } = await busy(['one', 'two']);
      const { fate } = await queued(session, 'more', { mode: 'queue' });
      held.end(0);
      expect(await fate).toEqual({ type: 'delivered' });
      await seen(session, ({ messages }) => transcript(messages).at(-1) === 'assistant: two');
      expect(transcript((await session.look()).messages)).toEqual([
        'user: go',
        'assistant: held{}',
        'tool: done',
        'assistant: one',
        'user: more',
        'assistant: two',
      ]);
    });

    test('R34: one that steers is read before the next model call, and never between a call and its result', async () => {
      const { held, session } = await busy(['one']);
      const { fate } = await queued(session, 'rather this', { mode: 'steer' });
      held.end(0);
      expect(await fate).toEqual({ type: 'delivered' });
      expect(transcript((await resting(session)).messages)).toEqual([
        'user: go',
        'assistant: held{}',
        'tool: done',
        'user: rather this',
        'assistant: one',
      ]);
    });

    test('R34: a stop discards what is queued, and the sender is told, however close the two are', async () => {
      const held = heldTool('held');
      const model = forgetfulModel(({ messages }) => (messages.length === 1 ? calls(call('held')) : 'more'));
      const running = await start({ model, tools: [held.tool], stopGrace: 0 });
      const sessions = await Promise.all(Array.from({ length: 6 }, () => running.open()));
      await Promise.all(sessions.map(({ send }) => send('go')));
      await held.whenBegun(sessions.length);
      const fates = await Promise.all(
        sessions.map(async (session, index) => {
          const fate = session.send('more');
          for (let looks = 0; looks < index % 3; looks++) await session.look();
          await session.stop();
          return (await fate).type;
        }),
      );
      // One that comes after the stop begins a turn.
      expect(fates.every((fate) => fate === 'discarded' || fate === 'delivered')).toBe(true);
      for (const [index, session] of sessions.entries()) {
        await seen(session, ({ status }) => status === 'settled');
        const users = transcript((await session.look()).messages).filter((line) => line.startsWith('user'));
        expect(users).toHaveLength(fates[index] === 'discarded' ? 1 : 2);
      }
    });

    test('R34: many senders at once: each message is read once', async () => {
      const { held, session } = await busy(Array.from({ length: 6 }, (_, index) => `answer ${index}`));
      const fates = Promise.all(Array.from({ length: 5 }, (_, index) => session.send(`message ${index}`)));
      held.end(0);
      expect(await fates).toEqual(Array.from({ length: 5 }, () => ({ type: 'delivered' })));
      const { messages } = await seen(
        session,
        ({ status, messages: said }) => status === 'settled' && transcript(said).at(-1) === 'assistant: answer 5',
      );
      const users = transcript(messages).filter((line) => line.startsWith('user: message'));
      expect(users.toSorted()).toEqual(Array.from({ length: 5 }, (_, index) => `user: message ${index}`));
      expect(violations(messages)).toEqual([]);
    });
  });
};
