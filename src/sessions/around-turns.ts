import { errorData } from '../errors.ts';
import { hostOf } from '../actors/host.ts';
import type { Fate } from '../machines/chart-event.ts';
import { checkMessages } from '../messages/check-message.ts';
import type { Message } from '../messages/message.ts';
import type { ChatModel } from '../models/chat-model.ts';
import { type RunTurn, type TicketedTurn, type TurnRun, ticket } from './agent-middleware.ts';
import { checkSendOptions } from './check-options.ts';
import { checkTurn } from './check-turn.ts';
import type { OwnSession } from './own-session.ts';
import type { RunnableSession } from './runnable-session.ts';
import { newId } from './new-id.ts';
import { type TurnGiven, runTurn, turnOptionsOf } from './run-turn.ts';
import type { RunResult } from './session.ts';
import { type Posted, refusedFate } from './turn-waiters.ts';

export interface Around {
  agent: string;
  /** What the session was opened with. */
  context: unknown;
  /** The middleware; its innermost step is `innermost`. */
  turn: RunTurn;
  wrapModel(model: ChatModel): ChatModel;
}

/** A stretch of work on one turn, and who waits for it. */
interface Stretch {
  turn: number;
  /** The message that it began with; absent where nobody here began it. */
  messageId?: string;
}

const emptyResult = (text: string, sessionId: string): RunResult => ({
  outcome: { type: 'answered' },
  text,
  messages: [],
  pending: [],
  usage: {},
  modelCalls: [],
  iterations: 0,
  sessionId,
});

/**
 * Puts the middleware around the session's turns. `run` and `send` begin them; a turn that goes on by a decision, a retry or a restore is
 * noticed by what the chart does, since nobody here began it.
 */
export const aroundTurns = (session: OwnSession, about: Around): RunnableSession => {
  const { actor, settled, send, setContext } = session;
  let { context } = about;
  const own = new Set<string>();
  /** The stretch under way. */
  let stretch: Stretch | undefined;
  /** What the middleware is at work on, and what it was given last. */
  const open = new Set<Promise<RunResult>>();
  let last: Promise<RunResult> | undefined;
  let wasWaiting = false;

  const turnOf = (given: TurnGiven, proceed: (turn: TurnRun) => Promise<RunResult>): TicketedTurn => ({
    agent: about.agent,
    sessionId: session.id,
    messages: [],
    isContinued: false,
    context,
    ...given,
    signal: given.signal ?? new AbortController().signal,
    answer: (text) => emptyResult(text, session.id),
    [ticket]: proceed,
  });

  const through = (turn: TurnRun): Promise<RunResult> => {
    const result = about.turn(turn);
    const end = (): boolean => open.delete(result);
    open.add(result);
    last = result;
    result.then(end, end);
    return result;
  };

  /** An error of the middleware's own is told to those who read along: where nobody awaits the turn nobody else would learn of it. */
  const tellFailure = (result: Promise<RunResult>, isKnown: (error: unknown) => boolean): void => {
    result.catch((error: unknown) => {
      if (!isKnown(error)) session.publish({ type: 'error', error: errorData(error) });
    });
  };

  const begin = (
    messages: readonly Message[],
    given: TurnGiven,
    { onPosted, onResult }: { onPosted?: (posted: Posted) => void; onResult?: (error?: unknown) => void } = {},
  ): Promise<RunResult> => {
    let isPosted = false;
    const failures = new Set<unknown>();
    const proceed = async (turn: TurnRun): Promise<RunResult> => {
      const { model, signal } = turn;
      checkTurn(turn);
      const said = checkMessages(turn.messages);
      const id = newId();
      own.add(id);
      const begun = runTurn(
        session,
        said,
        {
          ...turnOptionsOf(turn),
          ...('context' in given || turn.context !== context ? { context: turn.context } : {}),
          ...(model === undefined ? {} : { model: about.wrapModel(model) }),
          signal,
        },
        {
          id,
          onPosted: (posted) => {
            isPosted = true;
            onPosted?.(posted);
            const end = (): void => {
              own.delete(id);
              if (stretch?.messageId === id) leave();
            };
            posted.result.then(end, end);
          },
        },
      );
      begun.catch((error: unknown) => {
        own.delete(id);
        failures.add(error);
      });
      return begun;
    };
    const result = through({ ...turnOf(given, proceed), messages });
    tellFailure(result, (error) => failures.has(error));
    result.then(
      (answered) => {
        if (!isPosted) tellAnswer(answered);
        onResult?.();
      },
      (error: unknown) => onResult?.(error),
    );
    return result;
  };

  /** The reader of a stream learns of an answer that no turn gave. */
  const tellAnswer = (result: RunResult): void => {
    if (result.text !== '') session.publish({ type: 'text-delta', text: result.text });
    const { output: _live, ...told } = result;
    session.publish({ type: 'finish', turn: actor.getSnapshot().context.turn.number, result: told });
  };

  /** A turn went on that nobody here began. */
  const resume = (): void => {
    const { number, options } = actor.getSnapshot().context.turn;
    const mine: Stretch = { turn: number };
    stretch = mine;
    const end = Promise.withResolvers<RunResult>();
    const hearing = actor.on('finish', (event) => {
      if (event.turn === number) end.resolve(session.finish(event.result));
    });
    // The session itself tells of a wait and of a close; of the end it tells too late where another turn follows at once.
    const rest = Promise.race([end.promise, settled()]);
    const over = (): void => {
      hearing.unsubscribe();
      if (stretch === mine) leave();
    };
    rest.then(over, over);
    let failure: unknown;
    rest.catch((error: unknown) => {
      failure = error;
    });
    const result = through({
      ...turnOf({ ...options, context: hostOf(actor).context() }, () => rest),
      isContinued: true,
    });
    tellFailure(result, (error) => error === failure);
  };

  /** The stretch is over; the turn may have gone on before that was heard. */
  const leave = (): void => {
    stretch = undefined;
    look();
  };
  const look = (): void => {
    const snapshot = actor.getSnapshot();
    const goesOn = snapshot.hasTag('busy') || (wasWaiting && snapshot.hasTag('settled'));
    wasWaiting = snapshot.hasTag('waiting');
    if (snapshot.status !== 'active' || !goesOn || stretch?.turn === snapshot.context.turn.number) return;
    resume();
  };

  actor.on('message-fate', ({ messageId, turn }) => {
    if (turn !== undefined && own.has(messageId)) stretch = { turn, messageId };
  });
  actor.subscribe({ next: look, error: () => undefined });
  look();

  return Object.assign(session, {
    run: (messages: Message[], given: TurnGiven) => begin(messages, given),
    send: (message: string | Message | readonly Message[], given: { mode?: 'queue' | 'steer' } = {}): Promise<Fate> => {
      // What is read by the turn under way begins none.
      if (given.mode === 'steer' && (session.status === 'busy' || session.status === 'waiting'))
        return send(message, given);
      try {
        checkSendOptions(given);
        const fate = Promise.withResolvers<Fate>();
        fate.promise.catch(() => undefined);
        begin(
          checkMessages(message),
          {},
          {
            onPosted: (posted) => fate.resolve(session.storedFate(posted.fate)),
            onResult: (error) => {
              // No effect where the message is on its way already.
              if (error === undefined) fate.resolve({ type: 'discarded', reason: 'answered by a middleware' });
              else fate.reject(error);
            },
          },
        ).catch(() => undefined);
        return fate.promise;
      } catch (error) {
        return refusedFate(error as Error);
      }
    },
    settled: async (): Promise<RunResult> => {
      while (last !== undefined && open.has(last)) await last.catch(() => undefined);
      // Of a session that waits the session tells what it waits for now.
      return last !== undefined && (session.status === 'settled' || session.status === 'idle') ? last : settled();
    },
    setContext: (given: unknown) => {
      context = given;
      setContext(given);
    },
  });
};
