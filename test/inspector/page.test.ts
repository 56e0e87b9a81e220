import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { createAgent, memoryStore } from '../../src/index.ts';
import { type Inspector, startInspector } from '../../src/inspector/index.ts';
import { createRecorder } from '../../src/inspector/recorder.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startChatServer } from '../examples/chat-server.ts';
import { emptyFolder, startExample } from '../examples/run-example.ts';
import { call, calls, heldTool, toolOf } from '../support/tools.ts';
import { type Watched, chromiumPath, startBrowser, watchPage } from '../support/browser.ts';
import { preparePage } from './http.ts';
import {
  accessFaults,
  litSelector,
  litStates,
  openTab,
  press,
  shownState,
  textOf,
  waitForLit,
  waitForText,
} from './page-actions.ts';
import { tripAgent } from './support.ts';
import { walkingLog, walkingStates } from './walking-log.ts';

// Skipped, and said so, where there is no Chromium: set CHROMIUM to its path.
describe.skipIf(chromiumPath === undefined)('in a real browser', () => {
  let browser: Browser;
  let page: Page;
  let watched: Watched;
  const open: Inspector[] = [];

  beforeAll(async () => {
    await preparePage();
    browser = await startBrowser();
    page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    watched = watchPage(page);
  });
  afterAll(async () => {
    await browser?.close();
    await closeAll();
  });
  beforeEach(() => {
    watched.faults.length = 0;
    watched.hosts.clear();
  });
  afterEach(() => {
    expect(watched.faults).toEqual([]);
    expect([...watched.hosts]).toEqual(['127.0.0.1']);
  });

  const closeAll = async (): Promise<void> => {
    await Promise.all(open.splice(0).map((inspector) => inspector.close()));
  };
  /** The page goes from one inspector to the next: the process that draws it stays. */
  const start = async (options: Parameters<typeof startInspector>[0], { width = 1280, height = 800 } = {}) => {
    const inspector = await startInspector(options);
    await page.setViewportSize({ width, height });
    await page.goto(inspector.url, { waitUntil: 'domcontentloaded' });
    await closeAll();
    open.push(inspector);
    return inspector;
  };
  /** Lets go of servers that have gone: that they do not answer is told by the browser as well. */
  const leave = async (): Promise<void> => {
    await page.goto('about:blank');
    await closeAll();
    watched.faults.splice(0, Infinity, ...watched.faults.filter((fault) => !/net::ERR_|status of 401/.test(fault)));
  };

  test('nothing ran yet: the page says how to begin', async () => {
    await start({});
    await waitForText(page, 'main', 'Nothing ran yet');
    expect(await page.evaluate(() => location.hash)).toBe('');
  });

  test('states light up in order while the agent runs, with the edge just taken', async () => {
    const held = heldTool('look');
    const agent = createAgent({
      name: 'looker',
      model: scriptedModel([calls(call('look')), 'Seen.']),
      tools: [held.tool],
    });
    const inspector = await start({ agents: [agent] });
    const session = await agent.open('s', { inspect: inspector.inspect });
    await session.send('Look.');
    await held.whenBegun(1);
    await waitForText(page, shownState, 'acting');
    await waitForLit(page, 'agent.acting');
    expect(await textOf(page, '.actors')).toContain('running.executing'.split('.')[0]);
    expect(await page.$$eval('.drawing .arrow.taken', (arrows) => arrows.length)).toBe(1);
    held.end(0);
    await session.settled();
    await waitForText(page, shownState, 'done.answered');
    await waitForLit(page, 'agent.done.answered');
    expect(await litStates(page)).toEqual(['agent.done', 'agent.done.answered']);
    const rows = await textOf(page, '.rows');
    const at = (words: string) => rows.indexOf(words);
    const order = ['thinking.asking', 'acting', 'observing.counting', 'done.answered'].map(at);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
  });

  test('the weather example, in a process of its own: its states light up in order, also those that it leaves at once', async () => {
    let begin = (): void => undefined;
    const isOpen = new Promise<void>((resolve) => (begin = resolve));
    const { env } = await startChatServer(async ({ body }) => {
      await isOpen;
      const isAsked = body.messages.at(-1)?.role === 'tool';
      return isAsked ? 'Take a coat.' : { call: 'GetWeather', input: { location: 'Suzhou' } };
    });
    const example = startExample('weather.ts', ['--inspect'], { cwd: await emptyFolder(), env });
    let printed = '';
    example.child.stdout?.on('data', (piece: Buffer) => (printed += piece.toString()));
    await example.shows('#token=');
    await example.shows('\n');
    await page.goto(/Inspector: (\S+)/.exec(printed)?.[1] ?? '', { waitUntil: 'domcontentloaded' });
    await page.waitForSelector('.drawing .active');
    await page.evaluate((selector) => {
      const seen: string[] = [];
      const look = (): void => {
        const active = [...document.querySelectorAll(selector)];
        const state = active.at(-1)?.getAttribute('data-state') ?? '';
        if (seen.at(-1) !== state) seen.push(state);
      };
      look();
      new MutationObserver(look).observe(document.body, { subtree: true, attributes: true, childList: true });
      Object.assign(globalThis, { lit: seen });
    }, litSelector);
    begin();
    await waitForLit(page, 'agent.done.answered');
    const lit = await page.evaluate(() => (globalThis as unknown as { lit: string[] }).lit);
    const states = ['thinking.asking', 'acting', 'observing.counting', 'thinking.asking', 'done.answered'];
    expect(lit).toEqual(states.map((state) => `agent.${state}`));
    expect(await textOf(page, '.conversation')).toContain('Take a coat.');
    const { status, stderr } = await example.finished;
    expect([status, stderr]).toEqual([0, '']);
    await leave();
  });

  test('a click approves with edited arguments, checked while they are typed, and the machine moves on', async () => {
    const seats: number[] = [];
    const { agent, inspected } = tripAgent({ onBook: (input) => seats.push(input.seats) });
    const inspector = await start({ agents: [inspected] });
    const session = await agent.open('trip', { inspect: inspector.inspect });
    await session.send('go');
    await session.settled();
    await waitForText(page, '.approval', 'BookTrain');
    expect(await textOf(page, '.approval')).toContain('Hangzhou');
    await press(page, '.approval', 'Edit…');
    await page.waitForSelector('.approval textarea');
    await page.fill('.approval textarea', '{"to": "Hangzhou", "seats": 12}');
    await waitForText(page, '.approval .problems', 'seats');
    expect(await page.$eval('.approval [type=submit]', (button) => (button as HTMLButtonElement).disabled)).toBe(true);
    await page.fill('.approval textarea', '{"to": "Hangzhou", "seats": 2}');
    await page.waitForSelector('.approval [type=submit]:not(:disabled)');
    await page.click('.approval [type=submit]');
    await waitForText(page, shownState, 'done.answered');
    expect(seats).toEqual([2]);
    expect(await page.$('.approval')).toBe(null);
  });

  test('reject never runs the tool, and its reason reaches the model', async () => {
    const seats: number[] = [];
    const { agent, model, inspected } = tripAgent({ onBook: (input) => seats.push(input.seats) });
    const inspector = await start({ agents: [inspected] });
    const session = await agent.open('trip', { inspect: inspector.inspect });
    await session.send('go');
    await session.settled();
    await page.waitForSelector('[data-reject]');
    await page.keyboard.press('r');
    await page.waitForSelector('.approval textarea');
    await page.fill('.approval textarea', 'too dear');
    await page.click('.approval [type=submit]');
    await waitForText(page, shownState, 'done.answered');
    expect(seats).toEqual([]);
    expect(JSON.stringify(model.requests.at(-1))).toContain('too dear');
  });

  test('the keyboard alone approves: a goes to the button, Enter presses it', async () => {
    const seats: number[] = [];
    const { agent, inspected } = tripAgent({ onBook: (input) => seats.push(input.seats) });
    const inspector = await start({ agents: [inspected] });
    const session = await agent.open('trip', { inspect: inspector.inspect });
    await session.send('go');
    await session.settled();
    await page.waitForSelector('[data-approve]');
    await page.keyboard.press('a');
    expect(seats).toEqual([]);
    await page.keyboard.press('Enter');
    await waitForText(page, shownState, 'done.answered');
    expect(seats).toEqual([1]);
  });

  test('the slider shows the past as it was, and nothing is decided there', async () => {
    const { agent, inspected } = tripAgent();
    const inspector = await start({ agents: [inspected] });
    const session = await agent.open('trip', { inspect: inspector.inspect });
    await session.send('go');
    await session.settled();
    await session.approve(session.pending[0]?.callId ?? '');
    await session.settled();
    await waitForText(page, shownState, 'done.answered');
    /** Steps back until the session was in this state, or something changed; what was shown on the way. */
    const back = (until: string): Promise<string[]> =>
      page.evaluate(async (stop) => {
        const shown: string[] = [];
        const at = (selector: string): string => document.querySelector(selector)?.textContent ?? '';
        for (let step = 0; step < 60; step += 1) {
          const before = at('.moment');
          dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
          for (let tries = 0; tries < 500 && at('.moment') === before; tries += 1) {
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          const changes = [...document.querySelectorAll('.changes dt')].map((path) => path.textContent ?? '');
          shown.push(at('[data-testid=state]'), ...changes);
          if (shown.some((each) => each.startsWith(stop))) break;
        }
        return shown;
      }, until);
    const seen = await back('awaiting-approval');
    expect(seen).toContain('observing.counting');
    expect(await page.$eval('.approval .primary', (button) => (button as HTMLButtonElement).disabled)).toBe(true);
    expect(await litStates(page)).toEqual(['agent.awaiting-approval']);
    expect(await textOf(page, '.conversation')).not.toContain('Your train is booked.');
    await openTab(page, 'Changes');
    expect(await back('round.calls.0')).toContain('round.calls.0.phase');
    await page.keyboard.press('l');
    await waitForText(page, shownState, 'done.answered');
  });

  test('a reload and a server that starts again lose nothing', async () => {
    const recorder = createRecorder();
    const { agent, inspected } = tripAgent();
    const inspector = await start({ recorder, agents: [inspected] });
    const session = await agent.open('trip', { inspect: inspector.inspect });
    await session.send('go');
    await session.settled();
    await waitForText(page, shownState, 'awaiting-approval');
    await page.reload();
    await waitForText(page, shownState, 'awaiting-approval');
    const before = await textOf(page, '.moment');

    await inspector.close();
    await waitForText(page, '.connection', 'Disconnected');
    expect(await textOf(page, '.notice')).toContain('does not answer');
    expect(await textOf(page, shownState)).toBe('awaiting-approval');

    const again = await startInspector({ recorder, agents: [inspected], port: Number(new URL(inspector.url).port) });
    open.push(again);
    await page.goto(again.url);
    await waitForText(page, '.connection', 'Connected');
    await waitForText(page, shownState, 'awaiting-approval');
    expect((await textOf(page, '.moment')).split(' +')[0]).toBe(before.split(' +')[0]);
    await press(page, '.approval', 'Approve');
    await waitForText(page, shownState, 'done.answered');
    await leave();
  });

  test('text of tools and models is text: no markup, no control characters, in names, arguments, results and errors', async () => {
    const evil = '<img src=x onerror="alert(1)"><script>alert(2)</script>\u001b[31mred\u202e';
    const tools = [
      toolOf('show', () => evil),
      toolOf('fail', () => {
        throw new Error(evil);
      }),
      toolOf('pay', () => 'paid', { needsApproval: true }),
    ];
    const agent = createAgent({
      name: `agent ${evil}`,
      model: scriptedModel([
        {
          text: evil,
          toolCalls: [call('show', { [evil]: evil }), call('fail', { evil }), call(`no-such-${evil}`, {})],
        },
        calls(call('pay', { evil })),
      ]),
      tools,
    });
    const inspector = await start({ agents: [{ ...agent, tools }] });
    const session = await agent.open(`s ${evil}`, { inspect: inspector.inspect });
    await session.send(evil);
    await session.settled();
    await waitForText(page, '.approval', '<img src=x onerror=');
    for (const tab of ['Timeline', 'Round', 'Changes']) {
      await openTab(page, tab);
    }
    const shown = await page.$eval('#page', (root) => (root as HTMLElement).textContent ?? '');
    expect(shown).toContain('<script>alert(2)</script>');
    expect(shown).toContain('\\u001b[31mred\\u202e');
    await press(page, '.approval', 'Edit…');
    const draft = await page.inputValue('.approval textarea');
    expect(JSON.parse(draft)).toEqual({ evil });
    // eslint-disable-next-line no-control-regex
    expect(`${shown}${draft}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    expect(await page.$$eval('#page img, #page script, #page iframe, #page a', (found) => found.length)).toBe(0);
    expect(session.pending).toHaveLength(1);
  });

  test('what somebody edits stays there when another session begins; a schema that no browser reads keeps nobody from it', async () => {
    const paid: unknown[] = [];
    const pay = toolOf('pay', (input) => paid.push(input), { needsApproval: true });
    const model = scriptedModel([calls(call('pay', { sum: 3 })), 'ok']);
    const agent = createAgent({ name: 'clerk', model, tools: [pay] });
    const pattern = { type: 'object' as const, properties: { sum: { type: 'string', pattern: '(?i)^a' } } };
    const inspector = await start({ agents: [{ ...agent, tools: [{ name: 'pay', inputSchema: pattern }] }] });
    await agent.run('Pay.', { session: 'first', inspect: inspector.inspect });
    await waitForText(page, '.where', 'first');
    await press(page, '.approval', 'Edit…');
    await page.fill('.approval textarea', '{"sum": "a"}');
    const other = createAgent({ name: 'other', model: scriptedModel(['hello']) });
    await other.run('Hi.', { session: 'second', inspect: inspector.inspect });
    await waitForText(page, '.sessions', 'second');
    expect(await page.inputValue('.approval textarea')).toBe('{"sum": "a"}');
    await page.click('.approval [type=submit]');
    await waitForText(page, shownState, 'done.answered');
    expect(paid).toEqual([{ sum: 'a' }]);
  });

  test('of thousands of sessions the newest are listed, and those that wait for somebody', async () => {
    const recorder = createRecorder();
    const { agent } = tripAgent();
    const session = await agent.open('waits', { inspect: recorder.inspect });
    await session.send('go');
    await session.settled();
    for (let index = 0; index < 5_000; index += 1) {
      const [id, actor] = [`s${index}`, `a${index}`];
      recorder.log.append({ type: 'session', session: id, root: actor });
      recorder.log.append({
        type: 'actor',
        session: id,
        actor,
        parent: null,
        id,
        src: 'm',
        chart: null,
        states: ['m.done'],
      });
    }
    await start({ recorder });
    await waitForText(page, '.sessions h2', '5001');
    expect(await page.$$eval('.session', (rows) => rows.length)).toBe(201);
    await waitForText(page, '.session', 'waits');
    await press(page, '.sessions', 'Show 200 earlier');
    await page.waitForFunction(() => document.querySelectorAll('.session').length === 401);
  });

  test('a session of a store is shown with its past, and decided on there', async () => {
    const store = memoryStore();
    const tools = [toolOf('pay', () => 'paid', { needsApproval: true })];
    const first = createAgent({ name: 'clerk', model: scriptedModel([calls(call('pay', { sum: 3 }))]), tools, store });
    await first.run('Pay.', { session: 'kept' });
    await first.close();
    const second = createAgent({ name: 'clerk', model: scriptedModel(['It is paid.']), tools, store });
    await start({ store, agents: [{ ...second, tools }] });
    await waitForText(page, '.session', 'waiting, not open here');
    await page.click('.session');
    await waitForText(page, shownState, 'awaiting-approval');
    await waitForText(page, '.rows', 'thinking.asking');
    await press(page, '.approval', 'Approve');
    await waitForText(page, '.conversation', 'It is paid.');
    await second.close();
  });

  test('sessions of a file are followed while another process writes them, decided on, and forked from the slider', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'agentchart-page-'));
    const path = join(folder, 'sessions.db');
    const writer = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'store-writer.ts'), path, 'order 7'],
      { env: { ...process.env, NODE_OPTIONS: '' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    try {
      await once(writer.stderr, 'data');
      await start({ store: path });
      await waitForText(page, shownState, 'awaiting-approval');
      await waitForText(page, '.approval', '"sum": 3');
      await press(page, '.approval', 'Approve');
      await waitForText(page, shownState, 'done.answered');
      await waitForText(page, '.conversation', 'It is done.');
      await page.locator('.row', { hasText: 'awaiting-approval' }).first().dispatchEvent('click');
      await waitForText(page, shownState, 'awaiting-approval');
      await press(page, '.scrubber', 'Fork here');
      await waitForText(page, '.notice', 'This is a copy of order 7');
      await page.waitForSelector('.session[aria-current=true]:not(:has-text("order 7"))');
      expect(await textOf(page, shownState)).toBe('awaiting-approval');
      expect(await page.locator('[data-approve]:not(:disabled)').count()).toBe(1);
    } finally {
      writer.kill();
      await leave();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  });

  test('64 parallel calls are readable: each has its row, its bar and its words', async () => {
    const tools = [toolOf('fetch', () => 'ok')];
    const many = Array.from({ length: 64 }, (_, index) => call('fetch', { page: index }));
    const agent = createAgent({ model: scriptedModel([calls(...many), 'all']), tools, concurrency: 8 });
    const inspector = await start({ agents: [agent] });
    await agent.run('Fetch all.', { session: 's', inspect: inspector.inspect });
    await waitForText(page, shownState, 'done.answered');
    await openTab(page, 'Round');
    await page.waitForSelector('.waterfall li');
    const rows = await page.$$eval('.waterfall ol li', (items) =>
      items.map((item) => ({
        label: item.getAttribute('aria-label') ?? '',
        height: item.getBoundingClientRect().height,
        bars: item.querySelectorAll('.bar').length,
      })),
    );
    expect(rows).toHaveLength(64);
    expect(
      rows.filter(({ label, height, bars }) => !/fetch: .*ran .*, ok$/.test(label) || height < 18 || bars < 1),
    ).toEqual([]);
  });

  test('at 1,024 px nothing is cut off, and every control has a name', async () => {
    const { agent, inspected } = tripAgent();
    const inspector = await start({ agents: [inspected] }, { width: 1024, height: 768 });
    const session = await agent.open('trip', { inspect: inspector.inspect });
    await session.send('go');
    await session.settled();
    await waitForText(page, shownState, 'awaiting-approval');
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    const nameless = await page.$$eval('button, input, textarea, [role=button], [role=meter], svg[role]', (elements) =>
      elements
        .filter((element) => {
          const label = element.getAttribute('aria-label') ?? element.textContent ?? '';
          return label.trim() === '' && element.closest('label') === null;
        })
        .map((element) => element.outerHTML.slice(0, 80)),
    );
    expect(nameless).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await accessFaults(page, ['color-contrast'])).toEqual([]);
    expect(await page.$eval('svg.drawing', (svg) => svg.getAttribute('aria-label'))).toBe(
      'Statechart agent, active: awaiting-approval',
    );
    await page.$eval('[data-state="agent.thinking.deciding"]', (chip) =>
      chip.dispatchEvent(new MouseEvent('click', { bubbles: true })),
    );
    await waitForText(page, '.state-facts', 'hasNoCalls');
  });

  test('a log of 100,000 transitions opens and scrolls', async () => {
    const log = walkingLog(100_000, { maxEvents: 1_000_000, maxBytes: 1e9 });
    await start({ recorder: createRecorder(log) });
    await waitForText(page, '.moment', '100,000 / 100,000');
    await page.$eval('.rows', (rows) => (rows.scrollTop = 50_000 * 24));
    await waitForText(page, '.row', 'go');
    expect(await page.$$eval('.row', (rows) => rows.length)).toBeLessThan(60);
    await page.$eval('.scrubber input', (slider) => {
      (slider as HTMLInputElement).value = '50001';
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await waitForText(page, '.moment', '50,002 / 100,000');
    expect(await litStates(page)).toEqual([walkingStates[50_002 % 4]]);
  });
});
