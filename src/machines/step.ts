import type { AgentContext } from './agent-context.ts';
import type { Turn } from './turn.ts';

/** What one step of the agent's chart changes: from the context before and what happened, nothing else. */
export type Step = Partial<AgentContext>;

export const changeTurn = (context: AgentContext, change: Partial<Turn>): Pick<AgentContext, 'turn'> => ({
  turn: { ...context.turn, ...change },
});
