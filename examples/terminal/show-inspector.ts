import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { AgentError } from 'agentchart';
import { type Inspector, type InspectorOptions, startInspector } from 'agentchart/inspector';

export interface Shown {
  inspect?: Inspector['inspect'];
  /** In a terminal the page stays until Ctrl-C; elsewhere nobody waits for it. */
  stay(): Promise<void>;
  close(): Promise<void>;
}

const isTerminal = (): boolean => process.stdout.isTTY && process.stdin.isTTY && !process.env['CI'];

/** Over SSH, and without a display, there is none to open. */
const hasBrowser = (): boolean => {
  const { DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME, SSH_CONNECTION } = process.env;
  if (!isTerminal() || SSH_CONNECTION !== undefined) return false;
  return process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY ?? WSL_DISTRO_NAME);
};

const openBrowser = async (url: string): Promise<void> => {
  try {
    const { default: open } = await import('open');
    (await open(url)).on('error', () => undefined);
  } catch {
    // The address is on the screen.
  }
};

/** Starts the inspector with the page of this clone, prints its address, and opens it where there is a browser. */
export const showInspector = async (options: InspectorOptions): Promise<Shown> => {
  let inspector: Inspector;
  try {
    const { buildStalePage } = await import('../../scripts/build-page.ts');
    await buildStalePage(fileURLToPath(new URL('../../dist/inspector/page', import.meta.url)));
    inspector = await startInspector(options);
  } catch (error) {
    // The agent runs without it as well.
    if (!(error instanceof AgentError)) throw error;
    console.log(`No inspector: ${error.message}`);
    return { stay: async () => undefined, close: async () => undefined };
  }
  const { url, inspect, close } = inspector;
  console.log(`Inspector: ${url}`);
  if (hasBrowser()) await openBrowser(url);
  return {
    inspect,
    stay: async () => {
      if (!isTerminal()) return;
      // npm passes on what the terminal has sent already: the second one must not end it harshly.
      const interrupted = new Promise((resolve) => process.on('SIGINT', resolve));
      console.log(styleText('dim', '\nThe inspector stays open until you press Ctrl-C.'));
      await interrupted;
    },
    close,
  };
};
