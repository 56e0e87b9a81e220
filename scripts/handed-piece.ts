import { basename } from 'node:path';
import { type BuildOptions, type Plugin, build } from 'rolldown';

/** A module that is imported when it is first needed, by one other module. */
interface Piece {
  file: string;
  /** The module that imports it. */
  loader: string;
  /** What these import is loaded before it. */
  given: readonly string[];
}

/** The modules that are loaded with these, and they themselves. */
const loadedBefore = async (options: BuildOptions, { given, file }: Piece): Promise<ReadonlySet<string>> => {
  const found = new Set(given);
  const look: Plugin = {
    name: 'look',
    buildEnd() {
      // A set goes on to what is added while it is walked through.
      for (const id of found) for (const imported of this.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
    },
  };
  await build({ ...options, input: [...given, file], plugins: [look], write: false });
  return found;
};

const namesIn = (list: string): [string, string][] =>
  list
    .split(',')
    .map((each) => each.trim().split(' as '))
    .map(([name = '', local = name]) => [name, local]);

/**
 * Builds a piece of its own that imports nothing: what it needs of the modules that are loaded before it is handed to it by the one that loads it.
 * Were it imported, a bundler that makes one file of all would have to wrap each of these modules, and one that
 * makes several would have to cut their file in two. Gives the plugin with which the rest is built.
 */
export const handedPiece = async (options: BuildOptions, piece: Piece): Promise<Plugin> => {
  const { file, loader } = piece;
  const before = await loadedBefore(options, piece);
  const handed = 'handed:';
  const leaveOut: Plugin = {
    name: 'leave-out',
    async resolveId(id, importer) {
      const found = importer === undefined ? null : await this.resolve(id, importer, { skipSelf: true });
      return found !== null && before.has(found.id) ? { id: `${handed}${found.id}`, external: true } : found;
    },
  };
  const { output } = await build({
    ...options,
    input: file,
    plugins: [leaveOut],
    write: false,
    output: { comments: { legal: true, annotation: true, jsdoc: false } },
  });
  const locals: string[] = [];
  const imports: string[] = [];
  const body = output[0].code
    .replace(/^import \{([^}]*)\} from "handed:([^"]+)";\n/gm, (_, list: string, id: string) => {
      for (const [name, local] of namesIn(list)) {
        imports.push(`import { ${name} as handed${locals.length} } from ${JSON.stringify(id)};`);
        locals.push(local);
      }
      return '';
    })
    .replace(/^export \{([^}]*)\};\n?/m, (_, list: string) => {
      const given = namesIn(list).map(([local, name]) => (local === name ? name : `${name}: ${local}`));
      return `return { ${given.join(', ')} };\n`;
    });
  if (/^(import|export) /m.test(body)) throw new Error(`${file} imports what is not loaded before it`);

  const name = `${basename(file, '.ts')}.js`;
  return {
    name: 'handed-piece',
    resolveId: (id) => (id === `./${name}` ? { id, external: true } : null),
    transform: (code, id) => {
      if (id !== loader) return null;
      const values = locals.map((_, index) => `handed${index}`).join(', ');
      const whole = `import('./${name}').then(({ create }) => create([${values}]))`;
      return [...imports, code.replace(/import\(["']\.\/[^"']+["']\)/, whole)].join('\n');
    },
    generateBundle() {
      const source = `const create = ([${locals.join(', ')}]) => {\n${body}};\nexport { create };\n`;
      this.emitFile({ type: 'asset', fileName: `chunks/${name}`, source });
    },
  };
};
