import type { AnyActorRef } from 'xstate';
import { hostOf } from '../actors/host.ts';
import type { TellTurn, Told } from '../actors/wake.ts';
import { errorData } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { pipeline } from './load-pipeline.ts';
import type { TurnTellerOptions } from './tell-turn.ts';

export interface TurnEndings {
  tell: TellTurn;
  /** Settles when everybody is told of the turns that are over; undefined where nobody is being told. */
  told(agent: AnyActorRef): Promise<unknown> | undefined;
}

export interface TurnEndingOptions extends TurnTellerOptions {
  contextOf(agent: AnyActorRef): AgentContext;
  /** Called when a turn is over, before anybody is told. */
  onEnd(agent: AnyActorRef): void;
}

/** Tells providers how a turn ended and hands its messages over, one turn after the other (R47). */
export const createTurnEndings = ({ contextOf, onEnd, ...who }: TurnEndingOptions): TurnEndings => {
  const underWay = new WeakMap<AnyActorRef, Promise<Told>>();
  /** How many messages a history provider has, where the session does not know yet. */
  const handed = new WeakMap<AnyActorRef, number>();
  const tellAll = async (agent: AnyActorRef, about: AgentContext, context: unknown): Promise<Told> => {
    try {
      const loaded = pipeline();
      // Told without delay where that can be: a machine without a session is over by then.
      const { tellTurn } = loaded instanceof Promise ? await loaded : loaded;
      return await tellTurn(agent, { about, context, handed, ...who });
    } catch (error) {
      return { turn: about.turn.number, errors: [errorData(error)] };
    }
  };

  return {
    tell: (agent) => {
      const about = contextOf(agent);
      if (about.turn.untold !== true) return undefined;
      onEnd(agent);
      const context = hostOf(agent).context();
      const telling = (underWay.get(agent) ?? Promise.resolve()).then(() => tellAll(agent, about, context));
      underWay.set(agent, telling);
      void telling.then(() => {
        if (underWay.get(agent) === telling) underWay.delete(agent);
      });
      return telling;
    },
    told: (agent) => underWay.get(agent),
  };
};
