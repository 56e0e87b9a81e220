import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AgentError } from '../../src/errors.ts';
import { isPlainObject } from '../../src/messages/json.ts';
import { ModelError } from '../../src/models/model-error.ts';
import type { Agent } from '../../src/sessions/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import type { SessionDocument } from '../../src/documents/document.ts';
import type { Session } from '../../src/sessions/session.ts';
import { TurnError } from '../../src/sessions/turn-error.ts';
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts';
import { saved } from '../support/sessions.ts';
import { F1, call, calls, heldTool, toolOf } from '../support/tools.ts';

const uncaught: unknown[] = [];
const note = (reason: unknown): void => {
  uncaught.push(reason);
};
beforeAll(() => {
  process.on('unhandledRejection', note);
  process.on('uncaughtException', note);
});
afterAll(() => {
  process.off('unhandledRejection', note);
  process.off('uncaughtException', note);
});

const gated = toolOf('gated', ({ n }) => `gated ran ${String(n)}`, { needsApproval: true });
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Agents with the tools of the documents; `held` ends at once unless it is to be caught at work. */
const agentOf = (answers: readonly ScriptedAnswer[], held = toolOf('held', () => 'ran')): Agent => {
  const inner = createAgent({
    model: scriptedModel([calls(call('gated', { n: 2 })), ...Array<string>(9).fill('in')]),
    tools: [gated],
  });
  return createAgent({
    model: scriptedModel([...answers, ...Array<string>(9).fill('end')]),
    tools: [F1, gated, held, inner.asTool({ name: 'inner' })],
    limits: { deadline: 60_000 },
    retry: { attempts: 2, initialDelay: 1, maxDelay: 1 },
    approvals: { expireAfter: 600_000 },
  });
};

const begun = async (answer: ScriptedAnswer, held?: ReturnType<typeof toolOf>): Promise<Session> => {
  const session = await agentOf([answer], held).open();
  void session.send('hello').catch(() => undefined);
  return session;
};

const waiting = async (): Promise<SessionDocument> => {
  const session = await begun(calls(call('F1'), call('gated', { n: 1 })));
  await session.settled();
  void session.send('and more').catch(() => undefined);
  return saved(session);
};
const running = async (): Promise<SessionDocument> => {
  const held = heldTool('held');
  const session = await begun(calls(call('F1'), call('held')), held.tool);
  await held.whenBegun(1);
  const document = saved(session);
  await session[Symbol.asyncDispose]();
  return document;
};
const backingOff = async (): Promise<SessionDocument> => {
  const session = await begun(new ModelError('model-request-failed', 'busy', { transient: true }));
  while (!session.actor.getSnapshot().matches({ thinking: 'backing-off' })) await Promise.resolve();
  return saved(session);
};
const nested = async (): Promise<SessionDocument> => {
  const session = await begun(calls(call('inner', { prompt: 'go' })));
  await session.settled();
  return saved(session);
};
const done = async (): Promise<SessionDocument> => {
  const session = await begun(calls(call('gated', { n: 1 })));
  await session.settled();
  await session.approve('call_1_0', { remember: 'tool', by: 'me' });
  await session.settled();
  return saved(session);
};
const kinds = { waiting, running, backingOff, nested, done };

type Path = readonly string[];
const pathsOf = (value: unknown, path: Path = []): Path[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, item]) => [[...path, key], ...pathsOf(item, [...path, key])]);

/** A copy with another value at a path; undefined takes the key away. */
const changed = (document: unknown, path: Path, value: unknown): unknown => {
  const copy: unknown = structuredClone(document);
  const holder = path.slice(0, -1).reduce((at, key) => (at as Record<string, unknown>)[key], copy);
  const last = path.at(-1) ?? '';
  if (value !== undefined) (holder as Record<string, unknown>)[last] = value;
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (isPlainObject(holder)) delete holder[last];
  return copy;
};

const within = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('it hangs')), 1_000).unref();
    }),
  ]);

const settled = (session: Session) =>
  session.settled().catch((error: unknown) => {
    if (!(error instanceof TurnError)) throw error;
  });

/** Decides all that waits and says something more, until the session rests. */
const drive = async (session: Session): Promise<void> => {
  for (let times = 0; times < 4 && session.status !== 'closed' && session.status !== 'idle'; times += 1) {
    await settled(session);
    if (session.status !== 'waiting') break;
    for (const { callId, needs } of session.pending) {
      await (needs === 'approval' ? session.approve(callId) : session.respond(callId, 'ok')).catch((error: unknown) => {
        if (!(error instanceof AgentError)) throw error;
      });
    }
  }
  if (session.status === 'closed') return;
  await session.send('more').catch((error: unknown) => {
    if (!(error instanceof AgentError)) throw error;
  });
  await settled(session);
  expect(session.status).toBe('settled');
};

describe('a damaged document', () => {
  test('is refused with a typed error, or gives a session that comes to rest', async () => {
    const documents = await Promise.all(
      Object.entries(kinds).map(async ([name, make]) => {
        const document = await make();
        return { name, document, paths: pathsOf(document) };
      }),
    );
    const evil = fc.constantFrom<unknown[]>(
      undefined,
      null,
      'evil',
      '',
      -1,
      0,
      1.5,
      1e300,
      true,
      false,
      {},
      [],
      [null],
      { type: 'x' },
    );
    const place = fc
      .constantFrom(...documents)
      .chain(({ name, document, paths }) =>
        fc.record({ name: fc.constant(name), document: fc.constant(document), path: fc.constantFrom(...paths) }),
      );
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(place, evil, async ({ document, path }, value) => {
        const agent = agentOf([]);
        let session: Session;
        try {
          session = agent.restore(changed(document, path, value) as SessionDocument);
        } catch (error) {
          if (!(error instanceof AgentError)) throw error;
          return;
        }
        taken += 1;
        await within(drive(session));
        await agent.close();
        await breath();
        expect(uncaught.splice(0)).toEqual([]);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 400) },
    );
    expect(taken).toBeGreaterThan(10);
  }, 20_000);

  test('is as good as ever where it is not damaged', async () => {
    for (const make of Object.values(kinds)) await drive(agentOf([]).restore(await make()));
  });

  const callAt = 'snapshot.children.call_1_1.snapshot';
  const innerAt = 'snapshot.children.call_1_0.snapshot.children.agent.snapshot';
  test.each<[keyof typeof kinds, string, unknown, string]>([
    ['waiting', 'snapshot.status', 'stopped', 'snapshot.status'],
    ['waiting', 'snapshot.status', 'error', 'snapshot.status'],
    ['waiting', 'snapshot.status', 'done', 'has the status "done"'],
    ['waiting', 'snapshot.children.call_1_1.src', 3, 'children.call_1_1.src'],
    ['waiting', `${callAt}.status`, 'done', 'call_1_1.snapshot.status'],
    ['waiting', `${callAt}.context.waiting`, null, 'context.waiting'],
    ['waiting', `${callAt}.context.waiting`, undefined, 'waits for nothing'],
    ['waiting', `${callAt}.context.call.callId`, 'call_1_0', 'is not the call that its round names'],
    ['waiting', `${callAt}.context.call.tool`, 'F1', 'is not the call that its round names'],
    ['waiting', `${callAt}.context.isChecked`, 'yes', 'context.isChecked'],
    ['waiting', `${callAt}.context.phase`, 'running', 'is in another phase'],
    ['waiting', `${callAt}.children.expiry`, undefined, 'children.expiry'],
    ['waiting', `${callAt}.children.expiry.snapshot.input.at`, 1e300, 'expires at another time'],
    ['waiting', 'snapshot.context.round.calls.1.waiting', undefined, 'round.calls[1].waiting'],
    ['waiting', 'snapshot.context.round.calls.1.phase', 'settled', 'round.calls[1]'],
    ['waiting', 'snapshot.context.inbox.0.mode', 'evil', 'inbox[0].mode'],
    ['waiting', 'snapshot.context.turn.request.attempt', 'x', 'turn.request.attempt'],
    ['waiting', 'snapshot.context.modelCalls.0.finishReason', 3, 'modelCalls[0].finishReason'],
    ['running', 'snapshot.context.turn.work.since', 'x', 'turn.work.since'],
    ['running', `${callAt}.children.tool`, undefined, 'children.tool'],
    ['running', `${callAt}.children.tool.snapshot.input.input`, { n: 9 }, 'runs with something else'],
    ['running', 'snapshot.context.round.calls.0.result', null, 'round.calls[0].result'],
    ['backingOff', 'snapshot.children.backoff', undefined, 'children.backoff'],
    ['backingOff', 'snapshot.context.turn.request.retryAt', null, 'turn.request.retryAt'],
    ['done', 'snapshot.context.decisions.0.tool', 3, 'decisions[0].tool'],
    ['done', 'snapshot.context.remembered.0.verdict', 'x', 'remembered[0].verdict'],
    ['done', 'snapshot.context.turn.outcome', undefined, 'another outcome'],
    ['nested', 'snapshot.context.round.calls.0.nested.pending', 3, 'round.calls[0].nested.pending'],
    ['nested', `${innerAt}.context.turn`, {}, 'agent.snapshot.context'],
    ['nested', `${innerAt}.children.call_1_0-call_1_0.snapshot.context.call.input`, { n: 9 }, 'has other arguments'],
    ['nested', 'snapshot.children.call_1_0.snapshot.children.agent', undefined, 'the agent inside call "call_1_0"'],
  ])('%s: %s = %j is refused, with its path', async (kind, path, value, says) => {
    const document = changed(await kinds[kind](), path.split('.'), value) as SessionDocument;
    expect(() => agentOf([]).restore(document)).toThrow(
      expect.objectContaining({ name: 'AgentError', code: 'invalid-document', message: expect.stringContaining(says) }),
    );
  });

  test('R29: arguments that differ anywhere from those that are shown are refused, by the name of their call', async () => {
    const document = await waiting();
    const places = [
      'snapshot.context.round.reply.content.1.input',
      'snapshot.context.round.calls.1.waiting.input',
      'snapshot.context.round.calls.1.waiting.inputHash',
      `${callAt}.context.call.input`,
      `${callAt}.context.input`,
      `${callAt}.context.inputHash`,
      `${callAt}.context.waiting.input`,
    ];
    for (const place of places) {
      const value = place.endsWith('Hash') ? 'f00' : { n: 999 };
      expect(() => agentOf([]).restore(changed(document, place.split('.'), value) as SessionDocument)).toThrow(
        expect.objectContaining({ code: 'invalid-document', message: expect.stringContaining('call "call_1_1"') }),
      );
    }
  });
});

test('restoring a session of 1,000 messages, with all that is checked, takes a small multiple of reading its JSON', async () => {
  const answers = Array.from({ length: 250 }, () => [
    calls(call('F1', { n: 1, text: 'x'.repeat(100) })),
    'fine',
  ]).flat();
  const agent = createAgent({ model: scriptedModel(answers), tools: [F1] });
  const session = await agent.open();
  for (let turn = 0; turn < 250; turn += 1) await agent.run('hello', { session });
  expect(session.messages).toHaveLength(1_000);
  const text = JSON.stringify(session);
  const best = (work: () => unknown): number =>
    Math.min(
      ...Array.from({ length: 7 }, () => {
        const before = performance.now();
        work();
        return performance.now() - before;
      }),
    );
  expect(best(() => agent.restore(text)) / best(() => JSON.parse(text) as unknown)).toBeLessThan(60);
});
