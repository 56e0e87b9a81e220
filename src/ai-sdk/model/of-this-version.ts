import { AgentError } from '../../errors.ts';
import type { AnyLanguageModel, LanguageModelV4 } from './provider-types.ts';

const lift = async (model: Exclude<AnyLanguageModel, LanguageModelV4>): Promise<LanguageModelV4> => {
  try {
    const { wrapLanguageModel } = await import('ai');
    return wrapLanguageModel({ model, middleware: [] });
  } catch (cause) {
    const message = `aiSdkModel: a model of specification ${model.specificationVersion} needs the package ai 7: install it`;
    throw new AgentError('invalid-option', message, { cause });
  }
};

/** The model as one of specification v4. The AI SDK itself makes one of an earlier version so, when it is first asked. */
export const ofThisVersion = (model: AnyLanguageModel): (() => LanguageModelV4 | Promise<LanguageModelV4>) => {
  if (model.specificationVersion === 'v4') return () => model;
  let lifted: Promise<LanguageModelV4> | undefined;
  return () => (lifted ??= lift(model));
};
