import type { AnyActorRef } from 'xstate';
import { hostOf } from '../actors/host.ts';
import type { TellTurn, Told } from '../actors/wake.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { type TurnTellerOptions, createTurnTeller } from './turn-teller.ts';

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
  const tellAll = createTurnTeller(who);

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
