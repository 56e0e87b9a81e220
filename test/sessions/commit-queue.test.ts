import { expect, test } from 'vitest';
import { createCommitQueue } from '../../src/sessions/commit-queue.ts';

test('R39: a commit that is asked for at the moment when another ends does not run beside the one that waits', async () => {
  let running = 0;
  let most = 0;
  const ends: PromiseWithResolvers<void>[] = [];
  const queue = createCommitQueue(async () => {
    running += 1;
    most = Math.max(most, running);
    const end = Promise.withResolvers<void>();
    ends.push(end);
    await end.promise;
    running -= 1;
  });
  const first = queue.commit();
  const third = first.then(() => queue.commit());
  const second = queue.commit();
  ends[0]?.resolve();
  await first;
  await new Promise((resolve) => setTimeout(resolve, 0));
  for (const end of ends) end.resolve();
  await Promise.all([second, third]);
  expect({ most, commits: ends.length }).toEqual({ most: 1, commits: 2 });
});

test('R38: a commit under way that has all there is serves whoever asks meanwhile; where it fails he tries again', async () => {
  const outcomes = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  let isNew = false;
  const queue = createCommitQueue(
    () => outcomes[begun++]?.promise ?? Promise.resolve(),
    () => !isNew,
  );
  const asked = [queue.commit(), queue.commit(), queue.commit()];
  outcomes[0]?.resolve();
  await Promise.all(asked);
  expect(begun).toBe(1);

  const failing = queue.commit();
  const sharing = [queue.commit(), queue.commit()];
  const refused = expect(failing).rejects.toThrow('the disk is full');
  outcomes[1]?.reject(new Error('the disk is full'));
  await refused;
  isNew = true;
  const later = queue.commit();
  outcomes[2]?.resolve();
  await Promise.all([...sharing, later]);
  expect(begun).toBe(4);
});
