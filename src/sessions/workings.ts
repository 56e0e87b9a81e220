// What nobody needs before a session is open, or an agent's machine at work: loaded as one piece, when that is first so.
export { keepInMemory } from '../stores/keep-in-memory.ts';
export { storeAt } from '../stores/store-at.ts';
export { toldStore } from '../stores/told-store.ts';
export { aroundTurns } from './around-turns.ts';
export { compactConversation } from './compact-conversation.ts';
export { createCommitWriter } from './commit-writer.ts';
export { createDecide } from './decide.ts';
export { createEffects } from './effects.ts';
export { createInbox } from './inbox.ts';
export { createTurnContexts } from './turn-contexts.ts';
export { createTurnTeller } from './turn-teller.ts';
export { callsDoneWithout, documentAt, joined, loadStored } from './load-stored.ts';
export { turnSoFar } from './turn-so-far.ts';
export { viewSession } from './read-only-session.ts';
