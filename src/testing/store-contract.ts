import type { StoreCase } from './store-case.ts';
import { commitCases } from './store-commit-cases.ts';
import { deletionCases } from './store-deletion-cases.ts';
import { idCases } from './store-id-cases.ts';
import { inboxCases } from './store-inbox-cases.ts';
import { raceCases } from './store-race-cases.ts';
import { readingCases } from './store-reading-cases.ts';

/**
 * What `SessionStore` promises, case by case, for whoever writes a store. It needs no test framework:
 *
 *     for (const { name, run } of storeContract) test(name, () => run(() => myStore(url)));
 *
 * `run` opens one or two store objects, which have to be on the same data, and closes them. The data may hold other sessions, if
 * none was changed in 1970; run one case at a time on it. The longest case makes 1,000 commits.
 */
export const storeContract: readonly StoreCase[] = [
  ...commitCases,
  ...readingCases,
  ...inboxCases,
  ...deletionCases,
  ...idCases,
  ...raceCases,
];
