import type { AnyActorRef } from 'xstate';
import { hostOf } from '../actors/host.ts';
import type { Told } from '../actors/wake.ts';
import { errorData } from '../errors.ts';
import type { AgentContext } from '../machines/agent-context.ts';
import { resultOf } from '../machines/turn-result.ts';
import { copyJson } from '../messages/json.ts';
import { providerError } from './provider-error.ts';
import type { ContextProvider, HistoryProvider } from './context-provider.ts';

export interface TurnTellerOptions {
  providers: readonly ContextProvider[];
  history: HistoryProvider | undefined;
}

export interface Ending extends TurnTellerOptions {
  /** What the session had when its turn was over. */
  about: AgentContext;
  /** The live context of that turn. */
  context: unknown;
  /** How many messages the history provider has, where the session does not know yet. */
  handed: WeakMap<AnyActorRef, number>;
}

const handOver = async (agent: AnyActorRef, { history, about, context, handed }: Ending): Promise<number> => {
  const { sessionId, turn, messages, elsewhere } = about;
  const before = elsewhere?.before ?? 0;
  const position = Math.max(before + (elsewhere?.handed ?? 0), handed.get(agent) ?? 0);
  const fresh = messages.slice(position - before);
  if (fresh.length > 0) {
    await history?.append({ sessionId, turn: turn.number, position, messages: copyJson(fresh), context });
  }
  handed.set(agent, position + fresh.length);
  return position + fresh.length;
};

/** Hands the turn's messages over to the history provider, then tells the context providers. What they throw is among what is told. */
export const tellTurn = async (agent: AnyActorRef, ending: Ending): Promise<Told> => {
  const { providers, history, about, context } = ending;
  const { sessionId, turn } = about;
  const told: Told = { turn: turn.number, errors: [] };
  try {
    // What others are told is what the store has.
    await hostOf(agent).barrier();
  } catch {
    // The session says that itself. One that another process has taken over is told of there.
    if ((agent.getSnapshot() as { status: string }).status === 'stopped') return told;
  }
  const attempt = async (who: string, work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      told.errors.push(errorData(providerError(who, error)));
    }
  };
  if (history !== undefined) {
    await attempt('history provider', async () => {
      told.handed = await handOver(agent, ending);
    });
  }
  const ended = { sessionId, turn: turn.number, context };
  const result = resultOf(about);
  await Promise.all(
    providers.map((provider) =>
      // A copy for each: what one does to it reaches neither the session nor the others (R48).
      attempt(`context provider "${provider.name}"`, () =>
        provider.afterTurn?.({ ...ended, result: copyJson(result) }),
      ),
    ),
  );
  return told;
};
