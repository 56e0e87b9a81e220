const longestBurst = 100;

let burst = 0;
let pause: Promise<void> | undefined;

// Node's own, from before a test installs fake timers: they must not stop the agent.
const immediate: ((callback: () => void) => unknown) | undefined = globalThis.setImmediate as
  | typeof globalThis.setImmediate
  | undefined;

/** Resolves in a later task of the event loop. */
export const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    if (immediate !== undefined) {
      immediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

/**
 * Work that never leaves the queue of microtasks keeps timers, sockets and a user's stop from being heard. Of every hundred effects one
 * waits for the event loop, and with it those that start meanwhile.
 */
export const breath = (): Promise<void> | undefined => {
  burst += 1;
  if (burst < longestBurst) return undefined;
  pause ??= nextTask().then(() => {
    burst = 0;
    pause = undefined;
  });
  return pause;
};
