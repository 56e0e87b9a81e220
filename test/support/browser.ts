import { existsSync } from 'node:fs';
import { type Browser, type Page, chromium } from 'playwright-core';

/** All that is off: this list stands in the place of Playwright's own, which is repeated here as far as it matters to these pages. */
const disabledFeatures = [
  // Two pages of the browser's own for every window, which nobody sees and which cost more than most pages of the tests.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  // What asks hosts of the network when a window opens.
  'AimEnabled',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PreconnectToSearch',
  // What changes how pages load and are left.
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
];

/** The Chromium of this machine: what CHROMIUM names, or the first that is found; undefined where there is none. */
export const chromiumPath: string | undefined = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => path !== '' && existsSync(path));

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${disabledFeatures.join(',')}`,
      // A process less to start.
      '--in-process-gpu',
      // A page stays in the process in which it began empty.
      '--disable-site-isolation-trials',
    ],
  });

/** What went wrong on a page, and which hosts it asked. */
export interface Watched {
  faults: string[];
  hosts: Set<string>;
}

export const watchPage = (page: Page): Watched => {
  const watched: Watched = { faults: [], hosts: new Set() };
  const { faults, hosts } = watched;
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().startsWith('http')) hosts.add(new URL(request.url()).hostname);
  });
  return watched;
};
