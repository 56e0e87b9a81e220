import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath, startBrowser } from '../support/browser.ts';
import { type HeldModel, startHeldModel } from './held-model.ts';
import { type Running, emptyFolder, startExample } from './run-example.ts';

const question = 'Compare the weather in Suzhou and Hangzhou, then book me a train to the drier one.';

// Where there is no Chromium the report says that these were skipped; CHROMIUM names one that stands elsewhere.
describe.skipIf(chromiumPath === undefined)('the pages in React, in a browser', () => {
  let model: HeldModel;
  let server: Running;
  let browser: Browser;
  let url = '';

  beforeAll(async () => {
    model = await startHeldModel();
    server = startExample('react/serve.ts', [], { cwd: await emptyFolder(), env: { ...model.env, PORT: '0' } });
    let printed = '';
    server.child.stdout?.on('data', (piece: Buffer) => (printed += piece.toString()));
    const [opened] = await Promise.all([startBrowser(), server.shows('/machine')]);
    browser = opened;
    url = /http:\/\/127\.0\.0\.1:\d+(?=\/chat)/.exec(printed)?.[0] ?? '';
  });

  afterAll(async () => {
    await browser?.close();
    server?.child.kill('SIGINT');
    await server?.finished;
    await model?.close();
  });

  /** A page of a user of its own, and what went wrong in it. */
  const openPage = async (path: string): Promise<{ page: Page; errors: string[] }> => {
    // Small: what is drawn is looked at by nobody.
    const context = await browser.newContext({ viewport: { width: 480, height: 320 } });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('response', (response) => {
      if (response.status() >= 400 && response.status() !== 404) errors.push(`${response.status()} ${response.url()}`);
    });
    await page.goto(`${url}${path}`);
    return { page, errors };
  };
  const ask = async (page: Page): Promise<void> => {
    await page.getByLabel('message').fill(question);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const edit = async (page: Page, seats: number): Promise<void> => {
    const box = page.getByLabel('arguments');
    await box.fill(JSON.stringify({ ...JSON.parse(await box.inputValue()), seats }));
  };

  test('useChat: text streams in, calls and results are shown, and what is approved runs with edited arguments', async () => {
    const { page, errors } = await openPage('/chat');
    const pieces = page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          const seen: string[] = [];
          new MutationObserver((_, observer) => {
            const text = document.querySelector('section[data-role=assistant] p')?.textContent ?? '';
            if (text !== '' && text !== seen.at(-1)) seen.push(text);
            if (!text.endsWith('at once.')) return;
            observer.disconnect();
            resolve(seen);
          }).observe(document.body, { subtree: true, childList: true, characterData: true });
        }),
    );
    await ask(page);
    // The rest comes when its beginning is on the page.
    await page.locator('section[data-role=assistant] p', { hasText: 'I' }).waitFor();
    model.release();
    const seen = await pieces;
    expect(seen.length).toBeGreaterThan(1);
    for (const piece of seen) expect('I look at both cities at once.'.startsWith(piece)).toBe(true);
    await page.locator('[data-call=call_1_0][data-state=output-available]').waitFor();
    expect(await page.locator('[data-call=call_1_0]').textContent()).toContain('"rainChance":80');
    await edit(page, 2);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('booked for 146 yuan').waitFor();
    expect(await page.locator('[data-call=call_2_0]').textContent()).toContain('"seats":2} {"train":"G7349"');
    expect(await page.locator('section').count()).toBe(2);
    expect(errors).toEqual([]);
  });

  test.concurrent('useChat: a page that is loaded again joins the stream, waits for the same decision, and shows how it ended', async () => {
    const { page, errors } = await openPage('/chat');
    await ask(page);
    await page.locator('section[data-role=assistant] p').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Reject' }).waitFor();
    expect(await page.locator('section').count()).toBe(2);
    expect(await page.getByText('I look at both cities at once.').count()).toBe(1);
    await page.reload();
    await page.getByLabel('reason').fill('by bus instead');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('I have booked nothing').waitFor();
    await page.locator('[data-call=call_2_0][data-state=output-denied]').waitFor();
    await page.reload();
    await page.getByText('by bus instead').waitFor();
    expect(await page.locator('section').count()).toBe(2);
    expect(errors).toEqual([]);
  });

  test.concurrent('useChat: another user does not see the chat', async () => {
    const { page } = await openPage('/chat');
    await ask(page);
    await page.locator('section[data-role=assistant] p').waitFor();
    const { page: other } = await openPage(`/chat${new URL(page.url()).hash}`);
    await other.getByLabel('message').waitFor();
    expect(await other.locator('section').count()).toBe(0);
  });

  test.concurrent('useMachine: the agent runs in the page: calls and results, an approval with edited arguments, a rejection', async () => {
    const { page, errors } = await openPage('/machine');
    expect(await page.getByRole('status').textContent()).toBe('"idle"');
    await ask(page);
    await page.getByText('BookTrain awaiting-decision').waitFor();
    expect(await page.getByRole('status').textContent()).toBe('"awaiting-approval"');
    await edit(page, 3);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('booked for 219 yuan').waitFor();
    expect(await page.getByRole('status').textContent()).toBe('{"done":"answered"}');
    await ask(page);
    await page.getByLabel('reason').fill('by bus instead');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page
      .getByText('assistant: Suzhou: clouds, 80 % rain; Hangzhou: clouds, 10 % rain. I have booked nothing')
      .waitFor();
    expect(await page.locator('[data-role=user]').count()).toBe(2);
    expect(errors).toEqual([]);
  });
});
