import { type SessionDocument, snapshotOf } from '../documents/document.ts';
import { AgentError } from '../errors.ts';
import type { AgentMachine } from '../machines/agent.ts';
import { pendingOf } from '../machines/round.ts';
import { resultOf } from '../machines/turn-result.ts';
import type { ParseOutput } from './own-session.ts';
import { pipeline } from './load-pipeline.ts';
import { newId } from './new-id.ts';
import { restoreActor } from './restore-actor.ts';
import type { AgentEvent } from './agent-event.ts';
import { checkEventsOptions, checkForkOptions } from './check-options.ts';
import type { RunResult, Session } from './session.ts';
import { statusOf } from './session-status.ts';
import { failedTurn } from './turn-error.ts';

export interface ViewSource {
  machine: AgentMachine;
  document: SessionDocument;
  parseOutput: ParseOutput;
  fork(document: SessionDocument, id: string): Promise<Session>;
}

const noEvents = async function* (): AsyncGenerator<never> {};

/** A session to look at, as a document has it. Its actor is never started: nothing runs, and nothing can change it. */
export const viewSession = ({ machine, document, parseOutput, fork }: ViewSource): Session => {
  const snapshot = snapshotOf(machine, document, 'messages');
  const actor = restoreActor(machine, snapshot);
  const { context } = actor.getSnapshot();
  const { sessionId } = context;
  const refuse = async (): Promise<never> => {
    throw new AgentError(
      'read-only',
      `session "${sessionId}" was opened to be looked at; open it without readOnly and at`,
    );
  };
  const settled = async (): Promise<RunResult> => {
    const { output, ...result } = resultOf(context);
    if (result.outcome.type === 'failed') throw failedTurn(result, result.outcome);
    return output === undefined ? result : { ...result, output: await parseOutput(output) };
  };
  /** The turn as far as it had come. */
  const told = async function* (): AsyncGenerator<AgentEvent> {
    const isWaiting = statusOf(actor.getSnapshot().value) === 'waiting';
    const { turnSoFar } = await pipeline();
    yield* turnSoFar(actor.getSnapshot(), { paused: isWaiting ? resultOf(context) : undefined, recent: [] });
  };
  return {
    id: sessionId,
    actor,
    messages: context.messages,
    get pending() {
      return structuredClone(pendingOf(context));
    },
    status: statusOf(actor.getSnapshot().value),
    send: refuse,
    approve: refuse,
    reject: refuse,
    respond: refuse,
    cancel: refuse,
    stop: refuse,
    retry: refuse,
    settled,
    events: (given) => (checkEventsOptions(given).from === 'turn' ? told() : noEvents()),
    stream: () => {
      const result = settled();
      // Who reads the events learns of a failure by them.
      result.catch(() => undefined);
      return { result, [Symbol.asyncIterator]: told };
    },
    fork: async (given) => {
      const { at, id = newId() } = checkForkOptions(given);
      return at === undefined ? fork(document, id) : refuse();
    },
    toJSON: () => structuredClone(document),
    [Symbol.asyncDispose]: async () => undefined,
  };
};
