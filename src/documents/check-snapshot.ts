import type { AgentContext } from '../machines/agent-context.ts';
import type { CallRecord, Round } from '../machines/round.ts';
import type { ToolCallContext } from '../machines/tool-call-context.ts';
import { canonicalJson, isPlainObject } from '../messages/json.ts';
import { callsOf } from '../messages/message.ts';
import { type Trust, contextProblem } from './check-context.ts';
import { callContext, effectOf } from './context-shape.ts';
import { statePath } from '../machines/state-path.ts';
import { type Shape, flag, objectOf, oneOf, optional, text } from './shape.ts';

type Stored = Record<string, unknown>;
interface Child {
  src: string;
  snapshot: Stored;
}

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/** As XState writes the state of a chart: `done`, or `{ done: 'answered' }`. */
const isStateValue = (value: unknown): value is string | Record<string, string> =>
  typeof value === 'string' ||
  (isPlainObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isStateValue));

const value: Shape = (given, path) => (isStateValue(given) ? undefined : `${path} is not a state`);
// The charts have no history states.
const history: Shape = (given, path) =>
  isPlainObject(given) && Object.keys(given).length === 0 ? undefined : `${path} is not an empty object`;

const ofMachine = (...statuses: readonly string[]): Shape =>
  objectOf({ status: oneOf(...statuses), value, historyValue: optional(history), children: optional(objectOf({})) });
const ofChild = objectOf({
  src: text,
  snapshot: objectOf({}),
  syncSnapshot: optional(flag),
  systemId: optional(text),
});

const childrenOf = ({ children }: Stored, path: string): Record<string, Child> | string => {
  const found = isPlainObject(children) ? children : {};
  for (const [id, child] of Object.entries(found)) {
    const problem = ofChild(child, `${path}.children.${id}`);
    if (problem !== undefined) return problem;
  }
  return found as unknown as Record<string, Child>;
};

const inputOf = (child: Child | undefined): Stored | undefined =>
  child === undefined ? undefined : (child.snapshot['input'] as Stored);

const phases: Readonly<Record<string, readonly ToolCallContext['phase'][]>> = {
  validating: ['validating'],
  'awaiting-decision': ['awaiting-decision'],
  queued: ['queued'],
  'awaiting-result': ['awaiting-result'],
  running: ['running'],
  delegating: ['running', 'awaiting-agent'],
  'backing-off': ['running'],
  settled: ['settled'],
};

/** What a call waits for is what its round shows (R29). */
const waitingProblem = (context: ToolCallContext, record: CallRecord): string | undefined => {
  const { phase, waiting, call } = context;
  if (phase !== 'awaiting-decision' && phase !== 'awaiting-result') return undefined;
  const isDecision = phase === 'awaiting-decision';
  if (waiting?.needs !== (isDecision ? 'approval' : 'result')) return 'waits for nothing that somebody could give';
  if (waiting.inputHash !== context.inputHash) return 'has another inputHash than what it waits for';
  if (isDecision && !same(context.input, waiting.input ?? call.input))
    return 'would run with other arguments than those that it shows';
  return record.phase === phase && !same(record.waiting, waiting)
    ? 'waits for something else than its round shows'
    : undefined;
};

/** What the work inside a call was given is what the call holds. */
const workProblem = (context: ToolCallContext, children: Record<string, Child>): string | undefined => {
  const { call, sessionId, input, isChecked, isDecided, attempt, waiting, edited } = context;
  const tool = inputOf(children['tool']);
  const asked = waiting === undefined ? undefined : edited === undefined ? call.input : edited;
  if (tool !== undefined && !same(tool, { call, sessionId, input, isChecked, attempt, asked }))
    return 'runs with something else than it holds';
  const check = inputOf(children['check']);
  if (check !== undefined && !same(check, { call, sessionId, isDecided, edit: edited }))
    return 'checks something else than it holds';
  const expiry = inputOf(children['expiry']);
  if (expiry !== undefined && expiry['at'] !== (waiting?.expiresAt ?? null)) return 'expires at another time';
  const backoff = inputOf(children['backoff']);
  if (backoff !== undefined && backoff['at'] !== context.retryAt) return 'is tried again at another time';
  const grace = inputOf(children['grace']);
  return grace !== undefined && grace['at'] === null ? 'is never given up' : undefined;
};

const agreementProblem = (
  context: ToolCallContext,
  state: string,
  record: CallRecord,
  round: Round,
  agent: AgentContext,
) => {
  const { call, phase, result } = context;
  const index = round.calls.indexOf(record);
  const part = callsOf(round.reply)[index];
  const { callId, tool, toolKey } = record;
  const wanted = { callId, tool, toolKey, index, count: round.calls.length, iteration: agent.turn.iterations + 1 };
  const { input, ...rest } = call;
  if (!same(rest, wanted)) return 'is not the call that its round names';
  if (!same(input, part?.input)) return 'has other arguments than the reply that made it';
  if (context.sessionId !== agent.sessionId) return 'is of another session';
  if (Object.hasOwn(phases, state) && !phases[state]?.includes(phase)) return 'is in another phase than its state says';
  if ((phase === 'settled') !== (result !== undefined)) return 'is settled without a result, or the reverse';
  if (record.phase === 'settled' && phase !== 'settled') return 'is settled in its round alone';
  if (state === 'validating' && context.mayStart) return 'would start unchecked';
  if (state === 'backing-off' && context.retryAt === undefined) return 'is never tried again';
  return undefined;
};

const callProblem = (child: Child, record: CallRecord, round: Round, agent: AgentContext, path: string) => {
  const { snapshot } = child;
  const at = `${path}.snapshot`;
  const shape = ofMachine('active')(snapshot, at) ?? callContext(snapshot['context'], `${at}.context`);
  if (shape !== undefined) return shape;
  const context = snapshot['context'] as ToolCallContext;
  const [state = ''] = statePath(snapshot['value'] as string).split('.');
  const children = childrenOf(snapshot, at);
  if (typeof children === 'string') return children;
  for (const [id, inner] of Object.entries(children)) {
    const where = `${at}.children.${id}`;
    if (id !== 'agent') {
      const found = effectOf(inner.src)(inner.snapshot, `${where}.snapshot`);
      if (found !== undefined) return found;
      continue;
    }
    if (state !== 'delegating') return `${where} has no place in the state "${state}"`;
    const found = agentProblem(inner.snapshot, 'nothing', `${where}.snapshot`);
    if (found !== undefined) return found;
    const { sessionId, callPrefix, singleTurn } = inner.snapshot['context'] as AgentContext;
    const { callId } = context.call;
    if (sessionId !== `${context.sessionId}/${callId}` || callPrefix !== `${callId}-` || !singleTurn)
      return `${where} is not the agent of its call`;
  }
  if (state === 'delegating' && children['agent']?.src !== `agent:${context.call.tool}`)
    return `${at}: the agent inside call "${context.call.callId}" is missing`;
  const wrong =
    agreementProblem(context, state, record, round, agent) ??
    waitingProblem(context, record) ??
    workProblem(context, children);
  return wrong === undefined ? undefined : `${at}: the call "${record.callId}" ${wrong}`;
};

const outcomes: Readonly<Record<string, string>> = {
  answered: 'answered',
  'tool-calls': 'tool-calls',
  limited: 'limit',
  refused: 'refused',
  failed: 'failed',
  stopped: 'stopped',
};

/** A state that rests, or waits, has what it rests on. */
const stateProblem = (state: string, status: unknown, context: AgentContext): string | undefined => {
  const { round, reply, turn } = context;
  if ((status === 'done') !== (state === 'closed')) return `its state "${state}" has the status "${String(status)}"`;
  const [top, inner = ''] = state.split('.');
  if (top === 'done' && Object.hasOwn(outcomes, inner) && turn.outcome?.type !== outcomes[inner])
    return `its state "${state}" has another outcome in "state.context.turn"`;
  if (state === 'thinking.checking' && reply === null) return 'there is no reply to check in "state.context.reply"';
  if (state === 'thinking.backing-off' && turn.request.retryAt === undefined) return 'it would never ask again';
  if ((top === 'acting' || top === 'awaiting-approval') && round === null)
    return 'its state needs an open round, and "state.context.round" is null';
  return undefined;
};

/** What is wrong with the stored state of an agent and all that it has under way; undefined where it can be gone on with. */
export const agentProblem = (snapshot: Stored, trust: Trust = 'nothing', path = 'state'): string | undefined => {
  const wrong = contextProblem(snapshot['context'], trust);
  if (wrong !== undefined) return `its "${path}.context" is not that of an agent: ${wrong}`;
  const shape = ofMachine('active', 'done')(snapshot, path);
  if (shape !== undefined) return shape.replace(`${path}.value`, `its "${path}.value"`);
  const context = snapshot['context'] as AgentContext;
  const state = statePath(snapshot['value'] as string);
  const unfit = stateProblem(state, snapshot['status'], context);
  if (unfit !== undefined) return unfit;
  const children = childrenOf(snapshot, path);
  if (typeof children === 'string') return children;
  const { round, turn } = context;
  const isOpen = /^(acting|awaiting-approval)$/.test(state);
  for (const { callId, phase } of isOpen ? (round?.calls ?? []) : []) {
    if (phase !== 'settled' && !Object.hasOwn(children, callId))
      return `the actor of its open call "${callId}" is missing`;
  }
  for (const [id, child] of Object.entries(children)) {
    const at = `${path}.children.${id}`;
    if (child.src !== 'toolCall') {
      const found = effectOf(child.src)(child.snapshot, `${at}.snapshot`);
      if (found !== undefined) return found;
      continue;
    }
    const record = round?.calls.find(({ callId }) => callId === id);
    if (round === null || record === undefined) return `${at} is no call of its open round`;
    const found = callProblem(child, record, round, context, at);
    if (found !== undefined) return found;
  }
  const backoff = inputOf(children['backoff']);
  if (backoff !== undefined && backoff['at'] !== turn.request.retryAt)
    return `${path}.children.backoff rings at another time`;
  const deadline = inputOf(children['deadline']);
  if (deadline !== undefined && deadline['at'] === null) return `${path}.children.deadline never rings`;
  return undefined;
};
