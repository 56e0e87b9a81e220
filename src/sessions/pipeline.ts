// What stands around turns and before model calls. Loaded when an agent that has something there comes to need it.
export { askProviders } from './ask-providers.ts';
export { prepareRequest } from './prepare-request.ts';
export { tellTurn } from './tell-turn.ts';
