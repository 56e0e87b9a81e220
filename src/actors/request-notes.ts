import type { ErrorData } from '../errors.ts';
import type { JsonValue } from '../messages/json.ts';
import type { Message } from '../messages/message.ts';
import type { CompactionCall } from '../models/compaction.ts';
import type { ToolChange } from '../tools/call.ts';

/** What a compaction did while a request was made. */
export interface CompactionNote {
  /** Which of its strategies went on; empty where all failed. */
  by: string[];
  /** Messages of the conversation, and how many of them are sent. */
  before: number;
  after: number;
  /** What it keeps; absent where it stays as it was. */
  memory?: JsonValue;
  errors: ErrorData[];
  calls: CompactionCall[];
}

/** What came about while a request was made and the chart has to know: plain JSON. */
export interface RequestNotes {
  /** Tools that context providers gave to the turn. */
  toolChanges?: ToolChange[];
  /** Messages of theirs that the session keeps. */
  messages?: Message[];
  compaction?: CompactionNote;
}
