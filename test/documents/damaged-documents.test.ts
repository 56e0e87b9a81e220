import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from 'xstate';
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

/** With what each call ran. */
const ran = new Map<string, unknown>();
const gated = toolOf(
  'gated',
  (input, { callId }) => {
    ran.set(callId, structuredClone(input));
    return `gated ran ${String(input['n'])}`;
  },
  { needsApproval: true },
);
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
  await waitFor(session.actor, (snapshot) => snapshot.matches({ thinking: 'backing-off' }));
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

const runs = Number(process.env['RUNS'] ?? 400);

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
      setTimeout(() => reject(new Error('it hangs')), 120_000).unref();
    }),
  ]);

const settled = (session: Session) =>
  session.settled().catch((error: unknown) => {
    if (!(error instanceof TurnError)) throw error;
  });

/** Decides all that waits and says something more, until the session rests. What ran is what was shown (R29). */
const drive = async (session: Session): Promise<void> => {
  const shown = new Map<string, unknown>();
  ran.clear();
  await driveToRest(session, shown);
  for (const [callId, input] of shown) if (ran.has(callId)) expect(ran.get(callId)).toEqual(input);
};

const driveToRest = async (session: Session, shown: Map<string, unknown>): Promise<void> => {
  for (let times = 0; times < 4 && session.status !== 'closed' && session.status !== 'idle'; times += 1) {
    await settled(session);
    if (session.status !== 'waiting') break;
    for (const { callId, needs, input, tool } of session.pending) {
      if (needs === 'approval' && tool === 'gated') shown.set(callId, input);
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
  test(
    'R29: is refused with a typed error, or gives a session that comes to rest and runs what it shows',
    async () => {
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
        { numRuns: runs },
      );
      expect(taken).toBeGreaterThan(10);
    },
    180_000 + 50 * runs,
  );

  test('is as good as ever where it is not damaged', async () => {
    for (const make of Object.values(kinds)) await drive(agentOf([]).restore(await make()));
  });

  const round = 'state.context.round';
  const inner = 'state.calls.call_1_0.agent';
  const innerCall = `${inner}.calls.call_1_0-call_1_0`;
  test.each<[keyof typeof kinds, string, unknown, string]>([
    ['waiting', 'state.state', 'closed', 'state.calls.call_1_0 has no place in the state "closed"'],
    [
      'waiting',
      'state.calls.call_1_1.state',
      'queued',
      'state.calls.call_1_1: the call "call_1_1" is in another phase',
    ],
    ['waiting', 'state.calls.call_1_1.state', 3, '"state.calls.call_1_1.state" is not a state'],
    ['waiting', 'state.calls.call_1_1', undefined, 'state.calls.call_1_1 is missing'],
    ['waiting', 'state.calls.call_1_1', 3, 'state.calls.call_1_1 is a number'],
    [
      'waiting',
      'state.calls.call_1_1.context',
      { waiting: ['=', null] },
      'state.calls.call_1_1.context.waiting is null',
    ],
    ['waiting', 'state.calls.call_1_1.context', { waiting: ['-'] }, 'waits for nothing'],
    [
      'waiting',
      'state.calls.call_1_1.context',
      { call: { callId: ['=', 'call_1_0'] } },
      'is not the call that its round',
    ],
    ['waiting', 'state.calls.call_1_1.context', { sessionId: ['=', 'other'] }, 'is of another session'],
    ['waiting', 'state.calls.call_1_1.context.isChecked', ['=', 'yes'], 'state.calls.call_1_1.context.isChecked'],
    ['waiting', 'state.calls.call_1_1.context', { phase: ['=', 'running'] }, 'is in another phase'],
    ['waiting', 'state.calls.call_1_1.context', ['=', {}], 'the context of call "call_1_1"'],
    ['waiting', 'state.calls.call_1_1.context', ['?'], 'the context of call "call_1_1"'],
    ['waiting', 'state.calls.call_1_1.context.isChecked', 3, 'do not fit each other'],
    ['waiting', `${round}.calls.1.waiting`, undefined, `${round}.calls[1].waiting`],
    ['waiting', `${round}.calls.1.waiting.expiresAt`, 'x', `${round}.calls[1].waiting.expiresAt`],
    ['waiting', `${round}.calls.1.phase`, 'settled', `${round}.calls[1]`],
    ['waiting', `${round}.calls.1.callId`, 'call_1_7', '"state.calls.call_1_1" is no call of the open round'],
    ['waiting', `${round}.calls.1.tool`, 'F1', `${round}.calls[1] is not the call of its reply`],
    ['waiting', 'state.context.inbox.0.mode', 'evil', 'state.context.inbox[0].mode'],
    ['waiting', 'state.context.turn.request.attempt', 'x', 'state.context.turn.request.attempt'],
    ['waiting', 'state.context.modelCalls.0.finishReason', 3, 'state.context.modelCalls[0].finishReason'],
    ['running', 'state.context.turn.work.since', 'x', 'state.context.turn.work.since'],
    ['running', 'state.deadline', 'soon', 'state.deadline is a string'],
    ['running', 'state.known', { deadline: 3 }, 'state.known.deadline'],
    ['running', 'state.known', { nobody: { at: 1 } }, '"state.known.nobody" is of no actor'],
    ['running', 'state.calls.call_1_1.known', { tool: { type: 'x' } }, 'state.calls.call_1_1.known.tool.type'],
    ['running', 'state.calls.call_1_1.state', 'running', '"state.calls.call_1_1.state" ends at "running"'],
    ['running', 'state.calls.call_1_1.state', 'backing-off', 'is never tried again'],
    ['running', `${round}.calls.0.result`, null, `${round}.calls[0].result`],
    ['backingOff', 'state.state', 'thinking', '"state.state" ends at "thinking"'],
    ['backingOff', 'state.state', { thinking: 'checking' }, 'state.context.reply'],
    ['backingOff', 'state.context.turn.request.retryAt', null, 'state.context.turn.request.retryAt'],
    ['backingOff', 'state.context.turn.request.retryAt', undefined, 'state.context.turn.request.retryAt'],
    ['backingOff', 'state.context.turn.request.retryAt', 1e300, 'state.context.turn.request.retryAt'],
    ['done', 'state.state', 'acting', '"state.context.round" is null'],
    ['done', 'state.context.decisions.0.tool', 3, 'state.context.decisions[0].tool'],
    ['done', 'state.context.decisions.0.inputHash', undefined, 'state.context.decisions[0].inputHash is missing'],
    ['done', 'state.context.decisions.0.texts', [['x']], 'are no references'],
    ['done', 'state.context.decisions.0.texts', [[['tool'], ['x'], 3]], 'does not stand in its agent'],
    ['done', 'state.context.decisions.0.remembered', 'x', 'state.context.decisions[0].remembered'],
    ['done', 'state.context.turn.outcome', undefined, 'another outcome in "state.context.turn"'],
    ['done', 'messages.1.content', 3, 'messages[1].content'],
    ['nested', `${round}.calls.0.nested`, ['=', {}], `${round}.calls[0].nested.pending`],
    ['nested', `${inner}.context.turn`, {}, `${inner}.context.turn.number`],
    ['nested', `${inner}.messages.0.role`, 'robot', `${inner}.messages[0].role`],
    ['nested', `${innerCall}.context`, { call: { input: ['=', { n: 9 }] } }, `${innerCall}: the call`],
    ['nested', inner, undefined, `${inner}: the agent inside call "call_1_0" is missing`],
    ['nested', 'state.calls.call_1_0.state', 'queued', 'is in another phase'],
  ])('%s: %s = %j is refused, with its path', async (kind, path, value, says) => {
    const document = changed(await kinds[kind](), path.split('.'), value) as SessionDocument;
    expect(() => agentOf([]).restore(document)).toThrow(
      expect.objectContaining({ name: 'AgentError', code: 'invalid-document', message: expect.stringContaining(says) }),
    );
  });

  test('R29: arguments that differ from those that are shown are refused, by the name of their call', async () => {
    const document = await waiting();
    const changes: [string, unknown][] = [
      ['state.calls.call_1_1.context', { call: { input: { n: ['=', 999] } } }],
      ['state.calls.call_1_1.context', { input: { n: ['=', 999] } }],
      ['state.calls.call_1_1.context', { inputHash: ['=', 'f00'] }],
      ['state.calls.call_1_1.context', { waiting: { input: ['=', { n: 999 }] } }],
      ['state.calls.call_1_1.context', { waiting: { inputHash: ['=', 'f00'] } }],
    ];
    for (const [place, value] of changes) {
      expect(() => agentOf([]).restore(changed(document, place.split('.'), value) as SessionDocument)).toThrow(
        expect.objectContaining({ code: 'invalid-document', message: expect.stringContaining('call "call_1_1"') }),
      );
    }
  });

  test('R29: what is shown is written once: where that was changed, what is shown is what runs', async () => {
    const document = await waiting();
    for (const [place, value] of [
      [`${round}.reply.content.1.input`, { n: 999 }],
      [`${round}.calls.1.waiting.input`, { n: ['=', 999] }],
    ] as const) {
      const session = agentOf([]).restore(changed(document, place.split('.'), value) as SessionDocument);
      expect(session.pending).toMatchObject([{ callId: 'call_1_1', input: { n: 999 } }]);
      await drive(session);
      expect(ran.get('call_1_1')).toEqual({ n: 999 });
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
  // As long as what it is compared with: whatever else the machine does then takes its part of both.
  const readings = best(() => {
    for (let times = 0; times < 60; times += 1) JSON.parse(text);
  });
  expect(best(() => agent.restore(text))).toBeLessThan(readings);
});
