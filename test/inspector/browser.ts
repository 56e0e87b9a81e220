import { existsSync } from 'node:fs';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

/** A Chromium of this machine; undefined where there is none, and then the tests are skipped. */
export const chromium = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

export const launch = (): Promise<Browser> =>
  puppeteer.launch({
    executablePath: chromium ?? '',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

/** What went wrong on a page, and where it asked for something. */
export interface Watched {
  page: Page;
  faults: string[];
  hosts: Set<string>;
}

export const watchPage = async (browser: Browser): Promise<Watched> => {
  const page = await browser.newPage();
  const faults: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warn') faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().startsWith('http')) hosts.add(new URL(request.url()).hostname);
  });
  return { page, faults, hosts };
};

export const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, (element) => (element as HTMLElement).innerText);

/** Waits until a selector's text holds these words. */
export const waitForText = async (page: Page, selector: string, words: string): Promise<void> => {
  await page.waitForFunction(
    (at, wanted) =>
      [...document.querySelectorAll(at)].some((element) => (element as HTMLElement).innerText.includes(wanted)),
    // Not by frames: drawing sixty of them a second is more work than the page.
    { timeout: 30_000, polling: 50 },
    selector,
    words,
  );
};

/** The states that are lit in the chart, innermost ones last. */
export const litStates = (page: Page): Promise<string[]> =>
  page.$$eval('.drawing .active[data-state], .drawing .active > [data-state]', (elements) =>
    elements.map((element) => element.getAttribute('data-state') ?? ''),
  );
