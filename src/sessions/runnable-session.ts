import type { Message } from '../messages/message.ts';
import type { ChatModel } from '../models/chat-model.ts';
import type { OwnSession } from './own-session.ts';
import { type TurnGiven, runTurn } from './run-turn.ts';
import type { RunResult } from './session.ts';
import type { Posted } from './turn-waiters.ts';

/** A session whose turns are begun by `run`, whatever stands around them. */
export interface RunnableSession extends OwnSession {
  /** `onPosted` hears of the turn's message where no middleware stands around it, which could begin another turn in its place. */
  run(messages: Message[], given: TurnGiven, onPosted?: (posted: Posted) => void): Promise<RunResult>;
}

/** Without middleware there is nothing around a turn, and nothing is watched. */
export const withRun = (session: OwnSession, wrapModel: (model: ChatModel) => ChatModel): RunnableSession =>
  Object.assign(session, {
    run: (messages: Message[], given: TurnGiven, onPosted?: (posted: Posted) => void) =>
      runTurn(
        session,
        messages,
        given.model === undefined ? given : { ...given, model: wrapModel(given.model) },
        onPosted === undefined ? {} : { onPosted },
      ),
  });
