// What nobody needs before a session is open, or an agent's machine at work: loaded as one piece, when that is first so.
export { createCheckLogic } from '../actors/check.ts';
export { createModelLogic } from '../actors/model.ts';
export { createToolLogic } from '../actors/tool.ts';
export { createOutputLogic } from '../actors/check-output.ts';
export { createStopLogic } from '../actors/stop-when.ts';
export { wrapModel } from '../models/model-middleware.ts';
export { keepInMemory } from '../stores/keep-in-memory.ts';
export { aroundTurns } from './around-turns.ts';
export { compactConversation } from './compact-conversation.ts';
export { createCommitWriter } from './commit-writer.ts';
export { createDecide } from './decide.ts';
export { createInbox } from './inbox.ts';
export { createRequestBuilder } from './create-request-builder.ts';
export { createTurnContexts } from './turn-contexts.ts';
export { createTurnTeller } from './turn-teller.ts';
export { callsDoneWithout, documentAt, joined, loadStored } from './load-stored.ts';
export { turnSoFar } from './turn-so-far.ts';
export { viewSession } from './read-only-session.ts';
