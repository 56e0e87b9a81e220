import { afterEach } from 'vitest';
import { type ScriptedModel, scriptedModel as create } from '../../src/testing/scripted-model.ts';

const models: ScriptedModel[] = [];

afterEach(() => {
  for (const model of models.splice(0)) model.assertFinished();
});

/** A scripted model; the test fails where it was asked too seldom or too often. */
export const scriptedModel: typeof create = (answers, options) => {
  const model = create(answers, options);
  models.push(model);
  return model;
};
