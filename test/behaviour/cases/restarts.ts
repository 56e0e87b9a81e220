import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/messages/message.ts';
import { violations } from '../../../src/messages/violations.ts';
import type { ChatModel, ModelRequest } from '../../../src/models/chat-model.ts';
import { ModelError } from '../../../src/models/model-error.ts';
import { forgetfulModel, modelByHistory } from '../../support/models.ts';
import { F1, call, calls, heldTool, outsideTool, toolOf } from '../../support/tools.ts';
import { results, transcript } from '../../support/transcript.ts';
import { type Cases, queued, resting, seen } from '../backend.ts';

/** Notes what it is asked. */
const noting = (model: ChatModel): { model: ChatModel; asked: readonly (readonly Message[])[] } => {
  const asked: (readonly Message[])[] = [];
  const generate = (request: ModelRequest, options: { signal: AbortSignal }) => {
    asked.push(request.messages);
    return model.generate(request, options);
  };
  return { model: { name: model.name, generate }, asked };
};

export const restarts: Cases = (start) => {
  describe('restarts', () => {
    test('R27: what waits for people waits on; each decision may come in another life', async () => {
      const ran: unknown[] = [];
      const gate = toolOf('gate', (input) => void ran.push(input), { needsApproval: true });
      const { model, asked } = noting(
        modelByHistory([calls(call('gate', { n: 1 }), call('gate', { n: 2 }), call('ask')), 'world']),
      );
      const running = await start({ model, tools: [gate, outsideTool('ask')] });
      const first = await running.open();
      await first.send('go');
      const { pending } = await first.settled();
      await running.restart();
      const second = await running.open(first.id);
      expect(await second.look()).toMatchObject({ status: 'waiting', pending });
      expect((await second.settled()).outcome).toEqual({ type: 'pending' });
      await second.approve('call_1_0', { inputHash: pending[0]?.inputHash ?? '' });
      await running.restart();
      const third = await running.open(first.id);
      await third.approve('call_1_0');
      await third.reject('call_1_1');
      await third.settled();
      await running.restart();
      const fourth = await running.open(first.id);
      await fourth.respond('call_1_2', 'yes');
      const { text, messages } = await resting(fourth);
      expect(text).toBe('world');
      expect(results(messages)).toEqual(['Success: function completed.', 'Tool call invocation rejected.', 'yes']);
      expect(asked).toHaveLength(2);
      expect(ran).toEqual([{ n: 1 }]);
    });

    test('R38: a call that was cut off is not repeated, and its outcome is told as unknown; what was done is not done again', async () => {
      const done: string[] = [];
      const quick = toolOf('quick', () => void done.push('quick'));
      const held = heldTool('held');
      const { model, asked } = noting(modelByHistory([calls(call('quick'), call('held'), call('held')), 'world']));
      // One after the other: that the second has begun tells that what the first one gave is kept.
      const running = await start({ model, tools: [quick, held.tool], concurrency: 1 });
      const first = await running.open();
      await first.send('go');
      await held.whenBegun(1);
      held.end(0, 'first done');
      await held.whenBegun(2);
      await running.restart();
      const second = await running.open(first.id);
      const { text, messages } = await resting(second);
      expect(text).toBe('world');
      expect(results(messages)).toEqual([
        'Success: function completed.',
        'first done',
        'Error: the call was interrupted while it ran; whether it took effect is unknown.',
      ]);
      expect(held.begun).toHaveLength(2);
      expect(done).toEqual(['quick']);
      expect(asked).toHaveLength(2);
      held.end(1, 'too late');
      await second.send('more');
      expect(violations((await second.look()).messages)).toEqual([]);
    });

    test.each([
      { why: 'it only reads', options: { annotations: { readOnly: true } } },
      { why: 'it may be repeated', options: { annotations: { idempotent: true } } },
      { why: 'it says so', options: { onInterrupted: 'retry' as const } },
    ])('R38: a call that was cut off runs again with the same key where $why', async ({ options }) => {
      const held = heldTool('held', options);
      const running = await start({ model: modelByHistory([calls(call('held')), 'world']), tools: [held.tool] });
      const first = await running.open();
      await first.send('go');
      await held.whenBegun(1);
      await running.restart();
      const second = await running.open(first.id);
      await held.whenBegun(2);
      held.end(1, 'the second time');
      const { text, messages } = await resting(second);
      expect(text).toBe('world');
      expect(results(messages)).toEqual(['the second time']);
      expect(new Set(held.begun.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    });

    test('R38: or somebody is asked, where its tool wants that', async () => {
      const held = heldTool('held', { onInterrupted: 'ask' });
      const running = await start({ model: modelByHistory([calls(call('held')), 'world']), tools: [held.tool] });
      const first = await running.open();
      await first.send('go');
      await held.whenBegun(1);
      await running.restart();
      const second = await running.open(first.id);
      const { pending } = await seen(second, ({ status }) => status === 'waiting');
      expect(pending).toMatchObject([
        { callId: 'call_1_0', needs: 'approval', reason: expect.stringMatching(/interrupted/) },
      ]);
      await second.approve('call_1_0');
      await held.whenBegun(2);
      held.end(1, 'again');
      expect(results((await resting(second)).messages)).toEqual(['again']);
    });

    test('R38: a model that was cut off is asked again, with the same history', async () => {
      const asked = Promise.withResolvers<void>();
      const said = noting({
        name: 'slow',
        generate: async (request, options) => {
          if (said.asked.length > 1) return forgetfulModel(() => 'world').generate(request, options);
          asked.resolve();
          return new Promise<never>(() => undefined);
        },
      });
      const running = await start({ model: said.model });
      const first = await running.open();
      await first.send('go');
      await asked.promise;
      await running.restart();
      const second = await running.open(first.id);
      expect((await resting(second)).text).toBe('world');
      expect(said.asked.map((messages) => transcript(messages))).toEqual([['user: go'], ['user: go']]);
    });

    test('R40: a wait between two tries of the model goes on', async () => {
      const failure = new ModelError('model-request-failed', 'no time', { transient: true, retryAfter: 200 });
      const said = noting({
        name: 'shaky',
        generate: async (request, options) => {
          if (said.asked.length === 1) throw failure;
          return forgetfulModel(() => 'world').generate(request, options);
        },
      });
      const running = await start({ model: said.model });
      const first = await running.open();
      await first.send('go');
      await seen(first, () => said.asked.length === 1);
      await running.restart();
      const second = await running.open(first.id);
      expect((await resting(second)).text).toBe('world');
      expect(said.asked).toHaveLength(2);
    });

    test('R30: what nobody decided in time expires also where it was not open meanwhile', async () => {
      const gate = toolOf('gate', () => 'gate ran', { needsApproval: true });
      const approvals = { expireAfter: 100 };
      const running = await start({ model: modelByHistory([calls(call('gate')), 'world']), tools: [gate], approvals });
      const first = await running.open();
      await first.send('go');
      await first.settled();
      await running.restart();
      const second = await running.open(first.id);
      expect(results((await resting(second)).messages)).toEqual(['Tool call invocation rejected. expired']);
    });

    test('R34: a message that queues is not lost', async () => {
      const held = heldTool('held', { annotations: { readOnly: true } });
      const model = modelByHistory([calls(call('held')), 'one', 'two']);
      const running = await start({ model, tools: [held.tool] });
      const first = await running.open();
      await first.send('go');
      await held.whenBegun(1);
      await queued(first, 'more');
      await running.restart();
      const second = await running.open(first.id);
      await held.whenBegun(2);
      held.end(1);
      const { messages } = await seen(second, (look) => transcript(look.messages).at(-1) === 'assistant: two');
      expect(transcript(messages).filter((line) => line.startsWith('user'))).toEqual(['user: go', 'user: more']);
    });

    test('a session that rests goes on in another life, also after a failed turn', async () => {
      let isDown = false;
      const model = forgetfulModel(({ messages }) => (isDown ? new Error('down') : `answer ${messages.length}`));
      const running = await start({ model });
      const first = await running.open();
      await first.send('one');
      await first.settled();
      await running.restart();
      const second = await running.open(first.id);
      expect(await second.look()).toMatchObject({ status: 'settled', messages: [{ content: 'one' }, {}] });
      isDown = true;
      await second.send('two');
      await seen(second, ({ status, messages }) => status === 'settled' && messages.length === 3);
      isDown = false;
      await running.restart();
      const third = await running.open(first.id);
      await third.retry();
      expect((await resting(third)).text).toBe('answer 3');
    });

    test('a new version of the agent goes on with old sessions, with the tools that it has', async () => {
      const model = modelByHistory([calls(call('F1')), 'one', calls(call('other')), 'two']);
      const running = await start({ model, tools: [F1] });
      const first = await running.open();
      await first.send('go');
      await first.settled();
      await running.restart({ model, tools: [toolOf('other', () => 'other ran')] });
      const second = await running.open(first.id);
      await second.send('more');
      expect(results((await second.settled()).messages)).toEqual(['other ran']);
    });
  });
};
