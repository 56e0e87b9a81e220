import type { ErrorData } from '../errors.ts';
import type { Usage } from '../messages/usage.ts';
import type { JsonValue } from '../messages/json.ts';
import type { ToolOutput } from '../messages/message.ts';

/** Which tool a call means. `toolKey` tells one that was added while the turn ran from one of the same name before. */
export interface ToolRef {
  tool: string;
  toolKey?: string;
}

/** One call of the open round. `input` is what the model gave: an object, or raw text that was not one. */
export interface CallSpec extends ToolRef {
  /** Ours, unique in the session; `call_<round>_<index>`. */
  callId: string;
  input: unknown;
  index: number;
  count: number;
  iteration: number;
}

/** How a call ended. Only `failed` and `timed-out` count as errors of the round. */
export type CallStatus = 'ok' | 'failed' | 'rejected' | 'cancelled' | 'stopped' | 'timed-out' | 'outcome-unknown';

export interface CallResult {
  status: CallStatus;
  /** What the model reads. */
  output: ToolOutput;
  /** The whole error, for people; the model sees `output`. */
  error?: ErrorData;
  /** The arguments that ran, where a human edited them. */
  edited?: JsonValue;
  /** The tool asked that the turn ends after this round. */
  endTurn?: boolean;
  /** How the tool changed the list of tools for the next model call. */
  toolChanges?: ToolChange[];
  /** Of an agent inside the call. */
  usage?: Usage;
  /** Who gave this result, where a human or the application did. */
  by?: string;
}

/** Where a call is, as its round sees it. */
export type CallPhase =
  | 'validating'
  | 'awaiting-decision'
  | 'queued'
  | 'running'
  | 'awaiting-result'
  /** An agent inside the call waits for people. */
  | 'awaiting-agent'
  | 'settled';

/** A call that waits for somebody outside. */
export interface PendingCall {
  callId: string;
  /** The calls above it, where an agent is a tool of an agent; empty at the root. */
  path: string[];
  tool: string;
  /** Exactly what will run when it is approved. */
  input: unknown;
  needs: 'approval' | 'result';
  /** Of `input`; a decision that carries it is refused when the arguments are others. */
  inputHash: string;
  reason?: string;
  /** ms since 1970. */
  expiresAt?: number;
  /** Why the last edit was not taken. */
  refusedEdit?: string;
}

/** What an agent inside a call says of itself. */
export interface NestedState {
  pending: PendingCall[];
  /** Calls whose edited arguments are being checked. */
  checking: string[];
  /** Nothing in it works: it waits for people alone. */
  isWaiting: boolean;
}

/** What a waiting call needs, and from whom. `input` stands here only where it differs from what the model asked. */
export interface CallNeeds {
  needs: 'approval' | 'result';
  input?: unknown;
  inputHash: string;
  reason?: string;
  /** ms since 1970. */
  expiresAt?: number;
  /** Why the last edit was not taken; the call still waits. */
  refusedEdit?: string;
}

/** A change to the tools of a turn: one is added or replaced, or taken away; `*` takes all away. */
export interface ToolChange {
  name: string;
  /** Absent: the name is taken away. */
  toolKey?: string;
}

/** The key of a name that was taken away: no tool has it. */
export const noTool = '-';
/** The key of a name that was added without a tool of its own: the agent's own tool of that name. */
export const ownTool = '';

/** The key of a tool that a context provider gave to a turn: the same when it is asked again after a restore. */
export const providedKey = (sessionId: string, turn: number, name: string): string =>
  `context:${turn}:${name}:${sessionId}`;
export const isProvided = ({ toolKey }: Pick<ToolRef, 'toolKey'>): boolean => toolKey?.startsWith('context:') === true;

/** What a name means after the changes. */
export const refOf = (tool: string, changes: readonly ToolChange[]): ToolRef => {
  const last = changes.findLast(({ name }) => name === tool || name === '*');
  if (last === undefined) return { tool };
  if (last.toolKey === undefined) return { tool, toolKey: noTool };
  return last.toolKey === ownTool ? { tool } : { tool, toolKey: last.toolKey };
};

export const isError = (result: CallResult): boolean => result.status === 'failed' || result.status === 'timed-out';

export const textResult = (status: CallStatus, text: string, error?: ErrorData): CallResult => ({
  status,
  output: { type: 'error-text', value: text },
  ...(error === undefined ? {} : { error }),
});

/** A call that was stopped in time. */
export const notStarted: CallResult = textResult('stopped', 'Error: the call was stopped before it started.');

/** A call that ended while its tool ran: what the tool has done by then nobody knows. */
export const leftBehind = (status: 'stopped' | 'cancelled'): CallResult =>
  textResult(status, `Error: the call was ${status} while it ran; its outcome is unknown.`);

const rejected = 'Tool call invocation rejected.';

/** R27: a reviewer's reason follows the fixed sentence word for word; a blank one is none. */
export const rejection = (reason?: string): CallResult =>
  textResult('rejected', [rejected, reason?.trim() ? reason : ''].filter(Boolean).join(' '));

/** The reason of a rejection, which stands in its result alone. */
export const rejectionReason = ({ status, output }: CallResult): string | undefined =>
  status === 'rejected' && output.type === 'error-text' && output.value.startsWith(`${rejected} `)
    ? output.value.slice(rejected.length + 1)
    : undefined;
