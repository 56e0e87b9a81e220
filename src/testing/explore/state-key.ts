import type { AgentContext } from '../../machines/agent-context.ts';

/** What no guard looks at but for how it is told: when, how often in this session, under which name. */
const times: readonly string[] = ['retryAt', 'expiresAt', 'at', 'since', 'ms', 'iteration'];

/** The counters that limits count, and the rest of the context without what only grows: history, usage, log (but for what holds for later calls), numbers. */
const reduced = ({
  messages: _messages,
  usage: _usage,
  modelCalls: _modelCalls,
  decisions,
  rounds: _rounds,
  turn,
  ...rest
}: AgentContext): object => {
  const { iterations, granted, number, firstMessage: _m, firstModelCall: _c, repeats, ...ofTurn } = turn;
  return {
    ...rest,
    remembered: decisions.filter(({ remembered }) => remembered !== undefined).map(({ at: _at, ...each }) => each),
    turn: { ...ofTurn, isFirst: number < 1, spent: iterations - granted, repeats: repeats.count },
  };
};

/** What XState persists of an agent. */
export interface Persisted {
  status: string;
  context: AgentContext;
}

/**
 * Tells two states of a session apart where they may differ in what can follow. Everything counts that is not known to be mere data, so a
 * new field of a context tells states apart until somebody says here that it does not.
 */
export const keyOf = ({ context, ...persisted }: Persisted): string =>
  // What is closed goes nowhere, whatever it holds.
  persisted.status === 'done'
    ? 'closed'
    : JSON.stringify({ ...persisted, context: reduced(context) }, (name, value: unknown) =>
        times.includes(name) && typeof value === 'number' ? 0 : value,
      ).replaceAll(/call_\d+_(\d+)/g, 'call_$1');
