import { AgentError, type ErrorData } from '../errors.ts';
import type { Fate } from '../machines/chart-event.ts';
import type { DecisionEvent } from '../machines/tool-call-context.ts';
import type { TurnResult } from '../machines/turn-result.ts';
import { checkMessages } from '../messages/check-message.ts';
import type { AgentEvent } from '../sessions/agent-event.ts';
import { type DecisionGiven, decisionFrom, decisionMethods } from '../sessions/check-decision.ts';
import { checkCallId, checkEventsOptions, checkSendOptions, checkStopReason } from '../sessions/check-options.ts';
import { newId } from '../sessions/new-id.ts';
import type { ParseOutput } from '../sessions/own-session.ts';
import type { RunResult } from '../sessions/session.ts';
import { failedTurn } from '../sessions/turn-error.ts';
import { checkCommandOptions, withoutId } from './check-command.ts';
import { liveEvents } from './live-events.ts';
import { readLive } from './read-live.ts';
import { advanced, loaded } from './known-session.ts';
import {
  type Answer,
  type Command,
  type Found,
  type Joined,
  type Reading,
  type Refused,
  type Told,
  type View,
  type Wait,
  isResting,
  nothingYet,
} from './protocol.ts';
import type { CommandOptions, RemoteSession } from './remote-session.ts';

/** Calls one handler of the session's object. Rejects when the signal aborts: whoever called does not want to know any more. */
export type CallObject = <T>(handler: string, body?: unknown, signal?: AbortSignal) => Promise<T>;

export interface RemoteSource {
  sessionId: string;
  call: CallObject;
  /** Where the workers tell of this session as it happens. */
  live: readonly string[];
  parseOutput: ParseOutput;
}

const thrown = ({ code, message }: ErrorData): AgentError =>
  new AgentError((code ?? 'engine-error') as AgentError['code'], message);

export const createRemoteSession = ({ sessionId, call, live, parseOutput }: RemoteSource): RemoteSession => {
  const tell = async (command: Command, id = newId()): Promise<Answer> => {
    const answer = await call<Answer>('command', { sessionId, id, command } satisfies Told);
    if (answer.error !== undefined) throw thrown(answer.error);
    return answer;
  };
  const until = async (wait: Wait, signal?: AbortSignal): Promise<Found> => {
    for (;;) {
      const found = await call<Found | null>('wait', wait, signal);
      if (found?.error !== undefined) throw thrown(found.error);
      if (found !== null) return found;
    }
  };
  const view = (): Promise<View | null> => call<View | null>('view');

  const finish = async ({ output, ...result }: TurnResult): Promise<RunResult> => {
    if (result.outcome.type === 'failed') throw failedTurn(result, result.outcome);
    return output === undefined ? result : { ...result, output: await parseOutput(output) };
  };
  const fateOf = async (id: string): Promise<Fate> =>
    (await until({ for: 'fate', id })).fate ?? { type: 'discarded', reason: 'nobody knows of the message any more' };
  const read = async () => {
    const reading = await call<Reading | null>('read', nothingYet);
    return reading === null ? undefined : loaded(advanced(undefined, reading)).document;
  };

  const watch = (signal: AbortSignal): AsyncGenerator<AgentEvent> =>
    readLive(
      {
        urls: live,
        join: async () => {
          const joined = await call<Joined | Refused | null>('join', undefined, signal);
          if (joined !== null && 'error' in joined) throw thrown(joined.error);
          return joined;
        },
        changed: async ({ revision, isResting: rests }) => {
          const { view: now } = await until(rests ? { for: 'news', revision } : { for: 'rest' }, signal);
          const { summary } = now ?? {};
          return { revision: summary?.revision ?? 0, isResting: summary === undefined || isResting(summary.status) };
        },
      },
      signal,
    );

  /** What is no plain JSON would come to the engine as something else: it is refused here. */
  const decide = async (
    type: DecisionEvent['type'],
    callId: string,
    options: DecisionGiven & CommandOptions,
    output?: unknown,
  ): Promise<void> => {
    const [given, id] = withoutId(options, decisionMethods[type]);
    decisionFrom(type, callId, given, output);
    await tell({ type: 'decide', decision: type, callId, given, output }, id);
  };

  return {
    id: sessionId,
    send: async (message, options = {}) => {
      const [given, id = newId()] = withoutId(options, 'send');
      checkSendOptions(given);
      const { mode = 'queue' } = given;
      const { fate } = await tell({ type: 'send', messages: checkMessages(message), mode }, id);
      return fate ?? fateOf(id);
    },
    approve: async (callId, given = {}) => {
      await decide('approval.granted', callId, given);
      if (given.input === undefined) return;
      const { view: after } = await until({ for: 'check', callId });
      const refused = after?.pending.find((pending) => pending.callId === callId)?.refusedEdit;
      if (refused !== undefined) throw new AgentError('invalid-input', refused);
    },
    reject: (callId, given = {}) => decide('approval.rejected', callId, given),
    respond: (callId, output, given = {}) => decide('call.result', callId, given, output),
    cancel: async (callId, given = {}) => {
      checkCallId(callId, 'cancel');
      checkCommandOptions(given, 'cancel');
      await tell({ type: 'cancel', callId }, given.id);
    },
    stop: async (reason, given = {}) => {
      checkStopReason(reason);
      checkCommandOptions(given, 'stop');
      const { end } = await tell({ type: 'stop', ...(reason === undefined ? {} : { reason }) }, given.id);
      // Not for a rest: what waits inside an agent may not have heard of it yet, and the turn after it may wait for somebody.
      if (end !== undefined) await until({ for: 'end', end });
    },
    retry: async (given = {}) => {
      checkCommandOptions(given, 'retry');
      await tell({ type: 'retry' }, given.id);
    },
    settled: async () => {
      const { result } = await until({ for: 'rest' });
      if (result === undefined) {
        throw new AgentError('session-idle', 'no turn has begun in this session; send a message first');
      }
      return finish(result);
    },
    events: (given) => {
      const { from = 'now' } = checkEventsOptions(given);
      return liveEvents(watch, { from, isOne: false });
    },
    stream: () => liveEvents(watch, { from: 'turn', isOne: true }),
    status: async () => (await view())?.summary.status ?? 'idle',
    pending: async () => (await view())?.pending ?? [],
    messages: async () => (await read())?.messages ?? [],
    toJSON: async () => {
      const document = await read();
      if (document !== undefined) return document;
      throw new AgentError('unknown-session', `the engine has no session ${JSON.stringify(sessionId)}`);
    },
  };
};
