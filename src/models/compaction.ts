import type { JsonValue } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { Usage } from '../messages/usage.ts';
import type { ChatModel } from './chat-model.ts';

/** What a compaction is given before every model call. */
export interface CompactionRequest {
  /** The whole conversation, without what context providers give to the turn. */
  messages: readonly Message[];
  /** What the session keeps of the last run; undefined before the first. */
  memory?: JsonValue | undefined;
  /** What the provider counted at the session's last model call: everything up to the last assistant message, and that one too. */
  usage?: Usage | undefined;
  /** The provider has just refused the request as too long: its real size does not matter any more. */
  isTooLong?: boolean;
  /** The model that is about to be asked, with its middleware. */
  model: ChatModel;
  signal: AbortSignal;
}

/** A model call of the compaction's own; its tokens count for the turn. */
export interface CompactionCall {
  model: string;
  usage?: Usage;
}

export interface Compacted {
  /** What is sent. A call and its result stay together. */
  messages: readonly Message[];
  /** Kept in the session and given to the next run: plain JSON, better small. Absent: what is kept stays. */
  memory?: JsonValue;
  /** What went on in this run; empty where only earlier work was applied. */
  by: readonly string[];
  /** What failed, and left things as they were. */
  errors?: readonly unknown[];
  calls?: readonly CompactionCall[];
}

/** Makes what is sent shorter than what is stored (R49). Where it throws, the whole conversation is sent. */
export interface Compaction {
  compact(request: CompactionRequest): Compacted | Promise<Compacted>;
}
