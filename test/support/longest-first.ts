import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take more than five seconds, the longest first. What is not here is short; a name that is no file does no harm. */
const longest = [
  'inspector/page',
  'testing/explore',
  'behaviour/restate',
  'examples/react',
  'testing/kill-everywhere',
  'restate/killed',
  'restate/durability',
  'testing/crash-everywhere',
  'examples/start',
  'package/tarball',
  'properties/soak',
  'properties/against-reference',
  'stores/postgres-store',
  'restate/sessions',
  'sessions/killed-under-load',
  'behaviour/postgres',
  'examples/expense',
  'examples/weather',
  'examples/docs',
  'restate/clients',
  'mcp/everything',
  'cases/loop-control',
  'scenarios/conformance',
];

const rank = ({ moduleId }: TestSpecification): number => {
  const index = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return index === -1 ? longest.length : index;
};

/**
 * The long files begin first, also where no earlier run is known, as in a fresh clone: one that begins last keeps one core busy and
 * leaves the others idle. Everything else in Vitest's own order.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
