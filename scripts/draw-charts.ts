// Writes the pictures of the shipped machines into docs; `pictures` is what they have to be.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartToSvg } from '../src/inspector/index.ts';
import { shippedMachines } from './shipped-machines.ts';

/** File names and their text. Where a machine goes, not all that it hears on the way. */
export const pictures: [file: string, svg: string][] = Object.entries(shippedMachines).map(([name, machine]) => [
  `${name}.svg`,
  chartToSvg(machine, { internal: false }),
]);

if (import.meta.main) {
  for (const [file, svg] of pictures) writeFileSync(join(import.meta.dirname, '..', 'docs', file), svg);
}
