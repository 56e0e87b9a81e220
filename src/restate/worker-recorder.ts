import type { AnyStateMachine, InspectionEvent } from 'xstate';
import type { Agent } from '../sessions/agent.ts';

/** What records the sessions of a worker for an inspector: `createRecorder()` of `agentchart/inspector` gives one. */
export interface WorkerRecorder {
  inspect(event: InspectionEvent): void;
  describe(agent: {
    name: string;
    machine: AnyStateMachine;
    tools: Pick<Agent['tools'][number], 'name' | 'description' | 'inputSchema'>[];
    limits: Agent['limits'];
  }): void;
  readonly log: RecordedLog;
}

/** What was recorded, and is to be read elsewhere. */
export interface RecordedLog {
  /** Names this log: another one begins anew. */
  readonly run: string;
  /** Events after that one, each as one line of JSON. */
  lines(after: number, limit: number): readonly string[];
  subscribe(listener: () => void): () => void;
}

export const describeAgent = ({ describe }: WorkerRecorder, { name, machine, tools, limits }: Agent): void =>
  describe({
    name,
    machine,
    limits,
    tools: tools.map(({ name: of, description, inputSchema }) => ({ name: of, description, inputSchema })),
  });
