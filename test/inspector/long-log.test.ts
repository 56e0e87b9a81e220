import * as fc from 'fast-check';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { encodeEvent, encodeView } from '../../src/inspector/encode.ts';
import type { EventLog } from '../../src/inspector/event-log.ts';
import { type Inspector, startInspector } from '../../src/inspector/index.ts';
import { packEvents, unpackEvents } from '../../src/inspector/packed-events.ts';
import { History } from '../../src/inspector/page/history.ts';
import { readPast } from '../../src/inspector/page/read-past.ts';
import type { ProtocolEvent } from '../../src/inspector/protocol.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { logSlice } from '../../src/inspector/server/log-slice.ts';
import { type ViewState, reduceView } from '../../src/inspector/view-state.ts';
import { ask, placeOf, preparePage, readHead } from './http.ts';
import { eventsOf, tripAgent } from './support.ts';
import { appendSteps, walkingLog } from './walking-log.ts';

const open: Inspector[] = [];
beforeAll(preparePage);
afterEach(async () => {
  await Promise.all(open.splice(0).map((inspector) => inspector.close()));
});

const parsed = <T>(text: string): T => JSON.parse(text) as T;
const headOf = (log: EventLog): ViewState =>
  parsed(encodeView(eventsOf(log).reduce((view, event) => reduceView(view, event), log.base())));

/** All that a page has when it was there from the first event that is kept. */
const wholeHistory = (log: EventLog): History => {
  const history = new History();
  history.begin(parsed(encodeView(log.base())));
  history.add(eventsOf(log).map((event) => parsed<ProtocolEvent>(encodeEvent(event))));
  return history;
};

test('events that are packed for the page are the same when they are unpacked', async () => {
  const recorder = createRecorder();
  const { agent, inspected } = tripAgent();
  recorder.describe(inspected);
  await agent.run('go', { session: 'trip', inspect: recorder.inspect });
  await agent.close();
  const { log } = recorder;
  const plain = eventsOf(log).map((event) => parsed<ProtocolEvent>(encodeEvent(event)));
  expect(unpackEvents(parsed(packEvents(0, eventsOf(log))))).toEqual(plain);
  expect(unpackEvents(parsed(packEvents(0, eventsOf(log), 1)))).toEqual(plain.slice(0, 1));
});

test('the head first and the past afterwards come to what is there from the beginning, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.integer({ min: 0, max: 25 }), { maxLength: 6 }),
      fc.integer({ min: 20, max: 200 }),
      async (before, bursts, maxEvents) => {
        const meanwhile = [...bursts];
        const log = walkingLog(before, { maxEvents });
        const history = new History();
        history.beginAtHead(headOf(log));
        let heard = log.last;
        /** What a stream sends: what is new, or what all came to where the log has moved on. */
        const hear = (): void => {
          if (heard < log.folded) history.beginAtHead(headOf(log));
          history.add(log.after(heard, Infinity).map((event) => parsed<ProtocolEvent>(encodeEvent(event))));
          heard = log.last;
        };
        const get = async (path: string): Promise<unknown> => {
          const slice = logSlice(log, Number(new URLSearchParams(path.split('?')[1]).get('after')), 7);
          // More happens while a part of the past is on its way.
          appendSteps(log, meanwhile.pop() ?? 0);
          hear();
          return parsed(slice);
        };
        await readPast(history, log.run, { get }, () => undefined);
        const whole = wholeHistory(log);
        expect(history.part).toBe(1);
        expect(history.head).toEqual(whole.head);
        const shown = history.entriesOf('s');
        // What was folded away after it was read is still here.
        expect(shown.slice(-whole.entriesOf('s').length || shown.length)).toEqual(whole.entriesOf('s'));
        const moment = log.folded + Math.floor((log.last - log.folded) / 2);
        expect(history.at(moment)).toEqual(whole.at(moment));
      },
    ),
    { numRuns: 60 },
  );
});

test('a past that is cut off stays as far as it came, and goes on from there', async () => {
  const log = walkingLog(20);
  const history = new History();
  history.beginAtHead(headOf(log));
  let answers = 2;
  const get = async (path: string): Promise<unknown> => {
    answers -= 1;
    const after = Number(new URLSearchParams(path.split('?')[1]).get('after'));
    return answers < 0 ? undefined : parsed(logSlice(log, after, 10));
  };
  await readPast(history, log.run, { get }, () => undefined);
  expect(history.keptUntil).toBe(20);
  expect(history.part).toBeLessThan(1);
  expect(history.head).toEqual(headOf(log));
  answers = 100;
  await readPast(history, log.run, { get }, () => undefined);
  expect(history.part).toBe(1);
  expect(history.entriesOf('s')).toEqual(wholeHistory(log).entriesOf('s'));
});

test('a newcomer to a long log gets what it came to at once, and the past only when he asks', async () => {
  const log = walkingLog(4_000);
  const inspector = await startInspector({ recorder: createRecorder(log) });
  open.push(inspector);
  const first = await readHead(inspector.url);
  expect(first.view).toEqual(headOf(log));
  expect(first.lastEventId).toBe(`${log.run}:${log.last}`);
  appendSteps(log, 1);
  const { token } = placeOf(inspector.url);
  const headers = { authorization: `Bearer ${token}` };
  const past = await ask(inspector.url, `/log?run=${log.run}&after=5000`, { headers });
  expect(unpackEvents(parsed<{ packed: never }>(past.body).packed).map(({ seq }) => seq)[0]).toBe(5_001);
  expect((await ask(inspector.url, `/log?run=other&after=0`, { headers })).status).toBe(409);
  expect((await ask(inspector.url, `/log?run=${log.run}&after=-1`, { headers })).status).toBe(409);
  expect((await ask(inspector.url, `/log?run=${log.run}&after=0`)).status).toBe(401);
});
