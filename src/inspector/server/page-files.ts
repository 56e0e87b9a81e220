import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

const types = {
  'index.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
} as const;

export interface PageFile {
  type: string;
  body: Buffer;
}

/** Beside this file in the package; in a checkout where `npm run build` puts it. */
const folders = [new URL('../page/', import.meta.url), new URL('../../../dist/inspector/page/', import.meta.url)];

/** The page by its paths. Throws where it was not built. */
export const readPageFiles = async (): Promise<ReadonlyMap<string, PageFile>> => {
  const folder = folders.find((each) => existsSync(new URL('page.js', each)));
  if (folder === undefined) throw new Error('the page of the inspector is not built; run `npm run build`');
  const files = await Promise.all(
    Object.entries(types).map(async ([name, type]): Promise<[string, PageFile]> => {
      const body = await readFile(new URL(name, folder));
      return [name === 'index.html' ? '/' : `/${name}`, { type, body }];
    }),
  );
  return new Map(files);
};
