import type { JsonObject } from '../messages/json.ts';
import type { Limits } from '../machines/turn.ts';
import type { Chart } from './chart.ts';
import type { Patch } from './patch.ts';

/** Grows when an event changes its meaning; a viewer refuses what is newer than itself. */
export const protocolVersion = 1;

/** The first line of a recording, and the first message of a stream. */
export interface Hello {
  type: 'hello';
  version: number;
  /** Names one log: events of another run have other numbers. */
  run: string;
  /** ms since 1970. */
  at: number;
}

export interface ToolInfo {
  name: string;
  description?: string | undefined;
  /** JSON schema of the arguments. */
  inputSchema: JsonObject;
}

/** What is known of an agent that sessions do not tell themselves. */
export interface AgentInfo {
  name: string;
  /** Key of its chart. */
  chart: string;
  tools: readonly ToolInfo[];
  limits?: Partial<Limits> | undefined;
}

export interface ErrorWords {
  name: string;
  message: string;
  code?: string;
}

export type ActorStatus = 'active' | 'done' | 'error' | 'stopped';

/**
 * What is told of running machines. `session` names the root actor's conversation (the agent's session id; for another machine its
 * id with a number), `actor` one actor in the whole log. States are ids of the chart's nodes, only the innermost active ones.
 */
export type Told =
  | { type: 'chart'; key: string; chart: Chart }
  | { type: 'agent'; agent: AgentInfo }
  | { type: 'session'; session: string; root: string; agent?: string | undefined }
  /** `context` of a machine; `isRestored` where it goes on from a snapshot. */
  | {
      type: 'actor';
      session: string;
      actor: string;
      parent: string | null;
      id: string;
      src: string;
      chart: string | null;
      states: string[];
      context?: unknown;
    }
  /** One microstep: also states that are left at once are seen. `edges` are the transitions that were taken. */
  | {
      type: 'step';
      session: string;
      actor: string;
      event: string;
      states: string[];
      edges: string[];
      /** What came with the event, cut to a preview. */
      data?: unknown;
    }
  /** An event that changed nothing. */
  | { type: 'ignored'; session: string; actor: string; event: string; data?: unknown }
  /** After all steps of an event. `gone` are children that the actor let go. */
  | {
      type: 'snapshot';
      session: string;
      actor: string;
      status: ActorStatus;
      patch?: Patch;
      output?: unknown;
      error?: ErrorWords;
      gone?: string[];
    }
  | {
      type: 'delta';
      session: string;
      kind: 'text' | 'reasoning' | 'tool-input' | 'progress';
      text: string;
      /** Of a progress. */
      callId?: string;
      tool?: string;
      /** Tells parallel calls of one reply apart. */
      index?: number;
    }
  /** What a chart said (`actor.on('*')`): errors, fates of messages, decisions, usage. */
  | { type: 'said'; session: string; actor: string; what: string; data: unknown }
  /** The recorder could not tell something; the run was not touched. */
  | { type: 'failure'; where: string; message: string };

/** `seq` counts from 1 without gaps; `at` in ms since 1970. */
export type ProtocolEvent = Told & { seq: number; at: number };
export type EventOf<T extends Told['type']> = Extract<ProtocolEvent, { type: T }>;
