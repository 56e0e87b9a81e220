import type { AnyActorRef, AnyStateMachine, InspectionEvent } from 'xstate';
import type { Limits } from '../machines/turn.ts';
import type { JsonValue } from '../messages/json.ts';
import type { ToolInfo } from './protocol.ts';

/** What the inspector does with a session. A `Session` is one. */
export interface InspectedSession {
  readonly actor: AnyActorRef;
  approve(callId: string, options: { input?: JsonValue; inputHash: string; by: string }): Promise<void>;
  reject(callId: string, options: { reason?: string; inputHash: string; by: string }): Promise<void>;
  respond(callId: string, output: JsonValue, options: { inputHash: string; by: string }): Promise<void>;
  cancel(callId: string): Promise<void>;
  stop(reason?: string): Promise<void>;
  retry(): Promise<void>;
}

/**
 * An agent whose sessions can be decided on in the inspector. What `createAgent` gives is one. Edits are checked against the schemas of its
 * `tools`, its `limits` are the bounds of the gauges.
 */
export interface InspectedAgent {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly tools?: readonly ToolInfo[];
  readonly limits?: Partial<Limits>;
  /** With `at` as it was at that revision of its store, only to look at. */
  open(id: string, options: { inspect: (event: InspectionEvent) => void } | { at: number }): Promise<InspectedSession>;
}
