import type { TurnOptions } from '../machines/turn.ts';
import type { TurnRun } from './agent-middleware.ts';
import { runOptions } from './check-options.ts';
import { checkGiven } from './option-bounds.ts';

const { limits, toolChoice, settings, metadata, model, signal } = runOptions;
const ofMessage = { limits, toolChoice, settings, metadata };
const ofTurn = { ...ofMessage, model, signal };

/** For what a middleware gives to the turn that it calls next. */
export const checkTurn = (turn: TurnRun): void => {
  const given = {
    limits: turn.limits,
    toolChoice: turn.toolChoice,
    settings: turn.settings,
    metadata: turn.metadata,
    model: turn.model,
    signal: turn.signal,
  };
  checkGiven(given, ofTurn, 'agentMiddleware: next');
};

/** For what others set for the turn of a message that they leave in a store. */
export const checkTurnOptions = (given: TurnOptions): void => checkGiven(given, ofMessage, 'user.message: options');
