import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Frees all that nothing holds: what only a promise that is done still reaches goes in a later round. */
export const collect = async (): Promise<void> => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
};
