export { scriptedModel } from './scripted-model.ts';
export type { ScriptedAnswer, ScriptedModel, ScriptedReply } from './scripted-model.ts';
export { isAcceptable, violations } from '../messages/violations.ts';
export { storeContract } from './store-contract.ts';
export type { OpenStore, StoreCase } from './store-case.ts';
