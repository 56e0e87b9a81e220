import { onTestFinished } from 'vitest';
import { scriptedModel as create } from '../../src/testing/scripted-model.ts';

/** A scripted model of a test; the test fails where it was asked too seldom or too often. */
export const scriptedModel: typeof create = (answers, options) => {
  const model = create(answers, options);
  onTestFinished(() => model.assertFinished());
  return model;
};
