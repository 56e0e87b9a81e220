import type { AnyActorRef, EventObject } from 'xstate';
import type { AlarmInput, AlarmOutput } from '../../actors/alarm.ts';
import type { AgentContext } from '../../machines/agent-context.ts';
import { pendingOf } from '../../machines/round.ts';
import type { ToolCallContext } from '../../machines/tool-call-context.ts';
import type { TurnOptions } from '../../machines/turn.ts';
import type { NestedState } from '../../tools/call.ts';
import {
  type Outcomes,
  agentOutcomes,
  checkOutcomes,
  modelOutcomes,
  outputOutcomes,
  stopOutcomes,
  toolOutcomes,
} from './outcomes.ts';
import { toldOf } from './scripted-effect.ts';

/** One thing that may happen next: an event for the actor at this path below the agent. */
export interface Choice {
  label: string;
  /** `work`: an effect ends. `outside`: somebody decides, says or stops something, or the process starts again. */
  kind: 'work' | 'outside';
  /** It only bounds other work: where nothing else is under way, nothing is. */
  isAlarm?: true;
  path: readonly string[];
  event: EventObject & Record<string, unknown>;
}

export interface ChoiceRules {
  calls: readonly (readonly string[])[];
  options: TurnOptions;
}

interface Living {
  src: unknown;
  getSnapshot(): unknown;
}

const isActive = (actor: Living): boolean => (actor.getSnapshot() as { status: string }).status === 'active';

export const childrenOf = (actor: { getSnapshot(): unknown }): Record<string, AnyActorRef> =>
  (actor.getSnapshot() as { children?: Record<string, AnyActorRef> }).children ?? {};

const contextOf = <T>(actor: { getSnapshot(): unknown }): T => (actor.getSnapshot() as { context: T }).context;

const nested = (callId: string, isWaiting: boolean): NestedState => ({
  pending: isWaiting
    ? [{ callId: `${callId}-call_1_0`, path: [], tool: 'inside', input: {}, needs: 'approval', inputHash: 'hash' }]
    : [],
  checking: [],
  isWaiting,
});

/** What an agent inside a call does by itself: it waits for people at most once, and until one decides, nothing. */
const agentChoices = (call: AnyActorRef, agent: AnyActorRef, path: readonly string[]): Choice[] => {
  const { nested: state, call: spec } = contextOf<ToolCallContext>(call);
  const isWaiting = state?.isWaiting === true;
  const hasHeard = toldOf(agent.getSnapshot()).heard === true;
  const says = (waits: boolean): Choice => ({
    label: `the agent in ${spec.tool} ${waits ? 'waits' : 'works'}`,
    kind: 'work',
    path,
    event: { type: 'agent.reported', nested: nested(spec.callId, waits) },
  });
  if (isWaiting && !hasHeard) return [];
  return [
    ...(isWaiting === hasHeard ? [says(!isWaiting)] : []),
    ...settling(agentOutcomes, `the agent in ${spec.tool}`, [...path, 'agent']),
  ];
};

const settling = <T>(outcomes: Outcomes<T>, who: string, path: readonly string[]): Choice[] =>
  outcomes.map(([label, output]) => ({
    label: `${who}: ${label}`,
    kind: 'work',
    path,
    event: { type: 'effect.settled', output },
  }));

/** An alarm for no time never rings. */
const ringing = (alarm: AnyActorRef, who: string, path: readonly string[]): Choice[] => {
  const { at } = (alarm.getSnapshot() as unknown as { input: AlarmInput }).input;
  return at === null ? [] : settling<AlarmOutput>([['rings', { at }]], who, path);
};

const callWork = (call: AnyActorRef): Choice[] => {
  const { call: spec, edited, attempt } = contextOf<ToolCallContext>(call);
  return Object.entries(childrenOf(call)).flatMap(([id, child]): Choice[] => {
    if (!isActive(child)) return [];
    const path = [spec.callId, id];
    const who = `${id} of ${spec.tool}`;
    switch (child.src) {
      case 'check':
        return settling(checkOutcomes(edited !== undefined), who, path);
      case 'tool':
        return settling(toolOutcomes({ attempt, isStopping: toldOf(child.getSnapshot()).aborted === true }), who, path);
      case 'alarm':
        return ringing(child, who, path);
      default:
        return agentChoices(call, child, [spec.callId]);
    }
  });
};

/** What the effects that are at work may come to. */
const workOf = (agent: AnyActorRef, { calls }: ChoiceRules): Choice[] =>
  Object.entries(childrenOf(agent)).flatMap(([id, child]): Choice[] => {
    if (!isActive(child)) return [];
    switch (child.src) {
      case 'model':
        return settling(modelOutcomes(calls), 'the model', [id]);
      case 'alarm':
        return ringing(child, id, [id]).map((choice) => (id === 'deadline' ? { ...choice, isAlarm: true } : choice));
      case 'stopWhen':
        return settling(stopOutcomes, id, [id]);
      case 'checkOutput':
        return settling(outputOutcomes, id, [id]);
      case 'toolCall':
        return callWork(child);
      default:
        return [];
    }
  });

const decisions = (context: AgentContext): Choice[] =>
  pendingOf(context).flatMap(({ callId, tool, path, needs }): Choice[] => {
    const outside = (label: string, event: Choice['event']): Choice => ({ label, kind: 'outside', path: [], event });
    const answer = outside(`${tool} is answered`, { type: 'call.result', callId, output: 'by hand' });
    if (needs === 'result') return [answer];
    return [
      outside(`${tool} is approved`, { type: 'approval.granted', callId }),
      outside(`${tool} is approved with an edit`, { type: 'approval.granted', callId, input: {} }),
      outside(`${tool} is rejected`, { type: 'approval.rejected', callId }),
      answer,
      ...(path.length === 0 ? [] : [outside(`${tool} is cancelled`, { type: 'call.cancel', callId })]),
    ];
  });

const outsideOf = (context: AgentContext, { options }: ChoiceRules): Choice[] => {
  const outside = (label: string, event: Choice['event']): Choice => ({ label, kind: 'outside', path: [], event });
  const open = (context.round?.calls ?? []).filter(({ phase }) => phase !== 'settled');
  const [unread] = context.inbox;
  const message = { type: 'user.message', id: 'message', content: 'hello', options };
  return [
    ...decisions(context),
    ...open.map(({ callId, tool }) => outside(`${tool} is cancelled`, { type: 'call.cancel', callId })),
    outside('stop', { type: 'turn.stop' }),
    outside('retry', { type: 'turn.retry' }),
    outside('close', { type: 'session.close' }),
    outside('a restart', { type: 'session.woken' }),
    // One unread message at a time: more of them are more of the same.
    ...(unread === undefined
      ? [outside('a message', message), outside('a message to the turn', { ...message, mode: 'steer' })]
      : [outside('the message is taken back', { type: 'message.withdraw', id: unread.id })]),
  ];
};

/** All that may happen next. */
export const choicesOf = (agent: AnyActorRef, rules: ChoiceRules): Choice[] => {
  const snapshot = agent.getSnapshot() as {
    status: string;
    context: AgentContext;
    can(event: EventObject): boolean;
  };
  if (snapshot.status !== 'active') return [];
  // An event that no transition takes changes nothing.
  const outside = outsideOf(snapshot.context, rules).filter(({ event }) => snapshot.can(event));
  const { untold, number } = snapshot.context.turn;
  const told: Choice = {
    label: 'those who want to know are told',
    kind: 'work',
    path: [],
    event: { type: 'turn.told', turn: number, errors: [] },
  };
  return [...workOf(agent, rules), ...(untold === true ? [told] : []), ...outside];
};

/** Lets it happen. */
export const take = (agent: AnyActorRef, { path, event }: Choice): void => {
  let actor: AnyActorRef | undefined = agent;
  for (const id of path) actor = actor === undefined ? undefined : childrenOf(actor)[id];
  actor?.send(event as never);
};
