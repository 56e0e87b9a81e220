import type { AnyActorRef, Snapshot } from 'xstate';
import type { AgentContext } from '../../machines/agent-context.ts';
import { allSettled, pendingOf } from '../../machines/round.ts';
import type { Outcome } from '../../machines/turn.ts';
import { violations } from '../../messages/violations.ts';
import { childrenOf } from './choices.ts';

/** What can be wrong with a chart. */
export type Rule = 'broken' | 'invariant' | 'endless' | 'dead-end' | 'no-way-to-done' | 'unstoppable';

export interface Fault {
  rule: Rule;
  message: string;
}

interface AgentSnapshot {
  status: string;
  error?: unknown;
  value: unknown;
  context: AgentContext;
  tags: Set<string>;
  matches(value: string): boolean;
}

const isAgent = (context: unknown): context is AgentContext =>
  typeof context === 'object' && context !== null && 'messages' in context && 'inbox' in context;

const invariant = (message: string): Fault => ({ rule: 'invariant', message });

/** What must hold even between two transitions: the history is whole, and a round closes with all of its results (R6). */
export const faultsWithin = (snapshot: Snapshot<unknown>): Fault[] => {
  const { context } = snapshot as { context?: unknown };
  if (!isAgent(context)) return [];
  const unsettled = context.lastRound.filter(({ result }) => result === undefined);
  return [
    ...violations(context.messages).map((each) => invariant(`R6: ${each}`)),
    ...unsettled.map(({ callId }) => invariant(`R6: the round closed before call ${callId} had a result`)),
  ];
};

/** In which end of `done` a turn of each outcome stands. */
const ends: Record<Outcome['type'], string> = {
  answered: 'answered',
  'tool-calls': 'tool-calls',
  limit: 'limited',
  refused: 'refused',
  failed: 'failed',
  stopped: 'stopped',
  pending: '',
};

/** The open round and the actors of its calls tell the same story. */
function* aboutRound(agent: AnyActorRef, snapshot: AgentSnapshot): Generator<string> {
  const { round } = snapshot.context;
  const children = childrenOf(agent);
  const actors = Object.entries(children).filter(([, { src }]) => src === 'toolCall');
  const isLeft = snapshot.context.turn.outcome?.type === 'tool-calls';
  if (round === null || isLeft) {
    if (actors.length > 0) yield `${actors.length} call actors without an open round`;
    return;
  }
  if (allSettled(round)) yield 'a round whose calls are all settled is still open';
  for (const { callId, phase, result } of round.calls) {
    if ((phase === 'settled') !== (result !== undefined))
      yield `call ${callId} is ${phase}, and ${result === undefined ? 'has no' : 'has a'} result`;
    const actor = children[callId];
    if (actor === undefined) {
      yield `call ${callId} has no actor`;
      continue;
    }
    const { context } = actor.getSnapshot() as { context: { phase: string } };
    if (context.phase !== phase) yield `call ${callId} is ${context.phase}, its round says ${phase}`;
  }
  const ids = new Set(round.calls.map(({ callId }) => callId));
  for (const [id] of actors) if (!ids.has(id)) yield `there is an actor of a call ${id} that no round has`;
}

function* about(agent: AnyActorRef, snapshot: AgentSnapshot): Generator<string> {
  const { context, tags } = snapshot;
  const { turn, round, reply, failure, inbox } = context;
  const children = childrenOf(agent);
  const isIdle = snapshot.value === 'idle';
  const isWaiting = tags.has('waiting');
  const isSettled = tags.has('settled');
  yield* aboutRound(agent, snapshot);
  if ([isIdle, tags.has('busy'), isWaiting, isSettled].filter(Boolean).length !== 1)
    yield `a session is exactly one of idle, busy, waiting, settled; its tags are ${[...tags].join(', ') || 'none'}`;
  const isOpen = snapshot.matches('acting') || snapshot.matches('awaiting-approval');
  const isLeft = turn.outcome?.type === 'tool-calls' && !tags.has('busy');
  if ((round !== null) !== (isOpen || isLeft)) yield `a round is ${round === null ? 'not open' : 'open'}`;
  const pending = pendingOf(context).length;
  if (isWaiting && pending === 0) yield 'it waits, and for nobody';
  if (pending > 0 && !isOpen && !isLeft) yield `${pending} calls are pending, and it does not wait for them`;
  if (!isOpen && context.lastRound.length > 0 && !snapshot.matches('observing'))
    yield 'the last round is not forgotten';
  if (reply !== null && !snapshot.matches('thinking')) yield 'a reply is still undecided';
  if (failure !== null) yield 'a failure is still undecided';
  if ((turn.outcome !== undefined) !== isSettled)
    yield `the outcome of the turn is ${turn.outcome?.type ?? 'not known'}`;
  if (snapshot.matches('done') && turn.outcome !== undefined) {
    const end = ends[turn.outcome.type];
    const { value } = snapshot as { value: { done?: unknown } };
    if (value.done !== end) yield `a turn that ended ${turn.outcome.type} stands in ${String(value.done)}`;
    if (context.singleTurn) yield 'a machine of a single turn is still open';
    if (inbox.length > 0 && turn.outcome.type !== 'failed' && turn.untold !== true) yield 'a message is not read';
  }
  if (isIdle && inbox.length > 0) yield 'a message is not read';
  const hasAlarm = children['deadline']?.getSnapshot() !== undefined;
  if (hasAlarm !== (turn.work.since !== undefined)) yield `the alarm of the deadline is ${hasAlarm ? '' : 'not '}set`;
  if (turn.work.since !== undefined && !tags.has('busy')) yield 'the time counts, and nothing works';
}

/** What must hold in every state that a session comes to rest in, waits in or works in. */
export const faultsAt = (agent: AnyActorRef): Fault[] => {
  const snapshot = agent.getSnapshot() as AgentSnapshot;
  if (snapshot.status === 'error') {
    const { error } = snapshot;
    return [{ rule: 'broken', message: error instanceof Error ? error.message : String(error) }];
  }
  if (snapshot.status !== 'active') return faultsWithin(snapshot as unknown as Snapshot<unknown>);
  return [...about(agent, snapshot)].map(invariant);
};
