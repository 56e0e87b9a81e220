import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

export const shownState = '[data-testid=state]';

export const textOf = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();

/** Waits until a selector's text holds these words. */
export const waitForText = async (page: Page, selector: string, words: string): Promise<void> => {
  await page.waitForFunction(
    ([at, wanted]) =>
      [...document.querySelectorAll<HTMLElement>(at ?? '')].some(({ innerText }) => innerText.includes(wanted ?? '')),
    [selector, words],
    // Not by frames: drawing sixty of them a second is more work than the page.
    { timeout: 120_000, polling: 30 },
  );
};

/** Presses a button by its words, without the way of the mouse there. */
export const press = (page: Page, within: string, words: string): Promise<void> =>
  page.locator(`${within} button`, { hasText: words }).first().dispatchEvent('click');

export const openTab = async (page: Page, name: string): Promise<void> => {
  await press(page, '.tabs', name);
  await page.waitForSelector(`[role=tabpanel][aria-label=${name}]`, { state: 'attached' });
};

/** Waits until a state is lit: the chart shows one after the other. */
export const waitForLit = (page: Page, state: string): Promise<unknown> =>
  page.waitForSelector(
    `.drawing .chip.active[data-state="${state}"], .drawing .state.active > [data-state="${state}"]:not(.chip)`,
  );

/** What is lit in the chart: boxes, and the nested states in them. */
export const litSelector = '.drawing .chip.active, .drawing .state.active > [data-state]:not(.chip)';

/** The states that are lit in the chart, innermost ones last. */
export const litStates = (page: Page): Promise<string[]> =>
  page.$$eval(litSelector, (elements) => elements.map((element) => element.getAttribute('data-state') ?? ''));

/** What axe finds on the page that keeps somebody from it: the rule, and the places. Where only colours changed since, `rules` names theirs. */
export const accessFaults = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  const script = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(script);
  return page.evaluate(
    async (options) => {
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
      const { violations } = await axe.run(options);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
    },
    { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: [...rules] }) },
  );
};
