// What stands before model calls, and what tells late readers of a turn. Loaded when a session comes to need it.
export { askProviders } from './ask-providers.ts';
export { prepareRequest } from './prepare-request.ts';
export { tellTurn } from './tell-turn.ts';
export { turnSoFar } from './turn-so-far.ts';
