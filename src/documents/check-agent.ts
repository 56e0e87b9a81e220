import type { AgentContext } from '../machines/agent-context.ts';
import type { CallRecord } from '../machines/round.ts';
import { statePath } from '../machines/state-path.ts';
import type { ToolCallContext } from '../machines/tool-call-context.ts';
import { canonicalJson } from '../messages/json.ts';
import type { CallSpec } from '../tools/call.ts';
import { type ContextPaths, type Trust, contextProblem } from './check-context.ts';
import { callContext, outcomeOf } from './context-shape.ts';
import { callSpecs } from './derived.ts';
import type { AgentSnapshot, Persisted } from './read-agent.ts';

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

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

/** What a call is to agree with. */
interface Above {
  record: CallRecord;
  spec: CallSpec | undefined;
  sessionId: string;
}

const agreementProblem = (context: ToolCallContext, state: string, { record, spec, sessionId }: Above) => {
  const { call, phase, result } = context;
  if (!same(call, spec)) return 'is not the call that its round names';
  if (context.sessionId !== sessionId) return 'is of another session';
  if (Object.hasOwn(phases, state) && !phases[state]?.includes(phase)) return 'is in another phase than its state says';
  if ((phase === 'settled') !== (result !== undefined)) return 'is settled without a result, or the reverse';
  if (record.phase === 'settled' && phase !== 'settled') return 'is settled in its round alone';
  if (state === 'validating' && context.mayStart) return 'would start unchecked';
  if (state === 'backing-off' && context.retryAt === undefined) return 'is never tried again';
  return undefined;
};

/** What effects came to that nobody had taken yet. */
const outcomesProblem = (children: Readonly<Record<string, Persisted>>, path: string): string | undefined => {
  for (const [id, { src, snapshot }] of Object.entries(children)) {
    const found = outcomeOf(src)(snapshot['known'], `${path}.known.${id}`);
    if (found !== undefined) return found;
  }
  return undefined;
};

const callProblem = ({ snapshot }: Persisted, above: Above, path: string): string | undefined => {
  const { record } = above;
  const shape = callContext(snapshot['context'], `${path}.context`);
  if (shape !== undefined) return shape;
  const context = snapshot['context'] as ToolCallContext;
  const children = snapshot['children'] as Record<string, Persisted>;
  const [state = ''] = statePath(snapshot['value'] as string).split('.');
  const wrong = agreementProblem(context, state, above) ?? waitingProblem(context, record);
  if (wrong !== undefined) return `${path}: the call "${record.callId}" ${wrong}`;
  const inside = children['agent'];
  if ((state === 'delegating') !== (inside !== undefined))
    return inside === undefined
      ? `${path}.agent: the agent inside call "${record.callId}" is missing`
      : `${path}.agent has no place in the state "${state}"`;
  const at = { state: `${path}.agent`, messages: `${path}.agent.messages` };
  return (
    outcomesProblem(children, path) ??
    (inside === undefined ? undefined : agentProblem(inside.snapshot as AgentSnapshot, at))
  );
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
const stateProblem = (state: string, context: AgentContext, path: string): string | undefined => {
  const { round, reply, turn } = context;
  const [top, inner = ''] = state.split('.');
  if (top === 'done' && Object.hasOwn(outcomes, inner) && turn.outcome?.type !== outcomes[inner])
    return `its state "${state}" has another outcome in "${path}.turn"`;
  if (state === 'thinking.checking' && reply === null) return `there is no reply to check in "${path}.reply"`;
  if (state === 'thinking.backing-off' && turn.request.retryAt === undefined)
    return `it would never ask again: "${path}.turn.request.retryAt" is missing`;
  if ((top === 'acting' || top === 'awaiting-approval') && round === null)
    return `its state "${state}" needs an open round, and "${path}.round" is null`;
  return undefined;
};

/** What is wrong with an agent as it was read, with all that it has under way; undefined where it can be gone on with. */
export const agentProblem = (
  snapshot: AgentSnapshot,
  at: { state: string; messages: string } = { state: 'state', messages: 'messages' },
  trust: Trust = 'nothing',
): string | undefined => {
  const { context } = snapshot;
  const paths: ContextPaths = { context: `${at.state}.context`, messages: at.messages };
  const state = statePath(snapshot.value);
  const wrong = contextProblem(context, paths, trust) ?? stateProblem(state, context, paths.context);
  if (wrong !== undefined) return wrong;
  const { children } = snapshot;
  const isOpen = state === 'acting' || state === 'awaiting-approval';
  const { round, turn, sessionId } = context;
  const specs = round === null ? undefined : callSpecs(round, turn);
  for (const record of round?.calls ?? []) {
    const path = `${at.state}.calls.${record.callId}`;
    const call = children[record.callId];
    if (!isOpen && call !== undefined) return `${path} has no place in the state "${state}"`;
    if (isOpen && call === undefined && record.phase !== 'settled') return `${path} is missing, and the call is open`;
    const found =
      call === undefined ? undefined : callProblem(call, { record, spec: specs?.get(record.callId), sessionId }, path);
    if (found !== undefined) return found;
  }
  return outcomesProblem(
    Object.fromEntries(Object.entries(children).filter(([, { src }]) => src !== 'toolCall')),
    at.state,
  );
};
