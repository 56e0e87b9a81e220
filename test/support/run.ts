import { describe, expect } from 'vitest';
import { waitFor } from 'xstate';
import type { AgentEvent } from '../../src/sessions/agent-event.ts';
import type { Agent, RunOptions } from '../../src/sessions/agent.ts';
import type { RunResult, Session } from '../../src/sessions/session.ts';
import { TurnError } from '../../src/sessions/turn-error.ts';
import type { Message } from '../../src/messages/message.ts';
import { violations } from '../../src/messages/violations.ts';

export interface Ran {
  /** Also of a turn that failed. */
  result: RunResult;
  error: TurnError | undefined;
  session: Session;
  /** Empty in whole mode: nobody reads along. */
  events: AgentEvent[];
}

export type Run = (agent: Agent, input: string | Message | readonly Message[], options?: RunOptions) => Promise<Ran>;

/** The history is one that a provider accepts (R6). */
export const expectWhole = (messages: readonly Message[]): void => {
  expect(violations(messages)).toEqual([]);
};

/** The result when the turn rests; a session that waits is waited for. */
export const resting = async (session: Session): Promise<RunResult> => {
  await waitFor(session.actor, (snapshot) => snapshot.hasTag('settled'));
  return session.settled();
};

const end = async (agent: Agent, running: Promise<RunResult>, events: AgentEvent[]): Promise<Ran> => {
  const settled = await running.then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => {
      if (error instanceof TurnError) return { result: error.result, error };
      throw error;
    },
  );
  const session = await agent.open(settled.result.sessionId);
  expectWhole(session.messages);
  return { ...settled, session, events };
};

export const runWhole: Run = (agent, input, options) => end(agent, agent.run(input, options), []);

export const runStreamed: Run = async (agent, input, options) => {
  const stream = agent.stream(input, options);
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return end(agent, stream.result, events);
};

/** The same tests with whole and with streamed replies. */
export const inBothModes = (name: string, define: (run: Run) => void): void => {
  describe.each([
    { mode: 'whole', run: runWhole },
    { mode: 'streamed', run: runStreamed },
  ])(`${name}, $mode`, ({ run }) => {
    define(run);
  });
};
