export { scriptedModel } from './scripted-model.ts';
export type { ScriptedAnswer, ScriptedModel, ScriptedReply } from './scripted-model.ts';
export { isAcceptable, violations } from '../messages/violations.ts';
