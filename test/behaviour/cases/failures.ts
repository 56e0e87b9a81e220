import { describe, expect, test } from 'vitest';
import { ModelError } from '../../../src/models/model-error.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { rejection } from '../../support/sessions.ts';
import { F1, broken, call, calls, heldTool, toolOf } from '../../support/tools.ts';
import { results } from '../../support/transcript.ts';
import { type Cases, resting } from '../backend.ts';

const retry = { attempts: 3, initialDelay: 5, maxDelay: 10 };
const unavailable = new ModelError('model-request-failed', 'no time', { status: 503, transient: true });

const refused = new ModelError('model-request-failed', 'no key', { status: 401, transient: false });

export const failures: Cases = (start) => {
  describe('failures and limits', () => {
    test('R40: a model that fails for a while is asked again, and no call is repeated', async () => {
      const ran: string[] = [];
      const once = toolOf('once', () => {
        ran.push('once');
        return 'ran';
      });
      const model = scriptedModel([unavailable, calls(call('once')), unavailable, unavailable, 'world']);
      const session = await (await start({ model, tools: [once], retry })).open();
      await session.send('hello');
      expect((await resting(session)).text).toBe('world');
      expect(ran).toEqual(['once']);
      model.assertFinished();
    });

    test('R40: one that goes on failing fails the turn, which `retry` goes on with', async () => {
      const model = scriptedModel([unavailable, unavailable, unavailable, 'world']);
      const session = await (await start({ model, retry })).open();
      await session.send('hello');
      const error = await rejection(session.settled());
      expect(error).toMatchObject({
        name: 'TurnError',
        code: 'model-error',
        sessionId: session.id,
        status: 503,
        result: { outcome: { type: 'failed', code: 'model-error', error: { message: 'no time', status: 503 } } },
      });
      expect((await session.look()).status).toBe('settled');
      await session.retry();
      expect((await session.settled()).text).toBe('world');
    });

    test('R40: then the fallback model is asked; other errors fail at once', async () => {
      const model = scriptedModel([unavailable, refused]);
      const fallback = scriptedModel(['from the other'], { name: 'other' });
      const session = await (await start({ model, fallback: [fallback], retry: { attempts: 1 } })).open();
      await session.send('hello');
      expect((await session.settled()).text).toBe('from the other');
      await session.send('more');
      expect(await rejection(session.settled())).toMatchObject({ code: 'model-error', status: 401 });
    });

    test('R42: a reply that says nothing is asked for once more', async () => {
      const model = scriptedModel(['', 'world', '', '']);
      const session = await (await start({ model })).open();
      await session.send('hello');
      expect((await session.settled()).text).toBe('world');
      await session.send('more');
      expect(await rejection(session.settled())).toMatchObject({ code: 'empty-reply' });
    });

    test('R42: a refusal is an outcome of its own', async () => {
      const model = scriptedModel([{ refusal: 'I must not.' }]);
      const session = await (await start({ model })).open();
      await session.send('hello');
      expect((await session.settled()).outcome).toEqual({ type: 'refused', reason: 'I must not.' });
    });

    test('R37: a tool is tried again with the same key, and told when its time is over', async () => {
      const keys: string[] = [];
      const shaky = toolOf(
        'shaky',
        (_, { attempt, idempotencyKey }) => {
          keys.push(`${attempt} ${idempotencyKey}`);
          if (attempt < 3) throw new Error('not yet');
          return 'at last';
        },
        { retry: { attempts: 3, initialDelay: 5 } },
      );
      const slow = heldTool('slow', { timeout: 30 });
      const model = scriptedModel([calls(call('shaky'), call('slow')), 'world']);
      const session = await (await start({ model, tools: [shaky, slow.tool] })).open();
      await session.send('hello');
      const { messages } = await resting(session);
      expect(results(messages)).toEqual(['at last', 'Error: the tool timed out after 30 ms.']);
      expect(keys).toEqual([1, 2, 3].map((attempt) => `${attempt} ${session.id}:call_1_0`));
      expect(slow.begun[0]?.signal.aborted).toBe(true);
    });

    test('R20: too many failing rounds end the turn; the history is whole', async () => {
      const model = scriptedModel([calls(call('broken')), calls(call('broken'), call('F1')), 'world']);
      const session = await (await start({ model, tools: [broken, F1], limits: { maxConsecutiveErrors: 1 } })).open();
      await session.send('hello');
      expect(await rejection(session.settled())).toMatchObject({
        code: 'error-limit',
        result: { outcome: { errors: [{ callId: 'call_2_0', tool: 'broken', message: 'Oh no!' }] } },
      });
      expect(results((await session.look()).messages)).toHaveLength(3);
    });

    test('R21: at the limit of rounds the model answers without tools', async () => {
      const model = scriptedModel([calls(call('F1')), 'enough']);
      const session = await (await start({ model, tools: [F1], limits: { maxIterations: 1 } })).open();
      await session.send('hello');
      expect(await session.settled()).toMatchObject({
        outcome: { type: 'limit', limit: 'maxIterations' },
        text: 'enough',
      });
      expect(model.requests[1]?.tools ?? []).toEqual([]);
    });

    test('R21: or the turn rests until `retry`, or fails', async () => {
      for (const onLimit of ['pause', 'fail'] as const) {
        const model = scriptedModel([calls(call('F1')), 'world']);
        const session = await (await start({ model, tools: [F1], limits: { maxIterations: 1, onLimit } })).open();
        await session.send('hello');
        if (onLimit === 'fail') {
          expect(await rejection(session.settled())).toMatchObject({ code: 'iteration-limit' });
        } else {
          expect((await session.settled()).outcome).toEqual({ type: 'limit', limit: 'maxIterations' });
        }
        await session.retry();
        expect((await resting(session)).text).toBe('world');
      }
    });

    test('R22: tokens, calls, time and a rule of its own', async () => {
      const usage = { totalTokens: 100 };
      const held = heldTool('held');
      const rows = [
        { limit: 'maxTokens', limits: { maxTokens: 50 }, tool: 'F1' },
        { limit: 'maxToolCalls', limits: { maxToolCalls: 1 }, tool: 'F1' },
        { limit: 'deadline', limits: { deadline: 40 }, tool: 'held' },
        { limit: 'stopWhen', stopWhen: async ({ iterations }: { iterations: number }) => iterations > 0, tool: 'F1' },
      ];
      for (const { limit, tool: name, ...options } of rows) {
        const model = scriptedModel([{ ...calls(call(name), call(name)), usage }]);
        const session = await (await start({ model, tools: [F1, held.tool], stopGrace: 0, ...options })).open();
        await session.send('hello');
        expect((await resting(session)).outcome).toMatchObject({ type: 'limit', limit });
      }
    });

    test('R43: usage is counted over turns, kept with the session', async () => {
      const usage = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
      const model = scriptedModel([
        { ...calls(call('F1')), usage },
        { text: 'one', usage },
        { text: 'two', usage },
      ]);
      const running = await start({ model, tools: [F1] });
      const session = await running.open();
      await session.send('hello');
      expect((await session.settled()).usage).toEqual({ inputTokens: 20, outputTokens: 2, totalTokens: 22 });
      await session.send('more');
      const { usage: last, modelCalls } = await session.settled();
      expect(last).toEqual(usage);
      expect(modelCalls).toHaveLength(1);
    });
  });
};
