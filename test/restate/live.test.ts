import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentEvent, createAgent } from '../../src/index.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { followWorkers, restateSessions } from '../../src/restate/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { type RestateServer, restateMissing, startRestate } from '../support/restate-server.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';
import { viewOf } from '../inspector/support.ts';
import { modelByHistory } from '../support/models.ts';
import { serveAgent } from './serve.ts';

const all = async (events: AsyncIterable<AgentEvent>, onFirst?: () => void): Promise<AgentEvent[]> => {
  const found: AgentEvent[] = [];
  for await (const event of events) {
    if (found.push(event) === 1) onFirst?.();
  }
  return found;
};

/** All events, and a promise that somebody listens. */
const listen = (events: AsyncIterable<AgentEvent>): { joined: Promise<void>; events: Promise<AgentEvent[]> } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { joined: promise, events: all(events, resolve) };
};

/** Messages have ids of their own. */
const withoutIds = (events: readonly AgentEvent[]) => events.filter(({ type }) => type !== 'message-fate');

describe.skipIf(restateMissing !== false)('what happens on Restate, as it happens', () => {
  let server: RestateServer;
  beforeAll(async () => {
    server = await startRestate();
  });
  afterAll(() => server.close());

  const script = () =>
    scriptedModel([
      { text: 'I look.', reasoning: 'Hm.', toolCalls: [{ name: 'Look' }] },
      { text: 'It is there. I am sure.' },
    ]);
  const look = toolOf('Look', (_, { progress }) => {
    progress({ seen: 'half' });
    return 'seen';
  });

  test('a reader hears the same events as in memory', async () => {
    await using served = await serveAgent(server, { model: script(), tools: [look], name: 'told' });
    const live = [await served.worker.listenLive()];
    const sessions = restateSessions({ ingress: server.ingress, agent: served.agent, live });
    const session = await sessions.open('s');
    const remote = listen(session.stream());
    await remote.joined;
    await session.send('Where?');

    await using memory = await createAgent({ model: script(), tools: [look] }).open('s');
    const local = listen(memory.stream());
    await local.joined;
    await memory.send('Where?');
    expect(withoutIds(await remote.events)).toEqual(withoutIds(await local.events));
  });

  test('a reader that joins late gets the turn so far, and of the reply under way what was said', async () => {
    const held = heldTool('Held');
    const gate = Promise.withResolvers<void>();
    const spoken = Promise.withResolvers<void>();
    const model = {
      name: 'slow',
      generate: () => Promise.reject(new Error('somebody reads')),
      stream: async function* () {
        yield { type: 'text-delta' as const, text: 'One ' };
        yield { type: 'text-delta' as const, text: 'two ' };
        spoken.resolve();
        await gate.promise;
        yield { type: 'text-delta' as const, text: 'three.' };
        yield {
          type: 'finish' as const,
          reply: { message: { role: 'assistant' as const, content: 'One two three.' }, finishReason: 'stop' as const },
        };
      },
    };
    await using served = await serveAgent(server, { model, tools: [held.tool], name: 'late' });
    const live = [await served.worker.listenLive(), 'http://127.0.0.1:9'];
    const sessions = restateSessions({ ingress: server.ingress, agent: 'late', live });
    const session = await sessions.open();
    const first = all(session.stream());
    await session.send('Count.');
    await spoken.promise;
    const late = session.stream()[Symbol.asyncIterator]();
    const heard: AgentEvent[] = [];
    while (!heard.some(({ type }) => type === 'text-delta')) {
      const { value } = await late.next();
      heard.push(value as AgentEvent);
    }
    expect(heard.map(({ type }) => type)).toEqual(['joined', 'step-start', 'text-delta']);
    expect(heard.at(-1)).toEqual({ type: 'text-delta', text: 'One two ' });
    gate.resolve();
    for (;;) {
      const { value, done } = await late.next();
      if (done === true) break;
      heard.push(value);
    }
    const textOf = (events: readonly AgentEvent[]) =>
      events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('');
    expect(textOf(heard)).toBe('One two three.');
    expect(textOf(await first)).toBe('One two three.');
    expect(heard.at(-1)).toMatchObject({ type: 'finish', result: { text: 'One two three.' } });
  });

  test('where no worker is heard the engine tells what the turn has come to', async () => {
    await using served = await serveAgent(server, { model: script(), tools: [look], name: 'silent' });
    const session = await served.open();
    const reading = all(session.stream());
    await session.send('Where?');
    const events = await reading;
    const from = events.findLastIndex(({ type }) => type === 'joined');
    expect(events.slice(from).map(({ type }) => type)).toEqual([
      'joined',
      'step-start',
      'reasoning-delta',
      'text-delta',
      'step-finish',
      'tool-call',
      'tool-result',
      'step-start',
      'text-delta',
      'step-finish',
      'finish',
    ]);
    // A turn that is over is told to whoever joins after it.
    expect((await all(session.stream())).at(-1)).toMatchObject({ type: 'finish' });
  });

  test('events go on over turns; who leaves stops nothing', async () => {
    const model = scriptedModel([calls(call('Look')), 'One.', 'Two.', 'Three.']);
    await using served = await serveAgent(server, { model, tools: [look], name: 'going-on' });
    const live = [await served.worker.listenLive()];
    const session = await restateSessions({ ingress: server.ingress, agent: 'going-on', live }).open();
    const ends: string[] = [];
    await session.send('First.');
    await session.settled();
    for await (const event of session.events({ from: 'turn' })) {
      if (event.type !== 'finish') continue;
      if (ends.push(event.result.text) === 2) break;
      await session.send('Second.');
    }
    expect(ends).toEqual(['One.', 'Two.']);
    await session.send('Third.');
    expect((await session.settled()).text).toBe('Three.');
  });

  test('one inspector shows the sessions of all workers', async () => {
    const name = 'shown';
    const worker = async () => {
      const recorder = createRecorder();
      const model = modelByHistory([calls(call('Look')), 'One.', calls(call('Look')), 'Two.']);
      const served = await serveAgent(server, { name, model, tools: [look] }, { recorder });
      return { served, recorder, live: await served.worker.listenLive() };
    };
    const [one, two] = [await worker(), await worker()];
    await using _one = one.served;
    await using _two = two.served;
    const recorder = createRecorder();
    const following = followWorkers({ live: [one.live, two.live], recorder });
    const session = await one.served.open('seen');
    for (const { served } of [one, two]) {
      await server.register(served.uri);
      await session.send('Look.');
      await session.settled();
    }
    const text = await new Promise<string>((resolve) => {
      const lookAgain = (): void => {
        const seen = JSON.stringify(viewOf(recorder.log));
        if (seen.includes('Two.') && seen.includes('done.answered')) resolve(seen);
      };
      recorder.log.subscribe(lookAgain);
      lookAgain();
    });
    following.close();
    const view = JSON.parse(text) as ReturnType<typeof viewOf>;
    expect(Object.keys(view.sessions)).toEqual(['seen']);
    expect(view.sessions['seen']).toMatchObject({ agent: name });
    expect(Object.values(view.agents)).toMatchObject([{ name, tools: [{ name: 'Look' }] }]);
    // Each of them had the session in hand.
    expect(one.recorder.log.last).toBeGreaterThan(0);
    expect(two.recorder.log.last).toBeGreaterThan(0);
  });
});
