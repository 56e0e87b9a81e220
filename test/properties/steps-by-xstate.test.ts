import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type AnyActorRef,
  type AnyMachineSnapshot,
  type EventObject,
  type InspectionEvent,
  createActor,
  transition,
} from 'xstate';
import type { AgentMachine } from '../../src/machines/agent.ts';
import { createAgent } from '../../src/sessions/create-agent.ts';
import { type ScriptedReply, scriptedModel } from '../../src/testing/scripted-model.ts';
import { byXState } from '../support/by-xstate.ts';
import { manualClock } from '../support/manual-clock.ts';
import { call, calls, outsideTool, toolOf } from '../support/tools.ts';

// One effect of a hundred in the whole process waits: it would be another one each time.
vi.mock(import('../../src/actors/breath.ts'), async (original) => ({ ...(await original()), breath: () => undefined }));

/** Lets all go on that waits for nothing but a task of its own. */
const breath = async (): Promise<void> => {
  for (let times = 0; times < 2; times += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(1);
  }
};

// A real timer of no time at all rings now before and now after what else is due.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterAll(() => {
  vi.useRealTimers();
});

const names = ['quick', 'gated', 'broken', 'slow', 'outside', 'helper', 'nope'];
const reply: fc.Arbitrary<ScriptedReply> = fc
  .oneof(
    { weight: 4, arbitrary: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant([]) },
  )
  .map((list) =>
    list.length === 0 ? { text: 'an answer' } : calls(...list.map((name) => call(name, { prompt: 'Help!' }))),
  );

const callIds = ['call_1_0', 'call_1_1', 'call_2_0', 'call_1_0-call_1_0', 'nobody'];
const callId = fc.constantFrom(...callIds);
const odd: EventObject[] = [
  { type: '' },
  { type: '*' },
  { type: 'xstate.*' },
  { type: 'xstate.init' },
  { type: 'xstate.stop' },
  { type: 'xstate.error.actor' },
  { type: 'xstate.done.actor.nobody' },
  { type: '__proto__' },
  { type: 'constructor' },
  { type: 'call.reported' },
  { type: undefined } as never,
];
const event: fc.Arbitrary<EventObject> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<EventObject>({ type: 'user.message', content: 'Go on.', id: 'm' } as never) },
  { weight: 2, arbitrary: fc.constantFrom({ type: 'turn.stop' }, { type: 'turn.retry' }) },
  { weight: 1, arbitrary: fc.constant({ type: 'session.close' }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constantFrom('approval.granted', 'approval.rejected', 'call.cancel'), callId }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('call.result'), callId, output: fc.constant('by hand') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('asking', 'wake', 'call_1_0', 'deadline').map((id) => `xstate.done.actor.${id}`),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...odd) },
);

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), event }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), hops: fc.nat(30) }) },
  { weight: 3, arbitrary: fc.constant({ do: 'breathe' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'advance' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'restore' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ask' as const), event }) },
);

const plan = fc.record({
  answers: fc.array(reply, { maxLength: 6 }),
  commands: fc.array(command, { minLength: 3, maxLength: 16 }),
  /** A subscriber, an inspector or a listener sends it, or stops the actor, the so-manieth time that it hears. */
  reentrant: fc.record({
    who: fc.constantFrom('subscriber', 'inspector', 'listener', 'nobody'),
    at: fc.integer({ min: 1, max: 12 }),
    event: fc.option(event, { nil: undefined }),
  }),
  onMessage: fc.constantFrom('queue' as const, 'supersede' as const, 'refuse' as const),
  input: fc.constantFrom({}, { message: 'Hello.' }, { message: 'Hello.', singleTurn: true }, { message: 7 } as never),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

const machineOf = ({ answers, onMessage }: Plan) => {
  const clock = manualClock();
  const own = [
    toolOf('quick', () => 'quick'),
    toolOf('gated', () => 'gated', { needsApproval: true }),
    toolOf('broken', () => new Error('Oh no!'), { retry: { attempts: 2 } }),
    toolOf('slow', () => new Promise((resolve) => clock.setTimeout(() => resolve('slow'), 500))),
    outsideTool('outside'),
  ];
  const inner = createAgent({ model: scriptedModel([calls(call('gated')), 'inside', 'again']), tools: own, clock });
  const helper = inner.asTool({ name: 'helper', description: 'asks another agent' });
  const model = scriptedModel([...answers, 'the end']);
  const approvals = { onMessage, expireAfter: 1000 };
  const options = { tools: [...own, helper], clock, approvals, retry: { attempts: 2 } };
  return { clock, machine: createAgent({ model, ...options, limits: { maxIterations: 3, deadline: 5000 } }).machine };
};

/** As text; random ids and times of the machine are left out, an actor is its id. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (key, item: unknown) => {
    if (item instanceof Error) return `${item.name}: ${item.message}`;
    if (typeof item === 'function') return 'a function';
    if (typeof item === 'string')
      return item.replaceAll(/[\w-]{21,}|x:\d+/g, (id) => (/\d|_/.test(id) ? 'random' : id));
    if (item === null || typeof item !== 'object') return key === 'ms' || key === 'startedAt' ? 0 : item;
    if ('xstate$$type' in item || ('sessionId' in item && 'ref' in item))
      return `actor ${(item as unknown as AnyActorRef).id.replace(/^x:\d+$/, 'unnamed')}`;
    if ('getMeta' in item) return lookOf(item as never);
    return item;
  }) ?? 'undefined';

const asked = (snapshot: AnyMachineSnapshot, about: EventObject): unknown => {
  try {
    return snapshot.can(about);
  } catch (error) {
    return String(error);
  }
};

/** All that a snapshot tells. */
const lookOf = (snapshot: AnyMachineSnapshot): object => ({
  ...(snapshot.toJSON() as object),
  children: Object.keys(snapshot.children),
  keys: Object.keys(snapshot),
  isMachines: snapshot.machine.root.machine === snapshot.machine,
  can: ['turn.stop', 'turn.retry', 'session.close', 'nothing'].map((type) => asked(snapshot, { type })),
  tags: ['busy', 'waiting', 'settled'].map((tag) => snapshot.hasTag(tag)),
  matches: ['idle', 'thinking', { thinking: 'asking' }, 'done', 'acting'].map((value) =>
    snapshot.matches(value as never),
  ),
  meta: snapshot.getMeta(),
});

const seen = (told: InspectionEvent): unknown => {
  const { _transitions: transitions, ...rest } = told as InspectionEvent & {
    _transitions?: { eventType: string; target?: { id: string }[] }[];
  };
  return {
    ...rest,
    transitions: transitions?.map(({ eventType, target }) => [eventType, target?.map(({ id }) => id)]),
  };
};

/** What is seen of an actor that lives through the plan; `how` is asked again for each restore. */
const lived = async (given: Plan, how: (machine: AgentMachine, lives: number) => AgentMachine): Promise<string[]> => {
  const { clock, machine } = machineOf(given);
  const { reentrant } = given;
  const log: string[] = [];
  using _warned = vi.spyOn(console, 'warn').mockImplementation((...told: unknown[]) => void log.push(textOf(told)));
  let lives = 0;
  let heard = 0;
  let actor: ReturnType<typeof createActor<AgentMachine>> | undefined;
  const hear = (who: string, what: unknown): void => {
    log.push(`${who} ${textOf(what)}`);
    if (who !== reentrant.who || ++heard !== reentrant.at) return;
    if (reentrant.event === undefined) actor?.stop();
    else actor?.send(reentrant.event as never);
  };
  const live = (from?: string): NonNullable<typeof actor> => {
    const born = createActor(how(machine, lives++), {
      id: 'root',
      inspect: (told: InspectionEvent) => hear('inspector', seen(told)),
      ...(from === undefined ? { input: { sessionId: 's', ...given.input } } : { snapshot: JSON.parse(from) as never }),
    } as never) as NonNullable<typeof actor>;
    actor = born;
    born.on('*', (told) => hear('listener', told));
    born.subscribe({
      next: (snapshot) => hear('subscriber', snapshot),
      error: (error) => hear('error', error),
      complete: () => hear('complete', 0),
    });
    return born.start();
  };
  live();
  for (const each of given.commands) {
    const now = actor as unknown as NonNullable<typeof actor>;
    if (each.do === 'send') now.send(each.event as never);
    else if (each.do === 'wait') for (let hop = 0; hop < each.hops; hop += 1) await Promise.resolve();
    else if (each.do === 'breathe') await breath();
    else if (each.do === 'advance') clock.advance(600);
    else if (each.do === 'restore') {
      const text = JSON.stringify(now.getPersistedSnapshot());
      log.push(textOf(JSON.parse(text)));
      if (now.getSnapshot().status === 'active') now.stop();
      live(text);
    } else {
      try {
        const [next, actions] = transition(now.logic, now.getSnapshot(), each.event as never);
        log.push(textOf(next), textOf(actions));
      } catch (error) {
        log.push(textOf(error));
      }
    }
  }
  for (let times = 0; times < 5; times += 1) await breath();
  const last = actor as unknown as NonNullable<typeof actor>;
  log.push(textOf(last.getSnapshot()), textOf(last.getPersistedSnapshot()));
  last.stop();
  return log;
};

test('whatever is sent, asked, stopped and restored: what is seen of an agent is what XState makes of its charts', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (given) => {
      const ours = await lived(given, (machine) => machine);
      const theirs = await lived(given, byXState);
      const inTurns = await lived(given, (machine, lives) => (lives % 2 === 0 ? machine : byXState(machine)));
      for (const log of [ours, inTurns]) {
        const differs = log.findIndex((line, index) => line !== theirs[index]);
        expect(log[differs]).toBe(theirs[differs]);
        expect(log).toHaveLength(theirs.length);
      }
    }),
    { numRuns: 60 },
  );
});
